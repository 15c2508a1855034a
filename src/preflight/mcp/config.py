"""Which servers stand behind the proxy: from a command, an address, or a client's `mcpServers` file."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Final

import msgspec

from preflight.errors import InvalidInput
from preflight.mcp.catalogue import check_name
from preflight.mcp.process import started
from preflight.mcp.sdk import Streams
from preflight.mcp.upstream import Transport

_INHERITED: Final = (
    "HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "APPDATA", "HOMEDRIVE",
    "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME",
    "USERPROFILE",
)  # fmt: skip
"""What a server from a file gets of this program's environment, besides what the file declares."""
_KINDS: Final = frozenset({"stdio", "local", "http", "streamable-http", "streamable_http", "streamablehttp"})
"""What clients call the transports that are spoken here."""
_OURS: Final = ("PREFLIGHT_", "VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH")
"""What no server gets: our own keys and settings, and the Python environment that is ours."""


_log = logging.getLogger("preflight.mcp")


class ServerConfig(msgspec.Struct, frozen=True, kw_only=True):
    """One server: a `command`, or a `url` with `headers`. `name` is the one that rules know it by."""

    name: str
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    folder: str | None = None
    url: str = ""
    headers: Mapping[str, str] = {}

    def transport(self) -> Transport:
        """Return what connects to it."""
        if self.url:
            from preflight.mcp.address import connected  # noqa: PLC0415  an HTTP client only where one is needed

            return lambda: connected(self.url, self.headers)
        return self._start

    def _start(self) -> AbstractAsyncContextManager[Streams]:
        return started(self.command, self.environment, self.folder)


def of_command(name: str, command: tuple[str, ...], environment: Mapping[str, str] = os.environ) -> ServerConfig:
    """Return the server that a command starts; it gets the environment that the client meant for it."""
    kept = {key: value for key, value in environment.items() if not key.startswith(_OURS)}
    return ServerConfig(name=name, command=command, environment=kept)


def of_file(path: Path, environment: Mapping[str, str] = os.environ) -> tuple[ServerConfig, ...]:
    """Read the servers of an `mcpServers` file; raises InvalidInput saying where it is wrong."""
    try:
        given = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_distinct)
    except (OSError, ValueError) as fault:
        raise InvalidInput(str(path), f"cannot be read: {fault}", "name a JSON file with `mcpServers`") from None
    servers = given.get("mcpServers") if isinstance(given, dict) else None
    if not isinstance(servers, dict) or not servers:
        raise InvalidInput(str(path), "it declares no `mcpServers`", "map names to `{command, args, env}` or `{url}`")
    for name in servers:
        _check_name(f"{path}: mcpServers/{name}", name, alone=len(servers) == 1)
    shared = {key: environment[key] for key in _INHERITED if key in environment}
    off = {name: entry for name, entry in servers.items() if isinstance(entry, dict) and entry.get("disabled") is True}
    for name in off:
        _log.warning("`%s` is disabled in %s, so it is not started", name, path)
    if len(off) == len(servers):
        raise InvalidInput(str(path), "every server in it is disabled", "take `disabled` away where one is wanted")
    return tuple(
        _server(f"{path}: mcpServers/{name}", name, entry, shared) for name, entry in servers.items() if name not in off
    )


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, _ in pairs if sum(key == other for other, _ in pairs) > 1)
        message = f"`{twice}` stands twice in one object"
        raise ValueError(message)
    return found


def _check_name(where: str, name: str, *, alone: bool) -> None:
    if not name:
        raise InvalidInput(where, "a server without a name", "name it as the rules do")
    if not alone:
        check_name(where, name)


def _server(where: str, name: str, entry: object, shared: Mapping[str, str]) -> ServerConfig:
    if not isinstance(entry, dict):
        raise InvalidInput(where, "not an object", "write `{command, args, env}` or `{url, headers}`")
    _check_switches(where, entry)
    url, command = entry.get("url"), entry.get("command")
    if isinstance(url, str) and url:
        return ServerConfig(name=name, url=url, headers=_texts(where, entry, "headers"))
    arguments = entry.get("args", [])
    if not isinstance(command, str) or not command or not _all_texts(arguments):
        raise InvalidInput(where, "neither `command` with `args` nor `url`", "write one of them")
    folder = entry.get("cwd")
    return ServerConfig(
        name=name, command=(command, *arguments), environment={**shared, **_texts(where, entry, "env")},
        folder=folder if isinstance(folder, str) else None,
    )  # fmt: skip


def _check_switches(where: str, entry: dict[str, Any]) -> None:
    """Refuse a transport that is not spoken, and a `disabled` that is neither true nor false: it may be meant so."""
    if type(entry.get("disabled", False)) is not bool:
        raise InvalidInput(f"{where}/disabled", "neither true nor false", "write one of them")
    kind = entry.get("type")
    if kind is not None and (not isinstance(kind, str) or kind.lower() not in _KINDS):
        what = f"the transport `{kind}` is not spoken here"
        raise InvalidInput(f"{where}/type", what, "use `stdio` with `command`, or `http` with `url` (streamable HTTP)")


def _texts(where: str, entry: dict[str, Any], key: str) -> Mapping[str, str]:
    given = entry.get(key, {})
    if not isinstance(given, dict) or not _all_texts(list(given.values())):
        raise InvalidInput(f"{where}/{key}", "not an object of texts")
    return given


def _all_texts(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)
