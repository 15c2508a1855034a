"""Where a string stands in the user's words: as written, in another case or spelling, as a name of a code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from preflight.grounding import codes
from preflight.grounding.field import Field
from preflight.grounding.place import Place
from preflight.grounding.quantities import unit_after
from preflight.grounding.read_number import read_number
from preflight.grounding.tables.units import UNITS
from preflight.grounding.text import bounded, has_deceiving, is_cjk, normal
from preflight.grounding.tokens import identifier_shaped
from preflight.grounding.words import FUNCTION, STOP, split_plain, split_words, stem
from preflight.model.evidence import Evidence, Grade

_NUMBER = re.compile(
    r"(?P<c>[$€£¥₩₹])?\s?(?P<n>[-+]?\d[\d,]{0,40}(?:\.\d{1,40})?)\s?(?P<u>%|°\s?[CFcf]|[^\W\d_]{1,24}(?:/[a-z]+)?)?"
)
_DROPPED = frozenset("_-,.'’\"“”()[]:;!?&/ \t\n–—*`")
_QUOTES = frozenset("'\"‘“`«「")
# Code points between a city and its region.
_FAR, _BESIDE = 40, 4
_SPACERS = " -.()/\u00a0"


def read_string(field: Field, value: str, place: Place) -> list[Evidence]:
    """Every mention that supports the string, by the first way of reading that finds one."""
    text = place.index.text
    spans = [span for span in place.index.exact(value) if not codes.inside_longer(value, text, *span)]
    found = [_exact(field, value, span, place) for span in spans]
    stated = [mention for mention in found if mention.grade == "stated"]
    if stated or not value.strip() or has_deceiving(value):
        return stated or found
    for reader in (_case, _spaced, labelled, _folded, _plural, _number, _codes, _city):
        if more := [mention for mention in reader(field, value, place) if not has_deceiving(mention.matched_text)]:
            return more
    return found or list(_stems(value, place))


def _exact(field: Field, value: str, span: tuple[int, int], place: Place) -> Evidence:
    grade: Grade = "stated"
    flags: tuple[str, ...] = ()
    if has_deceiving(value):
        grade, flags = "weak", ("confusable",)
    elif (
        _small_word(value)
        and not _quoted(place.index.text, *span)
        and (value not in field.members or value in FUNCTION)
    ):
        grade = "weak"
    elif value.isascii() and value.isdigit() and len(value) < 5 and place.index.calendar_at(*span) == "inside":
        grade = "weak"
    return place.evidence(*span, "exact", value, grade, flags=flags)


def _small_word(value: str) -> bool:
    return (len(value) < 3 and value.isalpha() and not value.isupper() and not is_cjk(value[0])) or value in FUNCTION


def _quoted(text: str, start: int, end: int) -> bool:
    return start > 0 and text[start - 1] in _QUOTES and end < len(text) and not text[end].isalnum()


def _case(field: Field, value: str, place: Place) -> Iterator[Evidence]:
    """An e-mail or host in another ASCII case: both name the same address."""
    if not value.isascii() or not (field.format in ("email", "hostname") or ("@" in value and " " not in value)):
        return
    lowered = value.lower()
    at = place.index.lowered.find(lowered)
    if at >= 0 and bounded(place.index.text, at, at + len(value)) and place.index.text[at : at + len(value)].isascii():
        yield place.evidence(at, at + len(value), "ascii_case", lowered)


def _spaced(field: Field, value: str, place: Place) -> Iterator[Evidence]:
    """An account, card or phone number that the user wrote with spaces, hyphens or brackets inside."""
    digits = sum(char.isdigit() for char in value)
    phone = field.format == "phone" or not {"phone", "telephone", "mobile"}.isdisjoint(field.words)
    if digits < 6 or " " in value or not value.isascii():
        return
    core = "".join(char for char in value if char.isalnum() or char == "+")
    if core != value and not phone:
        return
    text = place.index.text
    spacers = _SPACERS if phone else " -\u00a0"
    at = text.find(core[0])
    tries = 0
    while at >= 0 and tries < 400:
        tries += 1
        end = _walk(text, at, core, spacers)
        if end and bounded(text, at, end) and (core[0] == "+" or at == 0 or text[at - 1] != "+"):
            yield place.evidence(at, end, "spaced", core)
            return
        at = text.find(core[0], at + 1)


def _walk(text: str, at: int, core: str, spacers: str) -> int:
    """Where a value ends that starts here and may be broken by single spacers; 0 when it is not here."""
    spaces = 0
    for char in core:
        while at < len(text) and text[at] in spacers and spaces < 3 and char != core[0]:
            at, spaces = at + 1, spaces + 1
        if at >= len(text) or text[at] != char:
            return 0
        at, spaces = at + 1, 0
    return at


def labelled(field: Field, value: str, place: Place) -> Iterator[Evidence]:
    """A title, label or synonym that is declared for the value."""
    for label in field.labels.get(value, ()):
        words = split_plain(label)
        for last in (
            (words[-1:] and (words[-1], *other_number(words[-1]))) if words and len(words[-1]) > 3 else words[-1:]
        ):
            for span in place.index.words.find((*words[:-1], last)):
                yield place.evidence(*span, "label", value)


def _folded(field: Field, value: str, place: Place) -> Iterator[Evidence]:
    if field.identifier and not field.members and identifier_like_fold(field, value):
        return
    if identifier_shaped(value) or any(not char.isalnum() and char not in _DROPPED for char in value):
        return
    words = split_plain(value)
    canonical = " ".join(words)
    for span in place.index.words.find(words):
        if len(canonical) > 2 and not (
            (len(words) == 1 and canonical in FUNCTION) or codes.inside_longer(canonical, place.index.text, *span)
        ):
            yield place.evidence(*span, "fold", canonical)
    if len(canonical) > 4 and (field.members or len(words) > 1 or value != value.lower()):
        for span in place.index.words.find_squeezed(split_words(value)):
            yield place.evidence(*span, "fold", canonical)


def _plural(field: Field, value: str, place: Place) -> Iterator[Evidence]:
    """The same words with the last one in the other number (`tablespoon`, `tablespoons`)."""
    words = split_plain(value)
    if not words or field.identifier or identifier_shaped(value) or len(words[-1]) < 4 or not words[-1].isascii():
        return
    for last in other_number(words[-1]):
        for span in place.index.words.find((*words[:-1], last)):
            yield place.evidence(*span, "plural", " ".join(words), "derived", "plural")


def other_number(word: str) -> tuple[str, ...]:
    """The plural of an English noun, or its singulars."""
    if word.endswith("ies"):
        return (word[:-3] + "y",)
    if word.endswith(("ses", "xes", "ches", "shes")):
        return (word[:-2], word[:-1])
    if word.endswith("s"):
        return () if word.endswith("ss") else (word[:-1],)
    return (word[:-1] + "ies",) if word.endswith("y") and word[-2] not in "aeiou" else (word + "s", word + "es")


def identifier_like_fold(field: Field, value: str) -> bool:
    """Whether another case or spelling would name another thing: everything but a person's name is an id here."""
    return field.role != "target" or " " not in value


