"""One mapping that shows everything a slot's schema says: references and `allOf` resolved (for R-50, R-90)."""

from __future__ import annotations

from typing import cast

from preflight.core.schema.keywords import Raw, subschemas
from preflight.core.schema.view import Views
from preflight.model.json_value import same_value

_STRUCTURE = frozenset("$ref allOf $defs definitions $schema $id $anchor $dynamicAnchor $comment".split())
_ASSERTIONS = frozenset(
    """const format pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength
    minItems maxItems uniqueItems contains minContains maxContains items prefixItems additionalItems unevaluatedItems
    required properties patternProperties additionalProperties propertyNames unevaluatedProperties minProperties
    maxProperties anyOf oneOf not if then else dependentRequired dependentSchemas dependencies""".split()
)


def effective(views: Views, raws: tuple[Raw, ...]) -> dict[str, object]:
    """The merged mapping of `raws`.

    The outermost title, description and other annotation wins. Types and enums are intersected, an
    assertion that stands twice with different values keeps the second under `allOf`. Where a schema
    holds itself, the inner one is shown as `{}`: for showing and grounding, validation uses the real one.
    Constants, defaults and examples stay in it to be shown; nothing here reads a value from them (R-37).
    """
    return _merge(views, raws, frozenset(), views.limits.json_depth)


def _merge(views: Views, raws: tuple[Raw, ...], above: frozenset[int], levels: int) -> dict[str, object]:
    parts = views.parts(raws)
    path = above.union(map(id, parts))
    if levels < 0 or any(id(part) in above for part in parts):  # no value is nested deeper than `levels`
        return {}
    merged: dict[str, object] = {}
    for part in parts:
        shown = _resolve_inner(views, part, path, levels)
        for key, value in shown.items():
            if key not in _STRUCTURE:
                _add(merged, key, value)
    return merged


def _resolve_inner(views: Views, part: dict[str, object], path: frozenset[int], levels: int) -> dict[str, object]:
    """`part` with the schemas inside it resolved."""
    shown = dict(part)
    for sub in subschemas(part):
        key = cast("str", sub.tokens[0])
        if key in _STRUCTURE:
            continue
        inner = sub.raw if isinstance(sub.raw, bool) else _merge(views, (sub.raw,), path, levels - 1)
        if len(sub.tokens) == 1:
            shown[key] = inner
            continue
        if shown[key] is part[key]:
            held = part[key]
            shown[key] = list(held) if isinstance(held, list) else dict(cast("dict[str, object]", held))
        cast("dict[str | int, object]", shown[key])[sub.tokens[1]] = inner
    return shown


def _add(merged: dict[str, object], key: str, value: object) -> None:
    if key not in merged:
        merged[key] = value
    elif key == "type":
        merged[key] = _common_types(merged[key], value)
    elif key == "enum":
        held, listed = cast("list[object]", merged[key]), cast("list[object]", value)
        merged[key] = [item for item in held if any(same_value(item, other) for other in listed)]
    elif key in _ASSERTIONS and not same_value(merged[key], value):
        cast("list[object]", merged.setdefault("allOf", [])).append({key: value})


def _common_types(one: object, other: object) -> object:
    """The words both admit, `integer` being a kind of `number`; one word stands alone."""
    left = cast("list[str]", one if isinstance(one, list) else [one])
    right = cast("list[str]", other if isinstance(other, list) else [other])
    both = [word for word in left if word in right or (word == "integer" and "number" in right)]
    both += [word for word in right if word == "integer" and "number" in left and word not in both]
    return both[0] if len(both) == 1 else both


__all__ = ["effective"]
