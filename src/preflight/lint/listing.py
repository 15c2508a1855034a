"""Tool lists: saved ones in the forms that are about, and live ones through whatever asks the server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from preflight.errors import InvalidInput
from preflight.limits import DEFAULT, Limits
from preflight.lint.finding import Finding
from preflight.lint.quoting import name
from preflight.model.json_value import is_object
from preflight.model.tool import Tool

_FORMS = 'save the answer of `tools/list`: a list of tools, `{"tools": [...]}`, or the whole JSON-RPC response'
_BYTES = 64_000_000  # of one saved list; the largest of 20 measured ones has 2.5 MB


class Listing(msgspec.Struct, frozen=True, gc=False):
    """What one server listed: the tools, each with the object it was made of, and what was no tool."""

    server: str
    pairs: tuple[tuple[Tool, object], ...]
    refused: tuple[Finding, ...] = ()

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The usable tools, in the server's order."""
        return tuple(tool for tool, _ in self.pairs)


def listing_of(declared: object, server: str = "", limits: Limits = DEFAULT) -> Listing:
    """Read a decoded tool list: a list of tools, `{"tools": [...]}` or a JSON-RPC response around it.

    The server's name is `server`, else what the list says under `server` or `serverInfo.name`. An entry that
    is no usable tool becomes a finding (PF001). Raises InvalidInput when it is no tool list at all.
    """
    server = server or _named(declared)
    pairs: list[tuple[Tool, object]] = []
    refused: list[Finding] = []
    for number, entry in enumerate(_entries(declared)):
        try:
            pairs.append((Tool.from_mcp(entry, server=server, limits=limits), entry))
        except InvalidInput as fault:
            refused.append(_refusal(server, number, entry, fault))
    return Listing(server, tuple(pairs), tuple(refused))


def read_listing(path: str | Path, server: str = "", limits: Limits = DEFAULT) -> Listing:
    """Read a saved tool list. Its name without ending is the server's where nothing else names it.

    Raises InvalidInput naming the file when it cannot be read or is no tool list.
    """
    path = Path(path)
    try:
        body = path.read_bytes()
    except OSError as fault:
        raise InvalidInput(str(path), f"cannot be read: {fault.strerror}", "give a saved tool list") from fault
    if len(body) > _BYTES:
        raise InvalidInput(str(path), f"larger than {_BYTES} bytes", "save one server's list in a file")
    try:
        declared = msgspec.json.decode(body)
        return listing_of(declared, server or _named(declared) or path.stem, limits)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as fault:
        raise InvalidInput(str(path), f"is no JSON: {fault}", _FORMS) from fault
    except InvalidInput as fault:
        raise InvalidInput(str(path), fault.what, _FORMS) from fault


def ask_listing(list_tools: Callable[[], Sequence[object]], server: str, limits: Limits = DEFAULT) -> Listing:
    """Read the tools of a running server; `list_tools` asks it, as `StdioServer.tools` does."""
    return listing_of(list(list_tools()), server, limits)


def _entries(declared: object) -> Sequence[object]:
    if isinstance(declared, list | tuple):
        return declared
    if is_object(declared):
        if is_object(declared.get("error")):
            raise InvalidInput("error", "the response is an error, not a tool list", _FORMS)
        for key in ("result", "tools"):
            if key in declared and declared[key] is not None:
                return _entries(declared[key])
    raise InvalidInput("tools", "there is no list of tools", _FORMS)


def _named(declared: object) -> str:
    """The server's name as a list gives it, at the top or in the result."""
    if not is_object(declared):
        return ""
    info = declared.get("serverInfo")
    candidates = (declared.get("server"), info.get("name") if is_object(info) else None)
    for each in candidates:
        if isinstance(each, str) and each:
            return each
    return _named(declared.get("result"))


def _refusal(server: str, number: int, entry: object, fault: InvalidInput) -> Finding:
    named = entry.get("name") if isinstance(entry, Mapping) else None
    tool = named if isinstance(named, str) else ""
    shown = f" ({name(tool)})" if tool else ""
    message = f"entry {number}{shown} is no usable tool: `{fault.where}`: {fault.what}"
    return Finding(
        "PF001", "error", server, tool, f"/tools/{number}", message, "repair or remove it; it cannot be called"
    )


__all__ = ["Listing", "ask_listing", "listing_of", "read_listing"]
