"""Values that belong together: `100 to Ana and 200 to Bob` is two rows, and a call takes its values from one (R-52).

Rows are seen only where they are plain: mentions of two sorts that take turns, as many of the one as of the other.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

import msgspec

from preflight.grounding import tokens
from preflight.grounding.index import names
from preflight.grounding.leaves import KEY
from preflight.grounding.matching import claimed_spans
from preflight.grounding.place import Place
from preflight.grounding.quantities import measure
from preflight.grounding.rules import kind
from preflight.model.evidence import Evidence

if TYPE_CHECKING:
    from preflight.grounding.call import Work

_ELEMENT = re.compile(r"/(\d+)(?=/)")
_OPENS = re.compile(r"(?:^|[.!?:\n]\s*)$")
_LED = re.compile(r"(?<!want )(?<!like )(?<!need )(?<!have )(?<!going )\bto\s([^\W\d_]+)", re.IGNORECASE)
_COUNTED = ("number", "date", "time")
_AROUND = 160
"""How far from the two values rows are looked for, in code points."""
Span = tuple[int, int]


def check(every: Sequence[Work], places: Sequence[Place]) -> None:
    """Put what was taken from different rows back as a question."""
    standing = [work for work in every if work.chosen is not None and not work.chosen.parts]
    if len(standing) < 2:
        return
    by_index = {place.segment_index: place for place in places}
    mixed = {id(work) for pair in (*_mixed_elements(standing), *_mixed_slots(standing, by_index)) for work in pair}
    for work in standing:
        if id(work) in mixed:
            work.refused.append(("swapped", _found(work)))
            work.chosen, work.reason = None, "swapped"


def _mixed_elements(standing: Sequence[Work]) -> Iterator[tuple[Work, Work]]:
    """Yield leaves of one element of a list, or of a map, that stand in two rows."""
    maps = {_path(work).removesuffix(KEY) for work in standing if work.leaf.pointer.endswith(KEY)}
    groups: dict[str, dict[str, dict[str, Work]]] = {}
    for work in standing:
        if place := _element(_path(work), maps):
            container, element, column = place
            groups.setdefault(container, {}).setdefault(column, {})[element] = work
    for columns in groups.values():
        for one, other in itertools.combinations(columns.values(), 2):
            if one.keys() == other.keys() and _one_segment([*one.values(), *other.values()]):
                rows = _rows([_span(work) for work in one.values()], [_span(work) for work in other.values()])
                yield from ((one[at], other[at]) for at in one if _are_apart(_span(one[at]), _span(other[at]), rows))


def _element(path: str, maps: Collection[str]) -> tuple[str, str, str] | None:
    """The container, the element in it and the column of a leaf; None for a leaf of no element."""
    if match := _ELEMENT.search(path):
        return path[: match.start()], match[1], path[match.end() :]
    for member in maps:
        if path.startswith(member) and path[len(member) :][:1] in ("", "/", "#"):
            container, _, key = member.rpartition("/")
            return container, key, path[len(member) :]
    return None


def _mixed_slots(standing: Sequence[Work], places: Mapping[int, Place]) -> Iterator[tuple[Work, Work]]:
    """Yield two slots of which each has a rival beside it that no slot of the call takes.

    Where both rows hold the same value, as in `500 to Ann and 500 to Bob`, the mention of the right row is taken.
    """
    single = [work for work in standing if not work.leaf.pointer and not _ELEMENT.search(_path(work))]
    taken = {span for work in standing for span in claimed_spans(_found(work))}
    for one, other in itertools.combinations(single, 2):
        here, there = _span(one), _span(other)
        if abs(here[0] - there[0]) > _AROUND or not _one_segment((one, other)):
            continue
        at = _found(one).segment_index
        begin, end = min(here[0], there[0]) - _AROUND, max(here[1], there[1]) + _AROUND
        mine, theirs = (
            [span for span in _alike(_found(work), places[at], begin, end) if span == own or (at, *span) not in taken]
            for work, own in ((one, here), (other, there))
        )
        rows = {} if set(mine) & set(theirs) else _rows(mine, theirs)
        if _are_apart(here, there, rows) and not (
            _moved(one, there, rows, places) or _moved(other, here, rows, places)
        ):
            yield one, other


def _moved(work: Work, beside: Span, rows: Mapping[Span, int], places: Mapping[int, Place]) -> bool:
    """Take the mention in the row of another value, where it says the same."""
    found = _found(work)
    text = places[found.segment_index].index.text
    start, end = next(span for span in rows if rows[span] == rows[beside] and span != beside)
    if text[start:end].casefold() != text[found.start : found.end].casefold():
        return False
    work.chosen = msgspec.structs.replace(found, start=start, end=end, matched_text=text[start:end])
    return True


def _rows(one: Sequence[Span], other: Sequence[Span]) -> dict[Span, int]:
    """The row of each span; empty where they are not two or more rows of two that take turns."""
    ordered = sorted([(span, 0) for span in one] + [(span, 1) for span in other])
    turns = all(before[1] != after[1] for before, after in itertools.pairwise(ordered))
    return {span: at // 2 for at, (span, _) in enumerate(ordered)} if turns and len(one) == len(other) > 1 else {}


def _are_apart(one: Span, other: Span, rows: Mapping[Span, int]) -> bool:
    return one in rows and other in rows and rows[one] != rows[other]


def _alike(found: Evidence, place: Place, begin: int, end: int) -> list[Span]:
    """Every mention in a stretch of the text that could stand in the place of this one."""
    sort, text, own = kind(found), place.index.text, (found.start, found.end)
    begin = max(0, begin)
    if sort in _COUNTED:
        mentions = place.index.mentions(sort)
        near = mentions[bisect_left(mentions, begin, key=itemgetter(0)) : bisect_left(mentions, end, key=itemgetter(0))]
        return [(start, stop) for start, stop, _ in near if measure(text, start, stop) == measure(text, *own)]
    if found.matched_text.isalpha():
        if found.matched_text[0].isupper():
            return [span for span in names(text, begin, end) if span == own or not _OPENS.search(text, 0, span[0])]
        led = [match.span(1) for match in _LED.finditer(text, begin, end)]
        return led if own in led else []
    form = _form(found.matched_text)
    if form == "words":
        return []
    written = ((token.start(), token[0].rstrip(".!?:")) for token in tokens.TOKEN.finditer(text, begin, end))
    return [(start, start + len(word)) for start, word in written if _form(word) == form]


def _form(word: str) -> str:
    """`email` or `path`; of a code its letters and digits as `A` and `9`."""
    sort = tokens.shape(word)
    return sort if sort != "code" else re.sub(r"[^\W\d_]", "A", re.sub(r"\d", "9", word))


def _path(work: Work) -> str:
    return f"/{work.leaf.target}{work.leaf.pointer}"


def _found(work: Work) -> Evidence:
    assert work.chosen is not None  # noqa: S101  only those that stand are looked at
    return work.chosen


def _span(work: Work) -> Span:
    return _found(work).start, _found(work).end


def _one_segment(works: Sequence[Work]) -> bool:
    return len({_found(work).segment_index for work in works}) == 1
