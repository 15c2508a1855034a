"""A private copy of one `inputSchema`: plain JSON, its dialect, its local references (R-34)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from urllib.parse import unquote

import jsonschema_rs
import msgspec

from preflight.core.schema.fragments import from_fragment
from preflight.core.schema.keywords import DATA, Raw, subschemas
from preflight.core.schema.refusal import refuse
from preflight.core.schema.shape import ARRAYS, OBJECTS
from preflight.limits import Limits
from preflight.model.pointer import join

_DIALECTS: dict[str, tuple[type[jsonschema_rs.Validator], bool]] = {
    "json-schema.org/draft/2020-12/schema": (jsonschema_rs.Draft202012Validator, False),
    "json-schema.org/draft/2019-09/schema": (jsonschema_rs.Draft201909Validator, False),
    "json-schema.org/draft-07/schema": (jsonschema_rs.Draft7Validator, True),
    "json-schema.org/draft-06/schema": (jsonschema_rs.Draft6Validator, True),
}
_DEFAULT = "json-schema.org/draft/2020-12/schema"


class Document:
    """The schema of one tool, copied so that nobody else can change it.

    `legacy` is true for draft-07 and older, where keywords beside `$ref` are ignored. `pointers` names
    each visited subschema by its identity; the copy keeps them alive, so identities are stable.
    """

    __slots__ = ("_anchors", "_resolved", "_schemas", "legacy", "limits", "pointers", "root", "validator")

    def __init__(self, input_schema: object, limits: Limits) -> None:
        """Copy and check `input_schema`; a `Refusal` says what is wrong with it."""
        if not isinstance(input_schema, OBJECTS):
            refuse("", "`inputSchema` must be a JSON object; declare one, an empty `required` is fine")
        self.limits = limits
        self.root: dict[str, object] = _copy_root(input_schema, limits)
        self.validator, self.legacy = _dialect(self.root)
        self.pointers: dict[int, str] = {}
        self._anchors: dict[str, list[tuple[Raw, str]]] | None = None
        self._resolved: dict[str, tuple[Raw, str]] = {}
        self._schemas: set[int] = set()
        self._accept(self.root, "")

    def resolve(self, reference: str, at: str) -> tuple[Raw, str]:
        """The subschema a local `$ref` names, and its pointer; any other reference is refused, never fetched."""
        if reference not in self._resolved:
            self._resolved[reference] = self._resolve(reference, at)
        return self._resolved[reference]

    def _resolve(self, reference: str, at: str) -> tuple[Raw, str]:
        if not reference.startswith("#"):
            refuse(at, "`$ref` is not local and is never fetched; put the definition into the schema")
        if reference == "#" or reference.startswith("#/"):
            found, place = self._by_pointer(from_fragment(reference), at)
        else:
            found, place = self._by_anchor(unquote(reference[1:]), at)
        if isinstance(found, dict) and id(found) not in self._schemas:
            self._accept(found, place)
        return found, place

    def _accept(self, schema: dict[str, object], at: str) -> None:
        """Check a schema's keywords against its dialect, once for it and all schemas inside it.

        Its place says nothing: a reference may lead into data, or below a keyword the dialect does not know.
        """
        _check_keywords(schema, self.root.get("$schema"), at)
        pending: list[Raw] = [schema]
        while pending:
            raw = pending.pop()
            if isinstance(raw, dict) and id(raw) not in self._schemas:
                self._schemas.add(id(raw))
                pending.extend(sub.raw for sub in subschemas(raw))
                pending.extend(_definitions(raw, "definitions" if self.legacy else "$defs"))

    def _by_anchor(self, name: str, at: str) -> tuple[Raw, str]:
        if self._anchors is None:
            self._anchors = _anchors(self.root, self._schemas, legacy=self.legacy)
        found = self._anchors.get(name, [])
        if len(found) != 1:
            refuse(at, "`$ref` names an anchor that is not declared exactly once")
        return found[0]

    def _by_pointer(self, tokens: list[str], at: str) -> tuple[Raw, str]:
        found: object = self.root
        for token in tokens:
            if isinstance(found, dict) and token in found:
                found = found[token]
            elif isinstance(found, list) and token.isascii() and token.isdigit() and int(token) < len(found):
                found = found[int(token)]
            else:
                refuse(at, "`$ref` names a place that the schema does not have")
        if not isinstance(found, dict | bool):
            refuse(at, "`$ref` names something that is not a schema")
        return found, join("", *tokens)


class _Copier:
    """Copies one JSON value within the limits; anything that is not strict JSON is refused where it stands."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.size = 0

    def copy(self, value: object, at: str, depth: int, *, data: bool) -> object:
        if isinstance(value, str):
            return self._text(value, at)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            return self._number(value, at)
        if depth >= self.limits.json_depth:
            refuse(at, f"nested deeper than {self.limits.json_depth}")
        if isinstance(value, OBJECTS):
            return self.copy_object(value, at, depth, data=data)
        if isinstance(value, ARRAYS):
            self._grow(len(value), at)
            return [self.copy(item, f"{at}/{n}", depth + 1, data=data) for n, item in enumerate(value)]
        return refuse(at, "not a JSON value")

    def copy_object(self, value: Mapping[object, object], at: str, depth: int, *, data: bool) -> dict[str, object]:
        copied: dict[str, object] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                refuse(at, "a key that is not a string")
            place = join(at, key)
            inner = self.copy(item, place, depth + 1, data=data or key in DATA)
            if key == "required" and not data and isinstance(inner, list):
                inner = _required(inner, place)
            copied[self._text(key, at)] = inner
        return copied

    def _text(self, value: str, at: str) -> str:
        self._grow(len(value), at)
        if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
            refuse(at, "a string with a lone surrogate")
        return str(value)

    def _number(self, value: int | float, at: str) -> int | float:  # noqa: PYI041 - exact integers matter here
        if isinstance(value, float):
            if not math.isfinite(value):
                refuse(at, "a number that is not finite")
        elif abs(value) >= 10**self.limits.number_digits:
            refuse(at, f"a number of more than {self.limits.number_digits} digits")
        return value

    def _grow(self, amount: int, at: str) -> None:
        self.size += amount + 1
        if self.size > self.limits.schema_bytes:
            refuse(at, f"larger than {self.limits.schema_bytes} bytes")


