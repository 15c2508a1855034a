"""Values that belong together: `100 to Ana and 200 to Bob` is two rows, and a call takes its values from one (R-52).

Rows are seen only where they are plain: mentions of two sorts that take turns, as many of the one as of the other.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from preflight.grounding import tokens
from preflight.grounding.index import names
from preflight.grounding.matching import claimed_spans
from preflight.grounding.place import Place
from preflight.grounding.rules import kind
from preflight.model.evidence import Evidence

if TYPE_CHECKING:
    from preflight.grounding.call import Work

_ELEMENT = re.compile(r"/(\d+)(?=/)")
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
    """Yield leaves of one element of a list of objects that stand in two rows."""
    lists: dict[str, dict[str, dict[str, Work]]] = {}
    for work in standing:
        path = _path(work)
        if match := _ELEMENT.search(path):
            columns = lists.setdefault(path[: match.start()], {})
            columns.setdefault(path[match.end() :], {})[match[1]] = work
    for columns in lists.values():
        for one, other in itertools.combinations(columns.values(), 2):
            if one.keys() == other.keys() and _one_segment([*one.values(), *other.values()]):
                rows = _rows([_span(work) for work in one.values()], [_span(work) for work in other.values()])
                yield from ((one[at], other[at]) for at in one if _are_apart(_span(one[at]), _span(other[at]), rows))


def _mixed_slots(standing: Sequence[Work], places: Mapping[int, Place]) -> Iterator[tuple[Work, Work]]:
    """Yield two slots of which each has a rival beside it that no slot of the call takes."""
    single = [(work, _span(work), _sort(work)) for work in standing if not _ELEMENT.search(_path(work))]
    single = [each for each in single if each[2] != "words"]  # plain words are no column of anything
    taken = {span for work in standing for span in claimed_spans(_found(work))}
    for (one, here, sort), (other, there, other_sort) in itertools.combinations(single, 2):
        if sort == other_sort or abs(here[0] - there[0]) > _AROUND or not _one_segment((one, other)):
            continue
        at = _found(one).segment_index
        begin, end = min(here[0], there[0]) - _AROUND, max(here[1], there[1]) + _AROUND
        mine, theirs = (
            [span for span in _alike(wanted, places[at], begin, end) if span == own or (at, *span) not in taken]
            for wanted, own in ((sort, here), (other_sort, there))
        )
        if _are_apart(here, there, _rows(mine, theirs)):
            yield one, other


def _rows(one: Sequence[Span], other: Sequence[Span]) -> dict[Span, int]:
    """The row of each span; empty where they are not two or more rows of two that take turns."""
    ordered = sorted([(span, 0) for span in one] + [(span, 1) for span in other])
    turns = all(before[1] != after[1] for before, after in itertools.pairwise(ordered))
    return {span: at // 2 for at, (span, _) in enumerate(ordered)} if turns and len(one) == len(other) > 1 else {}


def _are_apart(one: Span, other: Span, rows: Mapping[Span, int]) -> bool:
    return one in rows and other in rows and rows[one] != rows[other]


def _alike(sort: str, place: Place, begin: int, end: int) -> list[Span]:
    """Every mention of a sort in a stretch of the text."""
    text = place.index.text
    if sort in _COUNTED:
        mentions = place.index.mentions(sort)
        first = bisect_left(mentions, begin, key=itemgetter(0))
        return [mention[:2] for mention in itertools.takewhile(lambda each: each[0] < end, mentions[first:])]
    begin = max(0, begin)
    if sort == "name":
        return list(names(text, begin, end))
    written = ((token.start(), token[0].rstrip(".!?:")) for token in tokens.TOKEN.finditer(text, begin, end))
    return [(start, start + len(word)) for start, word in written if _form(word) == sort]


def _sort(work: Work) -> str:
    """`number`, `date`, `time`, `name`, or the form of a token."""
    found = _found(work)
    sort = kind(found)
    if sort in _COUNTED:
        return sort
    return "name" if found.matched_text[:1].isupper() and found.matched_text.isalpha() else _form(found.matched_text)


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