def _number(field: Field, value: str, place: Place) -> Iterator[Evidence]:
    """A number as a string: `"5"` for `five`, `"$200"`, `"15%"`, `"10 kg"`."""
    match = _NUMBER.fullmatch(value.strip())
    if match is None or (field.identifier and not match["u"] and not match["c"]):
        return
    number = Decimal(match["n"].replace(",", ""))
    unit = (match["u"] or "").lower().replace(" ", "")
    for found in read_number(field, number, place, rate=unit == "%"):
        if not unit or unit == "%" or _same_unit(place.index.text, found, unit):
            yield found


def _same_unit(text: str, found: Evidence, unit: str) -> bool:
    after = unit_after(text, found.end)
    if unit in UNITS:
        return after is not None and after[0] == UNITS[unit]
    following = split_plain(text[found.end : found.end + 24])
    return bool(following) and stem(following[0]) == stem(unit)


def _codes(field: Field, value: str, place: Place) -> Iterator[Evidence]:
    """A code for the name that the user wrote, or the name for the code."""
    words = frozenset((*field.words, *split_words(field.description)))
    for name, kind in codes.other_names(value, words):
        for span in _name_spans(name, place):
            if not codes.inside_longer(name, place.index.text, *span):
                yield place.evidence(*span, "code", value, "derived", f"{kind}_name")


def _name_spans(name: str, place: Place) -> Iterator[tuple[int, int]]:
    """Where a name stands; short ones as written, in capitals, and symbols beside a number."""
    if len(name) < 4 or not name[0].isalnum():
        if name[0].isalnum() or name[0] not in "$€£¥₩₹":
            if name.islower() and len(name) == 3:  # `yen`, `won`
                yield from place.index.words.find((name,))
            yield from place.index.exact(name if name[:1].isupper() or not name.isascii() else name.upper())
            return
        at = place.index.text.find(name)
        if at >= 0:
            yield at, at + len(name)
        return
    yield from place.index.words.find(split_plain(name))


def _city(_field: Field, value: str, place: Place) -> Iterator[Evidence]:
    """`Chicago, IL` for `Chicago` where the table says so, `San Diego, CA` for `San Diego, California`."""
    parts = [part.strip() for part in value.split(",")]
    if not 2 <= len(parts) <= 3 or not all(any(char.isalpha() for char in part) for part in parts):
        return
    unsure = [region for region in parts[1:] if not codes.lies_in(parts[0], region)]
    stated = [_region_starts(region, place) for region in unsure]
    for name in codes.city_forms(parts[0]):
        for span in _name_spans(name, place):
            if all(_follows(place.index.text, span[1], starts) for starts in stated):
                yield place.evidence(*span, "city", normal(value), "derived", "city_in_region")


def _follows(text: str, end: int, starts: Sequence[tuple[int, int]]) -> bool:
    gaps = [(text[end:start], reach) for start, reach in starts if end <= start <= end + reach]
    return any(_close(gap) and (reach == _FAR or gap.strip(" ,") in ("", "in")) for gap, reach in gaps)


def _region_starts(region: str, place: Place) -> list[tuple[int, int]]:
    """Where a region is named, and how far after its city it may stand: farther when the tables know it."""
    reach = _FAR if codes.is_region(region) else _BESIDE
    return [(span[0], reach) for form in codes.region_forms(region) for span in _name_spans(form, place)]


def _close(gap: str) -> bool:
    return not any(char in ".;!?\n" for char in gap)


def _stems(value: str, place: Place) -> Iterator[Evidence]:
    """Another inflection of the words, in a row: only a mention to show, never support (R-51)."""
    words = [word for word in split_plain(value) if word not in STOP]
    if not words or identifier_shaped(value) or max(map(len, words)) < 4:
        return
    positions: Sequence[int] = place.index.words.stems.get(stem(words[0]), ())
    index = place.index.words
    for at in positions[:8]:
        row = index.words[at : at + len(words)]
        if [stem(word) for word in row] == [stem(word) for word in words]:
            yield place.evidence(
                *index.original(index.starts[at], index.ends[at + len(words) - 1]), "stem", " ".join(words), "weak"
            )
