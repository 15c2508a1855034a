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

_MAX_DEPTH = 16
_PACKED = (",", ";", "|")
_MAX_PACKED, _MAX_ITEMS = 2000, 100
_LIST = re.compile(r"\blists?\b|separated|\bmultiple\b|\bdelimited\b", re.IGNORECASE)


class Leaf(msgspec.Struct, frozen=True):
    """One scalar of a target: `pointer` says where inside the value it stands."""

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
    inner = list(_children(value, schema, name))
    return bool(inner) and all(
        _walk(target, child, below, label, f"{pointer}/{key}", found, depth + 1) for key, child, below, label in inner
    )


def _children(
    value: Mapping[str, object] | Sequence[object], schema: Mapping[str, object], name: str
) -> Iterator[tuple[str, object, Mapping[str, object], str]]:
    if isinstance(value, Mapping):
        properties = schema.get("properties")
        for key, child in value.items():
            below = properties.get(key) if isinstance(properties, Mapping) else None
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