def _required(names: list[object], at: str) -> list[object]:
    if not all(isinstance(name, str) for name in names):
        refuse(at, "`required` must be a list of property names")
    return list(dict.fromkeys(names))


def _copy_root(input_schema: Mapping[object, object], limits: Limits) -> dict[str, object]:
    copied = _Copier(limits).copy_object(input_schema, "", 0, data=False)
    if len(msgspec.json.encode(copied)) > limits.schema_bytes:
        refuse("", f"larger than {limits.schema_bytes} bytes")
    # References are local only, so the root's own address changes nothing; without it no resolver sees one.
    if not str(copied.get("$id", "#")).startswith("#"):
        del copied["$id"]
    return copied


def _dialect(root: dict[str, object]) -> tuple[type[jsonschema_rs.Validator], bool]:
    declared = root.get("$schema", "https://" + _DEFAULT)
    name = declared.removesuffix("#").split("://", 1)[-1] if isinstance(declared, str) else ""
    if name not in _DIALECTS:
        refuse("/$schema", "an unknown dialect; 2020-12, 2019-09, draft-07 and draft-06 are read")
    if "$schema" in root:
        scheme, end = ("http", "#") if _DIALECTS[name][1] else ("https", "")
        root["$schema"] = f"{scheme}://{name}{end}"
    return _DIALECTS[name]


def _definitions(raw: dict[str, object], keyword: str) -> list[Raw]:
    held = raw.get(keyword)
    return [each for each in held.values() if isinstance(each, dict | bool)] if isinstance(held, dict) else []


def _check_keywords(schema: dict[str, object], dialect: object, at: str) -> None:
    """Every keyword has the form its dialect demands (unknown `type` words, bad patterns, ...)."""
    try:
        jsonschema_rs.meta.validate(schema if dialect is None else {**schema, "$schema": dialect})
    except jsonschema_rs.ValidationError as error:
        where = join(at, *error.instance_path)
        keyword = next((token for token in reversed(error.instance_path) if isinstance(token, str)), "schema")
        refuse(where, f"not a valid JSON Schema: `{keyword}` has a form the dialect does not know")


def _anchors(root: dict[str, object], schemas: set[int], *, legacy: bool) -> dict[str, list[tuple[Raw, str]]]:
    """The objects that declare each anchor, with their pointers; only those that are `schemas`, not data."""
    found: dict[str, list[tuple[Raw, str]]] = {}
    stack: list[tuple[object, str]] = [(root, "")]
    while stack:
        value, at = stack.pop()
        if isinstance(value, dict):
            for name in _own_anchors(value, legacy=legacy) if id(value) in schemas else ():
                found.setdefault(name, []).append((value, at))
            stack.extend((item, join(at, key)) for key, item in value.items())
        elif isinstance(value, list):
            stack.extend((item, join(at, number)) for number, item in enumerate(value))
    return found


def _own_anchors(value: dict[str, object], *, legacy: bool) -> set[str]:
    """The anchors one object declares: `$id: "#name"` up to draft-07, `$anchor` since."""
    if legacy:
        identity = value.get("$id")
        return {identity[1:]} if isinstance(identity, str) and identity.startswith("#") else set()
    return {name for key in ("$anchor", "$dynamicAnchor") if isinstance(name := value.get(key), str)}


__all__ = ["Document"]
