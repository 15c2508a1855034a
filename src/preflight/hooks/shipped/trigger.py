"""When should it run? Read from the user's words, and grounded like every time; nothing is guessed (R-81)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, time, timedelta

from preflight import grounding
from preflight.grounding import Context, Target, clock
from preflight.grounding.date_resolution import resolve
from preflight.grounding.dates import dates
from preflight.grounding.times import times
from preflight.hooks.shipped.mentions import beside, key_of, spoken
from preflight.hooks.shipped.recurrence import recurrences
from preflight.hooks.shipped.request_text import current_places
from preflight.model.evidence import Located, NotGrounded
from preflight.model.instruction import Segment
from preflight.model.request import Utterance
from preflight.model.rules import TriggerRule

_MOMENT: Mapping[str, object] = {"type": "string", "format": "date-time"}
_MOST_READINGS = 24
_COUNTED = "one two three four five six seven eight nine ten eleven twelve".split()
_NUMBERS = {"a": 1, "an": 1, "half an": 0.5} | {word: n for n, word in enumerate(_COUNTED, 1)}
_SECONDS = {"second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "hr": 3600}
_SOON = re.compile(
    rf"\bin (?P<n>\d{{1,4}}|{'|'.join(_NUMBERS)}) (?P<unit>{'|'.join(_SECONDS)})s?\b(?! (?:ago|early|late))",
    re.IGNORECASE,
)
_SPAN = rf"(?:\d+(?:[.,]\d+)?|{'|'.join(_NUMBERS)})"
# durations that the form above reads in part only, and days counted from another one
_IN_PART = re.compile(
    rf"\bin {_SPAN} (?:{'|'.join(_SECONDS)})s?\b,?\s*(?:(?:and|or|to)\b|\d|[-–+]|(?:after|before|from)\b)"
    rf"|\bin {_SPAN} (?:and|or|to|-) |\bin \d+[.,]\d+ "
    rf"|\b(?:{_SPAN}) (?:day|week|month|fortnight)s? (?:tomorrow|today|from|on|after|before)\b"
    rf"|\b{_SPAN} (?:{'|'.join(_SECONDS)}|day|week)s? (?:before|after|from)\b",
    re.IGNORECASE,
)
_OTHER_HOUR = re.compile(
    r"\s*(?:,|\bor\b|\band\b|-|–|\bto\b|/)\s*(?:at )?\d{1,2}(?::\d\d)?\s?(?:[ap]m)?\b", re.IGNORECASE
)
_PLACE = re.compile(
    r"\b\d{1,2}(?::\d\d)?\s?(?:[ap]\.?m\b\.?)?\s*(?:\(|[+-]\d\d:?\d\d\b|in [A-Z]\w+|[A-Z]\w+ time\b"
    r"|(?:their|his|her|your|my|local) time\b|(?i:eastern|central|mountain|pacific)\b)"
)
# a time that belongs to a thing ("the invoice of 3 March", "for Friday") is not a time to act
_OF_A_THING = re.compile(
    r"\b(?:of|for|from|since|until|till|by|before|after|between|to|dated|the)\s+(?:the\s+)?$", re.IGNORECASE
)


def trigger_of(utterance: Utterance, declared: Mapping[str, TriggerRule]) -> Located | NotGrounded | None:
    """Return the one trigger that the current request states, as `TriggerReader` reads it; else why there is none.

    What was said when the user was asked again is part of the request. `declared` are the triggers of the rules.
    """
    segments = utterance.segments
    if not segments:
        return None
    found: dict[object, Located] = {}
    unclear: list[NotGrounded] = []
    for index in current_places(utterance):
        context = Context.of(utterance, utterance.now).at(segments[index])
        now = clock.moment(context)
        if now is None:
            return None
        for read in _in_segment(segments, index, context, now, declared):
            if type(read) is NotGrounded:
                unclear.append(read)
            elif type(read) is Located:
                found.setdefault(read.value, read)
    if unclear or len(found) > 1:
        return unclear[0] if unclear else NotGrounded("when_said_twice")
    return next(iter(found.values()), None)


def _in_segment(
    segments: tuple[Segment, ...], index: int, context: Context, now: datetime, declared: Mapping[str, TriggerRule]
) -> Iterator[Located | NotGrounded]:
    text = spoken(segments[index].text)  # what others wrote, or is to be sent, says nothing
    recurring = list(recurrences(text, index, context))
    if recurring:
        yield from recurring
        return
    expected = list(awaited(text, index, declared))
    if expected:
        yield from expected
        return
    if _IN_PART.search(text):
        yield NotGrounded("when_unreadable")
        return
    for match in _SOON.finditer(text):
        number = match["n"].lower()
        count = float(number) if number.isdigit() else _NUMBERS[number]
        at = now + timedelta(seconds=count * _SECONDS[match["unit"].lower()])
        yield Located(at.isoformat(), index, *match.span())
    yield from _moments(segments, text, context)


def awaited(text: str, index: int, declared: Mapping[str, TriggerRule]) -> Iterator[Located]:
    """Find what the rules declare by the words that mean it."""
    for name, rule in declared.items():
        for phrase in rule.phrases:
            words = r"\s+".join(map(re.escape, phrase.split()))
            match = re.search(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE)
            if match is not None:
                yield Located(f"{'condition' if rule.event is None else 'event'} {name}", index, *match.span())
                break


def _moments(segments: tuple[Segment, ...], text: str, context: Context) -> Iterator[Located | NotGrounded]:
    """Put each day together with the time of day beside it, and ask grounding whether the words say so."""
    named = dates(text, context.language)
    days = [day for day in named if not _OF_A_THING.search(text[max(0, day.start - 24) : day.start])]
    hours = times(text, context.language)
    place = clock.zone(context)
    pairs = [(day, hour) for day in days for hour in beside(text, day, hours)]
    if days and not pairs:
        yield NotGrounded("time_of_day_not_said")
    if any(_OTHER_HOUR.match(text, hour.end) for _, hour in pairs) or (pairs and _PLACE.search(text)):
        yield NotGrounded("ambiguous")  # "at 9am or 10am", "9am in London"
        return
    claims: dict[str, None] = {}
    for day, hour in pairs:
        for date in resolve(key_of(day), context)[0]:
            local = datetime.combine(date, time(*key_of(hour)))
            claims |= dict.fromkeys(at.isoformat() for at in (clock.instants(local, place) if place else ()))
    grounded = [_grounded(segments, claim, context) for claim in itertools.islice(claims, _MOST_READINGS)]
    yield from (each for each in grounded if isinstance(each, Located))
    if pairs and not any(isinstance(each, Located) for each in grounded):
        yield next(iter(grounded), NotGrounded("time_skipped"))


def _grounded(segments: tuple[Segment, ...], claim: str, context: Context) -> Located | NotGrounded:
    finding = grounding.ground_call(segments, [Target("when", _MOMENT, claim, "time")], context)["when"]
    evidence = finding.evidence
    if finding.state == "known" and evidence is not None and evidence.grade in ("stated", "derived"):
        return Located(claim, evidence.segment_index, evidence.start, evidence.end)
    return NotGrounded(finding.reason, finding.mentions)
