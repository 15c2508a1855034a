"""Measurements: a value read by calling a declared MCP read tool (R-15, R-102)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec
from msgspec import UNSET

from preflight.core.pointer import descend
from preflight.errors import HookError
from preflight.model.json_value import freeze

ReadTool = Callable[[str, str, dict[str, object]], object]
"""Calls a read tool: server, tool, arguments; returns the MCP result."""


class Measure(msgspec.Struct, frozen=True):
    """How a value is measured: which read tool is called with what, and where the value stands in the result.

    `pointer` is a JSON Pointer into the result's structured content, or into its text read as JSON;
    `arguments` are fixed by the adopter.
    """

    server: str
    tool: str
    pointer: str = ""
    arguments: Mapping[str, object] = MappingProxyType({})


def read(measure: Measure, call: ReadTool) -> dict[str, object]:
    """Measure once; raises HookError when the result is an error or has nothing at the pointer."""
    result = call(measure.server, measure.tool, dict(measure.arguments))
    value = descend(freeze(_content(result), measure.tool), _path(measure.pointer))
    if value is UNSET:
        message = f"`{measure.tool}` returned nothing at `{measure.pointer}`"
        raise HookError(message)
    return {"valid": True, "value": value, "by": f"{measure.server}/{measure.tool}"}


def _content(result: object) -> object:
    """Return what an MCP result says, as JSON: its structured content, else its only text."""
    plain = result if isinstance(result, Mapping) else _dumped(result)
    if not isinstance(plain, Mapping):
        return plain
    if plain.get("isError") is True:
        message = "the read tool returned an error"
        raise HookError(message)
    if (structured := plain.get("structuredContent")) is not None:
        return structured
    content = plain.get("content")
    if not isinstance(content, list | tuple):
        return plain
    texts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
    if len(texts) != 1 or not isinstance(texts[0], str):
        message = "the read tool returned no single text"
        raise HookError(message)
    try:
        return json.loads(texts[0])
    except ValueError:
        return texts[0]


def _dumped(result: object) -> object:
    dump = getattr(result, "model_dump", None)
    return dump(by_alias=True, mode="json") if callable(dump) else result


def _path(pointer: str) -> tuple[str | int, ...]:
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    return tuple(int(step) if step.isascii() and step.isdigit() else step for step in steps)
