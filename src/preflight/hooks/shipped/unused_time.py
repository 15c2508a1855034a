"""Which time in the user's words does no value of the call take up? It may be the time to act (R-81, decision 0127).

An order means now when its words name no time to act. A day or a time of day that stands there all the same is
either a value of the call, or a part of something that is named ("the invoice of 3 March"), or the time to act.
Only the first two let the call go on. In the same way words that sound like later ("book it on Friday") mean now
when the time they name is a value of the call, and nothing else in them says later.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, time
from typing import NamedTuple

from preflight.grounding import Context, clock
from preflight.grounding.date_resolution import resolve
from preflight.grounding.dates import dates
from preflight.grounding.mention import Mention
from preflight.grounding.times import times
from preflight.hooks.shipped import when
from preflight.hooks.shipped.mentions import beside, key_of, spoken
from preflight.hooks.shipped.request_text import current_places
from preflight.hooks.shipped.trigger import awaited
from preflight.model.checklist import WhenCase
from preflight.model.evidence import Evidence, Located
from preflight.model.request import Request
from preflight.model.rules import TriggerRule
from preflight.model.slot import FieldState

IsTime = Callable[[str], bool]
"""Whether a field of this name holds a time, by its schema and the rules."""
Span = tuple[int, int]

_BEFORE = 40
_OF_A_THING = re.compile(
    r"(?:\b(?:(?<!as )of|for|since|until|till|by|(?<!not )before|between|to|dated|my|your|his|her|our|their|its|a|an)"
    r"|\b(?:was|were|been|started|ended|began|took place|happened)(?: on| at)?)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_POSSESSIVE = re.compile(r"['’]s?\b", re.IGNORECASE)
_SHORT = 40
_TAKES = ("number", "percent", "unit", "ordinal")
"""How words are read that any value takes up. A time is taken up by a field that is for times and by no other: a model
may write any words of the user, or the time itself, into a memo."""


def unused_time(
    request: Request,
    case: WhenCase,
    fields: tuple[FieldState, ...],
    is_time: IsTime,
    declared: Mapping[str, TriggerRule],
) -> Located | None:
    """Return the first words of the current request that may say when to act and that no value takes up, else None.

    `fields` are the slots as they were settled. While one that holds a time is open, its question comes first. Words
    that say `now` outright leave nothing open.
    """
    utterance = request.utterance
    if when.says_now(utterance) or any(f.status == "unknown" and is_time(f.name) for f in fields):
        return None
    context = Context.of(utterance, utterance.now)
    said = [text for state in fields if state.settled if is_time(state.name) for text in _short_texts(state.value)]
    strict = case != "immediate"
    for index in current_places(utterance):
        text = request.segments[index].text  # type: ignore[index]  # a place in it was found
        taken = [span for state in fields for span in _taken(state, index, is_time, () if strict else _TAKES)]
        found = _left(text, taken, Reading(context.at(request.segments[index]), said, declared, strict))  # type: ignore[index]
        if found is not None:
            return Located(text[slice(*found)], index, *found)
    return None


class Reading(NamedTuple):
    """How a text is read: by which clock, beside which values and names.

    `strict` lets the times of things count, too, and every other word that says later.
    """

    context: Context
    said: list[str]
    declared: Mapping[str, TriggerRule]
    strict: bool


def _left(text: str, taken: list[Span], reading: Reading) -> Span | None:
    own = spoken(text)
    for spans in _open_times(own, reading):
        left = [span for span in spans if not any(span[0] < end and start < span[1] for start, end in taken)]
        if left:  # a day that a value takes up takes no hour with it
            return left[0][0], left[-1][1]
    if not reading.strict:
        return None
    if not taken:
        return 0, len(text)
    for start, end in taken:
        own = own[:start] + " " * (end - start) + own[end:]
    return when.later_in(own)


def _taken(state: FieldState, index: int, is_time: IsTime, takes: tuple[str, ...]) -> Iterator[Span]:
    """The places in a segment that a value takes up, read as `takes` says or in a field that is for times.

    Places that come near an open value are asked about with it.
    """
    held = state.status == "unknown" or is_time(state.name)
    for evidence in _parts((*state.mentions, *(() if state.evidence is None else (state.evidence,)))):
        if evidence.segment_index == index and (held or evidence.normaliser.startswith(takes)) and not evidence.parts:
            yield evidence.start, evidence.end


def _parts(found: tuple[Evidence, ...]) -> Iterator[Evidence]:
    for evidence in found:
        yield evidence
        yield from _parts(evidence.parts)


def _open_times(text: str, reading: Reading) -> Iterator[list[Span]]:
    """The times of a text that may be times to act, a day with its time of day together; then what is to be awaited."""
    context = reading.context
    days, hours = dates(text, context.language), times(text, context.language)
    if not reading.strict:
        things = {day for day in days if _of_a_thing(text, day)}
        theirs = {hour for day in things for hour in beside(text, day, hours)}
        days = [day for day in days if day not in things]
        hours = [hour for hour in hours if hour not in theirs and not _of_a_thing(text, hour)]
    told = {
        day for value in reading.said for mention in dates(value, context.language) for day in _days(mention, context)
    }
    clocks = {key_of(mention)[:2] for value in reading.said for mention in times(value, context.language)}
    paired: set[Span] = set()
    for day in days:
        near = beside(text, day, hours)
        paired |= {(hour.start, hour.end) for hour in near}
        if _may_come(day, near, context):
            known = bool(told.intersection(_days(day, context)))
            parts = [] if known else [(day.start, day.end)]
            parts += [(hour.start, hour.end) for hour in near if key_of(hour)[:2] not in clocks]
            yield sorted(parts)
    for hour in hours:
        if (hour.start, hour.end) not in paired and key_of(hour)[:2] not in clocks:
            yield [(hour.start, hour.end)]
    yield from ([(place.start, place.end)] for place in awaited(text, 0, reading.declared))


def _days(mention: Mention, context: Context) -> tuple[date, ...]:
    return resolve(key_of(mention), context)[0]


def _of_a_thing(text: str, mention: Mention) -> bool:
    before = text[max(0, mention.start - _BEFORE) : mention.start]
    return _OF_A_THING.search(before) is not None or _POSSESSIVE.match(text, mention.end) is not None


def _may_come(day: Mention, hours: list[Mention], context: Context) -> bool:
    """Whether a day, with the times of day beside it, may lie ahead: today does only with an hour that is to come."""
    key = key_of(day)
    now = clock.moment(context)
    if now is None:
        return True
    if key[0] == "ym":
        return (int(str(key[1])), int(str(key[2]))) > (now.year, now.month)
    found = _days(day, context)
    return not found or any(_is_ahead(there, hours, now) for there in found)


def _is_ahead(day: date, hours: list[Mention], now: datetime) -> bool:
    if day != now.date():
        return day > now.date()
    return any(time(*key_of(hour)) > now.time() for hour in hours)


def _short_texts(value: object) -> Iterator[str]:
    """The texts of a value that are no longer than a time is."""
    if type(value) is str:
        if len(value) <= _SHORT:
            yield value
        return
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for part in parts:
        yield from _short_texts(part)
