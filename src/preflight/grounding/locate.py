"""Does the text in a named span support the value? That span only; nothing is searched (R-3, R-41).

This is how a claim of a place is checked, whoever makes it: a hook, a model that may only point, or the
record itself when a decision is replayed (R-59).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType

import msgspec

from preflight.grounding.call import places_of
from preflight.grounding.field import Field, compile_field
from preflight.grounding.findings import NOTHING_RECORDED, Context, Role, Target
from preflight.grounding.leaves import KEY, leaves, packed, split_items, together
from preflight.grounding.lookup import look_up
from preflight.grounding.matching import claimed_spans, overlap
from preflight.grounding.place import Place
from preflight.grounding.quantities import unit_after
from preflight.grounding.quoting import own_words
from preflight.grounding.read_date import supports_parts
from preflight.grounding.read_number import as_decimal, canonical_number
from preflight.grounding.rules import may_derive
from preflight.grounding.spans_of_time import supports_length
from preflight.grounding.text import bounded, has_deceiving
from preflight.grounding.words import FUNCTION
from preflight.model.evidence import Evidence, Located
from preflight.model.instruction import USER, Segment
from preflight.model.pointer import tokens

_PLAIN_NUMBER = re.compile(r"[-\u2212]?[0-9]{1,40}(?:\.[0-9]{1,40})?")
_MONEY_SIGNS = "$€£¥₩₹"
_MONEY_NAMES = re.compile(r" ?(?:won|원|円|euros?|dollars?|pounds?|yen|usd|eur|gbp|krw|jpy|chf)", re.IGNORECASE)
_COUNTS = ("stated", "derived")


def support(
    segments: Sequence[Segment],
    located: Located,
    schema: Mapping[str, object],
    context: Context = NOTHING_RECORDED,
    *,
    name: str = "",
    role: Role | None = None,
    hints: Mapping[str, object] = MappingProxyType({}),
) -> Evidence | None:
    """The evidence that the named span holds the value, or None when it does not.

    The place must be a place (whole numbers, inside a segment whose trust is `user`), the span must
    hold whole tokens, and the words in it must read as the value. Booleans are not numbers. `name` is
    the slot's name, where the reading depends on it (`duration_minutes`, `month`); `role` and `hints` are
    those of a `Target`. What would have to be derived counts only where the field may be derived (R-51).
    """
    if not located.parts and (found := _as_written(segments, located)):
        return found
    target = Target(name, schema, located.value, role, hints)
    found = _parts(segments, located, target, context) if located.parts else _one(segments, located, target, context)
    derived = found is not None and found.grade == "derived"
    return None if derived and not may_derive(_field(target)) else found


def _as_written(segments: Sequence[Segment], located: Located) -> Evidence | None:
    """A string or a whole number that stands there to the letter, between spaces: no schema changes how it reads."""
    value, start, end = located.value, located.start, located.end
    kind = type(value)
    if (kind is not str and kind is not int) or located.pointer:
        return None
    written = str(value)
    text = _text(segments, located) if written.isascii() else None
    if text is None or text[start:end] != written or own_words(text)[start:end] != written:
        return None
    if kind is int:
        return _evidence(located, written, "number", written) if _stands_alone(text, start, end) else None
    return _evidence(located, written, "exact", written) if bounded(text, start, end) else None


def _field(target: Target) -> Field:
    return compile_field(target.name, target.schema, target.role, target.hints)


def _one(segments: Sequence[Segment], located: Located, target: Target, context: Context) -> Evidence | None:
    return _scalar(segments, located, _field(target), context)


def located_from(evidence: Evidence, value: object) -> Located:
    """The stored evidence of a value as a place to be checked again (R-59)."""
    parts = tuple(located_from(part, _value_at(value, part)) for part in evidence.parts if part.pointer != "#anchor")
    if evidence.normaliser == "date_time" and len({part.segment_index for part in parts}) == 1:
        parts = ()  # one span holds the day and the time
    return Located(value, evidence.segment_index, evidence.start, evidence.end, evidence.pointer, parts)


def _value_at(value: object, part: Evidence) -> object:
    """What a part stands for: a leaf of the value, an item of a packed list, else its own canonical form."""
    if part.pointer.endswith(KEY):
        return tokens(part.pointer.removesuffix(KEY))[-1]
    pointer, hash_sign, item = part.pointer.partition("#")
    for key in tokens(pointer):
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list | tuple) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
    if not hash_sign:
        return value
    items = split_items(value) if item.isdigit() else None
    return items[int(item)] if items and int(item) < len(items) else part.canonical


def _text(segments: Sequence[Segment], located: Located) -> str | None:
    """The text of the named segment when the place is a place at all (R-41)."""
    index, start, end = located.segment_index, located.start, located.end
    if type(index) is not int or type(start) is not int or type(end) is not int:
        return None
    if not 0 <= index < len(segments):
        return None
    segment = segments[index]
    if segment.trust != USER or not 0 <= start < end <= len(segment.text):
        return None
    return segment.text


def _scalar(segments: Sequence[Segment], located: Located, field: Field, context: Context) -> Evidence | None:
    text = _text(segments, located)
    if text is None:
        return None
    quote = text[located.start : located.end]
    if own_words(text)[located.start : located.end] != quote:
        return None  # somebody else's words inside the user's message
    found = _at_a_glance(located, quote, text, field) or _read(segments, located, field, context)
    return msgspec.structs.replace(found, pointer=located.pointer) if found and located.pointer else found


def _at_a_glance(located: Located, quote: str, text: str, field: Field) -> Evidence | None:
    """A string as written or a plain number: most values, without an index."""
    value = located.value
    if not bounded(text, located.start, located.end):
        return None
    if isinstance(value, str):
        return _evidence(located, quote, "exact", value) if quote == value and not has_deceiving(quote) else None
    number = as_decimal(value)
    if number is None or field.unit or field.fraction is not None or _PLAIN_NUMBER.fullmatch(quote) is None:
        return None
    if Decimal(quote.replace("\u2212", "-")) != number or not _stands_alone(text, located.start, located.end):
        return None
    return _evidence(located, quote, "number", canonical_number(number))


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether nothing beside the digits could change their value: a sign, a scale, a unit, another group."""
    if start and not text[start - 1].isspace():
        return False
    if end == len(text):
        return True
    word = text[end + 1 : end + 13].split(" ", 1)[0]
    return text[end] == " " and word in FUNCTION and word != "and"


