"""What programs tell on standard error: foreign text is made visible, and libraries are quiet about the wire."""

from __future__ import annotations

import logging


class VisibleFormatter(logging.Formatter):
    """Writes out what cannot be seen: a log repeats what servers, tools and users said, and a terminal obeys it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of a record; those after the first are moved to the right, so that none looks like one."""
        from preflight.render.visible import visible  # noqa: PLC0415  most programs end without a record

        return "\n  ".join(map(visible, super().format(record).split("\n")))


def handler_to_stderr(form: str = "%(message)s") -> logging.Handler:
    """Return what writes log records to standard error, made visible."""
    handler = logging.StreamHandler()
    handler.setFormatter(VisibleFormatter(form))
    return handler


def make_visible() -> None:
    """Have records that no handler takes, which Python writes to standard error itself, made visible too."""
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(VisibleFormatter())


def quiet_wire() -> None:
    """Keep the MCP package from logging what it could not read: it repeats a server's bytes, and its own faults."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
