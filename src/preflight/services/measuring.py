"""Measurements: one declared read of an MCP tool, a URL, a database or a Python function (R-15, R-60).

What comes back is a fact with its time and its source, or a HookError that says why there is none. Nothing
here decides anything, and nothing is remembered between runs.
"""

from __future__ import annotations

import importlib
import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Protocol
from urllib.parse import urlencode, urlsplit
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

from msgspec import UNSET

from preflight.clock import iso
from preflight.core.strict_json import parse
from preflight.errors import NO_CONNECTIONS, HookError
from preflight.limits import DEFAULT, Limits
from preflight.model.json_value import freeze, is_object, thaw
from preflight.model.pointer import descend, steps
from preflight.model.rules import MeasureRule
from preflight.ports import Clock


class Reader(Protocol):
    """What reads a measure: `Measurer`, or something that knows it already."""

    def read(self, rule: MeasureRule, known: Mapping[str, object]) -> dict[str, object]:
        """Measure once; `known` holds the confirmed arguments by slot name."""
        ...


ReadTool = Callable[[str, str, dict[str, object]], object]
"""Calls a read tool: server, tool, arguments; returns the MCP result."""


class Measurer:
    """Reads what measures declare. `read_tool` reaches the MCP servers; without it such measures fail."""

    def __init__(self, read_tool: ReadTool | None, clock: Clock, limits: Limits = DEFAULT) -> None:
        """Read with `read_tool`, and date what is read by `clock`."""
        self._read_tool = read_tool
        self._clock = clock
        self._limits = limits

    def read(self, rule: MeasureRule, known: Mapping[str, object]) -> dict[str, object]:
        """Measure once; `known` holds the confirmed arguments by slot name.

        Returns `{valid, value, observed_at, by}`. Raises HookError when nothing can be measured.
        """
        arguments = {name: _argument(value, known, rule.name) for name, value in rule.arguments.items()}
        readers = {"mcp": self._mcp, "http": self._http, "sql": _sql, "python": _python, "given": _not_given}
        reader = readers[rule.via]
        found = freeze(reader(rule, arguments), rule.name, self._limits)
        value = descend(found, steps(rule.pointer))
        if value is UNSET:
            message = f"measure `{rule.name}` found nothing at `{rule.pointer}`"
            raise HookError(message)
        return {"valid": True, "value": value, "observed_at": iso(self._clock.now()), "by": _source(rule)}

    def _mcp(self, rule: MeasureRule, arguments: dict[str, object]) -> object:
        if self._read_tool is None:
            told = f"measure `{rule.name}` reads the server `{rule.server}`, and no connection was given"
            message = f"{told}; {NO_CONNECTIONS}"
            raise HookError(message)
        return content_of(self._read_tool(rule.server, rule.tool, arguments))

    def _http(self, rule: MeasureRule, arguments: dict[str, object]) -> object:
        if urlsplit(rule.url).scheme not in ("http", "https"):
            message = f"measure `{rule.name}` has a URL that is not http: `{rule.url}`"
            raise HookError(message)
        query = urlencode({name: _text(value) for name, value in arguments.items()})
        url = rule.url + ("&" if "?" in rule.url else "?") * bool(query) + query
        request = HttpRequest(url, headers={"Accept": "application/json"})  # noqa: S310  the scheme was checked
        with urlopen(request, timeout=rule.timeout_seconds) as answer:  # noqa: S310  the scheme was checked
            body = answer.read(self._limits.hook_result_bytes + 1)
        if len(body) > self._limits.hook_result_bytes:
            message = f"measure `{rule.name}` got more than {self._limits.hook_result_bytes} bytes"
            raise HookError(message)
        return parse(body, rule.name, self._limits)


def content_of(result: object) -> object:
    """Return what an MCP result says, as JSON: its structured content, else its only text.

    Raises HookError for an error result, or one without a single text.
    """
    dump = getattr(result, "model_dump", None)
    plain = freeze(dump(by_alias=True, mode="json") if callable(dump) else result, "result")
    if not is_object(plain):
        return plain
    if plain.get("isError") is True:
        message = "the read tool returned an error"
        raise HookError(message)
    structured, content = plain.get("structuredContent"), plain.get("content")
    if structured is not None or not isinstance(content, tuple):
        return plain if structured is None else structured
    texts = [part.get("text") for part in content if is_object(part) and part.get("type") == "text"]
    if len(texts) != 1 or not isinstance(texts[0], str):
        message = "the read tool returned no single text"
        raise HookError(message)
    try:
        return json.loads(texts[0])
    except ValueError:
        return texts[0]


def rows_at(value: object, pointer: str) -> list[tuple[str, object]]:
    """Return the rows that stand at a pointer, each with its own pointer: the elements of a list or an object.

    A step `*` on the way takes every element, so that lists of lists are one list of rows.
    """
    found = [("", value)]
    for step in (*steps(pointer), "*"):
        if step == "*":
            found = [row for place, each in found for row in _elements(place, each)]
        else:
            found = [(f"{place}/{step}", descend(each, (step,))) for place, each in found]
    return found


def _elements(place: str, value: object) -> list[tuple[str, object]]:
    pairs = value.items() if is_object(value) else enumerate(value) if isinstance(value, tuple) else ()
    return [(f"{place}/{name}", each) for name, each in pairs]


def _argument(value: object, known: Mapping[str, object], measure: str) -> object:
    """Return what is sent for one argument: `{"slot": NAME}` takes the slot's confirmed value."""
    if not is_object(value) or value.keys() != {"slot"}:
        return thaw(value)
    name = value["slot"]
    if not isinstance(name, str) or name not in known:
        message = f"measure `{measure}` needs `{name}`, which is not confirmed"
        raise HookError(message)
    return thaw(known[name])


def _not_given(rule: MeasureRule, _arguments: dict[str, object]) -> object:
    message = f"`{rule.name}` is not in `measured_data`; the program hands it over"
    raise HookError(message)


def _sql(rule: MeasureRule, arguments: dict[str, object]) -> object:
    """Read exactly one row of an SQLite file, opened for reading only."""
    with closing(sqlite3.connect(f"file:{rule.database}?mode=ro", uri=True, timeout=rule.timeout_seconds)) as db:
        db.row_factory = sqlite3.Row
        rows = db.execute(rule.query, {name: _column(value) for name, value in arguments.items()}).fetchmany(2)
    if len(rows) != 1:
        message = f"measure `{rule.name}` found {'several rows' if rows else 'no row'}, and needs exactly one"
        raise HookError(message)
    return dict(rows[0])


def _python(rule: MeasureRule, arguments: dict[str, object]) -> object:
    module, _, function = rule.entry.partition(":")
    return getattr(importlib.import_module(module), function)(**arguments)


def _column(value: object) -> object:
    return value if isinstance(value, str | int | float) or value is None else json.dumps(value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _source(rule: MeasureRule) -> str:
    """Name what was read, for the record."""
    return {
        "mcp": f"{rule.server}/{rule.tool}",
        "http": rule.url,
        "sql": rule.database,
        "python": rule.entry,
    }[rule.via]