def _read(segments: Sequence[Segment], located: Located, field: Field, context: Context) -> Evidence | None:
    places = [place for place in places_of(segments, context) if place.segment_index == located.segment_index]
    for start, end in _spans(places[0], located) if places else ():
        for found in look_up(field, located.value, places, context):
            usable = found.grade in _COUNTS and (
                found.normaliser in ("number", "percent") or "ambiguous" not in found.flags
            )
            if found.normaliser == "number":
                usable = usable and _whole_number(places[0].index.text, end, located.value)
            if usable and (found.start, found.end) == (start, end):
                quote = places[0].index.text[located.start : located.end]
                return msgspec.structs.replace(found, start=located.start, end=located.end, matched_text=quote)
    return None


def _whole_number(text: str, end: int, value: object) -> bool:
    """An id of digits has no letter behind it; other numbers are whole where the index has them (R-52)."""
    return not (isinstance(value, str) and text[end : end + 1].isalnum())


def _spans(place: Place, located: Located) -> list[tuple[int, int]]:
    """The named span, and for a number the same without its money sign or unit."""
    start, end = located.start, located.end
    spans = [(start, end)]
    if as_decimal(located.value) is None:
        return spans
    text = place.index.text
    inner = start + 1 if text[start] in _MONEY_SIGNS else start
    for mention in place.index.number_list:
        if mention.start == inner and mention.end <= end:
            unit, money = unit_after(text, mention.end), _MONEY_NAMES.match(text, mention.end)
            if mention.end == end or (unit and unit[1] == end) or (money and money.end() == end):
                spans.append((mention.start, mention.end))
    return spans


def _parts(segments: Sequence[Segment], located: Located, target: Target, context: Context) -> Evidence | None:
    pointers = {part.pointer for part in located.parts}
    if len(pointers) != len(located.parts) or any(_text(segments, part) is None for part in located.parts):
        return None
    if pointers in ({"#date", "#time"}, {"#start", "#duration"}):
        return _moment(segments, located, target, context)
    found = leaves(target)
    if found and pointers != {leaf.pointer for leaf in found} and len(found) == 1:
        found = packed(found[0])
    if not found or pointers != {leaf.pointer for leaf in found}:
        return None  # an element that is not shown is not supported
    by_pointer = {part.pointer: part for part in located.parts}
    pairs: list[tuple[str, Evidence]] = []
    for leaf in found:
        part = by_pointer[leaf.pointer]
        same = type(part.value) is type(leaf.value) and part.value == leaf.value
        evidence = _scalar(segments, part, leaf.field, context) if same else None
        if evidence is None or any(_overlap(evidence, other) for _, other in pairs):
            return None
        pairs.append((leaf.pointer, evidence))
    whole = together(pairs, "", "parts")
    text = segments[whole.segment_index].text
    return msgspec.structs.replace(whole, matched_text=text[whole.start : whole.end])


def _moment(segments: Sequence[Segment], located: Located, target: Target, context: Context) -> Evidence | None:
    """A moment from a day and a time that stand apart, or an end from a start and a length."""
    field = _field(target)
    places = {place.segment_index: place for place in places_of(segments, context)}
    if not isinstance(located.value, str):
        return None
    first, second = sorted(located.parts, key=lambda part: part.pointer in ("#time", "#duration"))
    if first.pointer == "#date":
        return supports_parts(field, located.value, first, second, places, context)
    start = _one(segments, msgspec.structs.replace(first, pointer=""), target, context)
    return supports_length(field, located.value, start, first.value, second, places) if start else None


def _overlap(one: Evidence, other: Evidence) -> bool:
    return any(overlap(mine, theirs) for mine in claimed_spans(one) for theirs in claimed_spans(other))


def _evidence(located: Located, quote: str, normaliser: str, canonical: str) -> Evidence:
    return Evidence(located.segment_index, located.start, located.end, quote, normaliser, canonical)
