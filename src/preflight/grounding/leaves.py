"""A target's value leaf by leaf, and the evidence of its leaves put together again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from preflight.grounding.field import Field, compile_field
from preflight.grounding.findings import Target
from preflight.grounding.tokens import identifier_shaped
from preflight.model.evidence import Evidence
from preflight.model.pointer import escape

KEY = "#key"
"""What stands behind a pointer that names the key of a member and not its value."""
_ANY_KEY: Mapping[str, object] = {"type": "string"}
_BRANCHES = ("allOf", "anyOf", "oneOf")
_MAX_DEPTH = 16
_PACKED = (",", ";", "|")
_MAX_PACKED, _MAX_ITEMS = 2000, 100
_LIST = re.compile(r"\blists?\b|separated|\bmultiple\b|\bdelimited\b", re.IGNORECASE)


class Leaf(msgspec.Struct, frozen=True):
    """One scalar of a target: `pointer` says where inside the value it stands.

    A key that no schema declares is one, too: `{"9988": 500}` names an account, and the model wrote it.
    """

    target: str
    pointer: str
    value: object
    field: Field


def leaves(target: Target) -> list[Leaf] | None:
    """The scalars of the claim, in order; None when a part is empty, null or too deep to be grounded."""
    found: list[Leaf] = []
    return found if _walk(target, target.claim, target.schema, target.name, "", found, 0) else None


def _walk(
    target: Target, value: object, schema: Mapping[str, object], name: str, pointer: str, found: list[Leaf], depth: int
) -> bool:
    if value is None or value == "" or depth > _MAX_DEPTH:
        return False
    if not isinstance(value, Mapping | list | tuple):
        found.append(Leaf(target.name, pointer, value, compile_field(name, schema, target.role, target.hints)))
        return True
    if isinstance(value, Mapping):
        named = {leaf.value for leaf in found if leaf.pointer.endswith(KEY)}  # said once, a name may stand in each row
        keys = (key for key in value if key not in named and not _declares(schema, key))
        found += [_key_leaf(target, key, schema, name, pointer) for key in keys]
    inner = list(_children(value, schema, name))
    return bool(inner) and all(
        _walk(target, child, below, label, f"{pointer}/{key}", found, depth + 1) for key, child, below, label in inner
    )


def _key_leaf(target: Target, key: object, schema: Mapping[str, object], name: str, pointer: str) -> Leaf:
    named = schema.get("propertyNames")
    field = compile_field(name, named if isinstance(named, Mapping) else _ANY_KEY, "object", target.hints)
    return Leaf(target.name, f"{pointer}/{escape(str(key))}{KEY}", key, field)


def _declares(schema: Mapping[str, object], key: object, depth: int = 0) -> bool:
    """Whether a schema names this member, itself or in one of its branches."""
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and key in properties:
        return True
    inner = [branch for word in _BRANCHES if isinstance(listed := schema.get(word), list) for branch in listed]
    return depth < _MAX_DEPTH and any(isinstance(each, Mapping) and _declares(each, key, depth + 1) for each in inner)


def _children(
    value: Mapping[str, object] | Sequence[object], schema: Mapping[str, object], name: str
) -> Iterator[tuple[str, object, Mapping[str, object], str]]:
    if isinstance(value, Mapping):
        properties, rest = schema.get("properties"), schema.get("additionalProperties")
        for key, child in value.items():
            below = properties.get(key, rest) if isinstance(properties, Mapping) else rest
            yield escape(key), child, below if isinstance(below, Mapping) else {}, str(key)
        return
    items = schema.get("items")
    below = dict(items) if isinstance(items, Mapping) else {}
    if "description" not in below and isinstance(schema.get("description"), str):
        below["description"] = schema["description"]
    for at, child in enumerate(value):
        yield str(at), child, below, name


def packed(leaf: Leaf) -> list[Leaf] | None:
    """The items of a list written as one string (`"2,3,4"`), when the field wants one; else None."""
    items = split_items(leaf.value)
    if items is None or not (_LIST.search(leaf.field.description) or all(map(identifier_shaped, items))):
        return None
    return [Leaf(leaf.target, f"{leaf.pointer}#{at}", item, leaf.field) for at, item in enumerate(items)]


def split_items(value: object) -> list[str] | None:
    """The items between the separators of a string; None when it has none."""
    if not isinstance(value, str) or len(value) > _MAX_PACKED:
        return None
    for separator in _PACKED:
        items = [item.strip() for item in value.split(separator)]
        if 1 < len(items) <= _MAX_ITEMS and all(items):
            return items
    return None


def together(found: Sequence[tuple[str, Evidence]], canonical: str, normaliser: str) -> Evidence:
    """Evidence of a whole value from that of its leaves; the outer span covers the parts in the first's segment."""
    parts = tuple(msgspec.structs.replace(evidence, pointer=pointer) for pointer, evidence in found)
    if len(parts) == 1 and not parts[0].pointer:
        return parts[0]
    first = parts[0]
    here = [part for part in parts if part.segment_index == first.segment_index]
    grades = {part.grade for part in parts}
    return Evidence(
        segment_index=first.segment_index,
        start=min(part.start for part in here),
        end=max(part.end for part in here),
        matched_text="",
        normaliser=normaliser,
        canonical=canonical,
        grade="derived" if "derived" in grades else "stated",
        flags=tuple(dict.fromkeys(flag for part in parts for flag in part.flags)),
        parts=parts,
    )
