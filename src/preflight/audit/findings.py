"""What a verification found, and where."""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal[
    "edited",
    "missing",
    "reordered",
    "broken_chain",
    "mislabelled",
    "forged",
    "unsigned",
    "unknown_key",
    "revoked_key",
    "unreadable",
    "impossible_step",
    "body_missing",
    "bad_tombstone",
    "other_log",
    "truncated",
    "not_the_heads_log",
]


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One sign of tampering. `seq` is the place in the log, `last` the end of a range of places, both inclusive."""

    kind: Kind
    what: str
    seq: int | None = None
    last: int | None = None
    record_id: str | None = None
    action_key: str | None = None


class Report(msgspec.Struct, frozen=True):
    """The outcome of a verification.

    `records` were read, of which `vouched` stand under a head that was signed before and `removed` were taken
    out by retention, with a signed tombstone. `root` is the hex root of the tree over all of them. At most
    `MOST` findings are listed; `more` counts the others.
    """

    records: int
    root: str
    findings: tuple[Finding, ...] = ()
    more: int = 0
    vouched: int = 0
    removed: int = 0

    @property
    def intact(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


MOST = 1_000
"""Findings that are listed: a log without its keys would list every record."""
