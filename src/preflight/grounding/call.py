"""The arguments of one call, grounded together: what was found, judged, matched, and put into verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

import msgspec

from preflight.grounding import content, cues, enumeration, language_cues, ranges, rows, spans_of_time
from preflight.grounding.absence import why_absent
from preflight.grounding.findings import NOTHING_RECORDED, Context, Finding, Target
from preflight.grounding.index import index_of
from preflight.grounding.leaves import Leaf, leaves, packed, together
from preflight.grounding.lookup import look_up
from preflight.grounding.matching import assign, claimed_spans
from preflight.grounding.place import Place
from preflight.grounding.quantities import measure
from preflight.grounding.read_number import as_decimal
from preflight.grounding.rules import judge
from preflight.model.evidence import Evidence
from preflight.model.instruction import USER, Segment

# A value that stands in many places needs only a few of them.
_MAX_JUDGED = 12
_ENOUGH = 3
_NAME_WORDS = 3
_MAX_SHOWN = 4
_SWAP_MARGIN = 1.01
_COUNTABLE = frozenset(("number", "number_scaled", "number_words", "exact"))
# The reason that is told when several mentions of a value failed for different reasons.
_REASONS = (
    "not_groundable",
    "incomplete",
    "superseded",
    "negated",
    "ambiguous",
    "swapped",
    "shared_span",
    "derived",
    "carried",
    "weak",
    "confusable",
)


class Work(msgspec.Struct):
    """One leaf on its way to a verdict."""

    leaf: Leaf
    usable: list[Evidence]
    refused: list[tuple[str, Evidence]]
    chosen: Evidence | None = None
    reason: str | None = None


def ground_call(
    segments: Sequence[Segment], targets: Sequence[Target], context: Context = NOTHING_RECORDED
) -> dict[str, Finding]:
    """A verdict for each target, by name.

    The whole call is looked at once, since one span of the user's words feeds one argument (R-52).
    Only segments of trust `user` are read; changing the others changes no verdict (R-55).
    """
    places = places_of(segments, context)
    jobs: dict[str, list[Work] | None] = {}
    for target in targets:
        jobs[target.name] = _work(target, places, context)
    every = [work for job in jobs.values() if job for work in job]
    _match(every, places)
    spans_of_time.ends(every, places)
    _check_swaps(every, places)
    ranges.check(every, places)
    rows.check(every, places)
    spans_of_time.check_order(every)
    _check_lists(jobs, places)
    return {target.name: _finding(target, jobs[target.name], segments, places) for target in targets}


def places_of(segments: Sequence[Segment], context: Context) -> list[Place]:
    """The user's segments, indexed; those of an earlier request are marked as carried (R-51)."""
    requests = [segment.request for segment in segments if segment.trust == USER and segment.request is not None]
    current = max(requests, default=None)
    return [
        Place(
            at,
            index_of(segment.text, context.language),
            context.at(segment),
            carried=segment.request is not None and segment.request != current,
        )
        for at, segment in enumerate(segments)
        if segment.trust == USER and segment.text
    ]


def _work(target: Target, places: Sequence[Place], context: Context) -> list[Work] | None:
    found = leaves(target)
    if found is None:
        return None
    jobs = [_leaf_work(leaf, places, context) for leaf in found]
    if len(jobs) == 1 and not jobs[0].usable and (items := packed(jobs[0].leaf)):
        parts = [_leaf_work(item, places, context) for item in items]
        if all(part.usable for part in parts):
            return parts
    return jobs


def _leaf_work(leaf: Leaf, places: Sequence[Place], context: Context) -> Work:
    work = Work(leaf, [], [])
    by_index = {place.segment_index: place for place in places}
    for found in islice(look_up(leaf.field, leaf.value, places, context), _MAX_JUDGED):
        if len(work.usable) == _ENOUGH:
            break
        place = by_index[found.segment_index]
        reason = judge(leaf, found, place, places)
        if reason is None:
            work.usable.append(found)
        else:
            work.refused.append((reason, found))
    return work


def _scores(places: Sequence[Place], least: int = 1) -> Callable[[Leaf, Evidence], float]:
    by_index = {place.segment_index: place for place in places}
    memo: dict[tuple[str, str, int, int, int], float] = {}

    def score(leaf: Leaf, found: Evidence) -> float:
        key = (leaf.target, leaf.pointer, found.segment_index, found.start, found.end)
        if key not in memo:
            memo[key] = cues.score(leaf.field, found, by_index[found.segment_index], least)
        return memo[key]

    return score


def _match(every: Sequence[Work], places: Sequence[Place]) -> None:
    """Give each leaf one mention, no text to two leaves."""
    score = _scores(places)
    for work in every:
        if len(work.usable) > 1:
            work.usable.sort(key=lambda found, leaf=work.leaf: (found.grade != "stated", -score(leaf, found)))  # type: ignore[misc]
    free = [work for work in every if work.leaf.field.may_share]
    bound = [work for work in every if not work.leaf.field.may_share]
    spans = [[claimed_spans(found) for found in work.usable] for work in bound]
    strength = [
        max((score(work.leaf, found) for found in work.usable), default=0.0) if contested else 0.0
        for work, contested in zip(bound, _contested(spans), strict=True)
    ]
    order = sorted(range(len(bound)), key=lambda at: (as_decimal(bound[at].leaf.value) is None, -strength[at], at))
    for work, option in zip(bound, assign(spans, order), strict=True):
        if option is not None:
            work.chosen = work.usable[option]
    losers = [work for work in bound if work.usable and work.chosen is None]
    for work in losers:
        work.reason = "shared_span"
        _contest(work, bound, score)
    for work in free:
        work.chosen = work.usable[0] if work.usable else None


def _contest(loser: Work, bound: Sequence[Work], score: Callable[[Leaf, Evidence], float]) -> None:
    """When nothing says which of two leaves the words are for, neither has them."""
    mine = {span for found in loser.usable for span in claimed_spans(found)}
    for holder in bound:
        if holder.chosen is None or holder is loser or not mine.intersection(claimed_spans(holder.chosen)):
            continue
        fits = (as_decimal(holder.leaf.value) is None) == (as_decimal(loser.leaf.value) is None)
        best = max(score(loser.leaf, found) for found in loser.usable)
        if fits and score(holder.leaf, holder.chosen) <= best:
            holder.refused.append(("shared_span", holder.chosen))
            holder.chosen, holder.reason = None, "shared_span"


def _contested(spans: Sequence[Sequence[Sequence[tuple[int, int, int]]]]) -> list[bool]:
    """For each leaf whether another could stand on some of the same spans."""
    own = [{span for option in options for span in option} for options in spans]
    wanted = Counter(span for each in own for span in each)
    return [any(wanted[span] > 1 for span in each) for each in own]


def _check_swaps(every: Sequence[Work], places: Sequence[Place]) -> None:
    """Two numbers that would each stand nearer to the other's words are put back as a question (R-52)."""
    numbers = [work for work in every if _numeric(work)]
    score = _scores(places, _NAME_WORDS)
    by_index = {place.segment_index: place for place in places}
    swapped: set[int] = set()
    for at, one in enumerate(numbers):
        for other_at in range(at + 1, len(numbers)):
            other = numbers[other_at]
            here, there = _stands(one), _stands(other)
            if here is None or there is None or str(one.leaf.value) == str(other.leaf.value):
                continue
            if _measure(here, by_index) != _measure(there, by_index):
                continue
            straight = score(one.leaf, here) + score(other.leaf, there)
            crossed = score(one.leaf, there) + score(other.leaf, here)
            if crossed > straight * _SWAP_MARGIN + 0.5:
                swapped |= {at, other_at}
    for work in (*(numbers[at] for at in swapped), *_named_otherwise(every, by_index)):
        if work.chosen:
            work.refused.append(("swapped", work.chosen))
        work.chosen, work.reason = None, "swapped"


def _named_otherwise(every: Sequence[Work], by_index: Mapping[int, Place]) -> list[Work]:
    """Two values of which one stands right behind the name of the other's slot, and not of its own: `role admin`."""
    values = [(work, work.chosen, _numeric(work)) for work in every if work.chosen is not None]
    values = [each for each in values if each[2] or _is_text(each[0])]
    owners = {(word, numeric): work for work, _, numeric in values for word in work.leaf.field.words}
    found: list[Work] = []
    for work, here, numeric in values:
        name = cues.name_before(here, by_index[here.segment_index], joined=numeric)
        owner = None if name in work.leaf.field.words else owners.get((name, numeric))
        found += [work, owner] if owner is not None else []
    return list({id(work): work for work in found}.values())


def _is_text(work: Work) -> bool:
    free = not work.leaf.pointer and not work.leaf.field.members and isinstance(work.leaf.value, str)
    return free and work.chosen is not None and work.chosen.normaliser == "exact"


def _check_lists(jobs: Mapping[str, list[Work] | None], places: Sequence[Place]) -> None:
    """A list of which the user named one more is not the user's list: asked about (R-52)."""
    by_index = {place.segment_index: place for place in places}
    for job in jobs.values():
        chosen = [work.chosen for work in job or () if work.chosen and work.leaf.pointer]
        if job and len(chosen) == len(job) and enumeration.goes_on(chosen, by_index):
            for work in job:
                work.refused.append(("incomplete", work.chosen))  # type: ignore[arg-type]
                work.chosen, work.reason = None, "incomplete"


def _stands(work: Work) -> Evidence | None:
    """Where the value stands, also when it was found at the wrong end of `from A to B`."""
    return work.chosen or next((found for reason, found in work.refused if reason == "swapped"), None)


def _measure(found: Evidence, by_index: Mapping[int, Place]) -> str | None:
    return measure(by_index[found.segment_index].index.text, found.start, found.end)


def _numeric(work: Work) -> bool:
    value = work.leaf.value
    found = _stands(work)
    if work.leaf.pointer or found is None or found.normaliser not in _COUNTABLE:
        return False
    return as_decimal(value) is not None or (isinstance(value, str) and value.isdigit())


def _finding(target: Target, job: list[Work] | None, segments: Sequence[Segment], places: Sequence[Place]) -> Finding:
    if job is None:
        return Finding("unknown", None, "empty")
    if all(work.chosen for work in job):
        return _known(job, segments, places)
    if any(work.leaf.field.role == "content" for work in job) and isinstance(target.claim, str):
        return content.scan(target.claim, places)
    failed = [work for work in job if work.chosen is None]
    mentions = tuple(
        found for work in failed for _, found in (*work.refused, *(("shared_span", found) for found in work.usable))
    )[:_MAX_SHOWN]
    return Finding("unknown", None, _reason(failed, segments, places), mentions)


def _known(job: list[Work], segments: Sequence[Segment], places: Sequence[Place]) -> Finding:
    by_index = {place.segment_index: place for place in places}
    elsewhere = [segment.text for segment in segments if segment.trust != USER]
    pairs = [(work.leaf.pointer, _flagged(work.chosen, by_index, elsewhere)) for work in job if work.chosen]
    whole = together(pairs, "", "parts")
    if not whole.matched_text:
        text = by_index[whole.segment_index].index.text
        whole = msgspec.structs.replace(whole, matched_text=text[whole.start : whole.end])
    return Finding("known", whole, "grounded")


def _flagged(found: Evidence, by_index: Mapping[int, Place], elsewhere: Sequence[str]) -> Evidence:
    """The evidence with what a reader should know: a rough number, a value that untrusted text has too (R-55)."""
    flags = found.flags
    if language_cues.hedged(found, by_index[found.segment_index]):
        flags = (*flags, "hedged")
    if elsewhere and any(found.matched_text in text for text in elsewhere):
        flags = (*flags, "also_untrusted")
    return found if flags is found.flags else msgspec.structs.replace(found, flags=flags)


def _reason(failed: Sequence[Work], segments: Sequence[Segment], places: Sequence[Place]) -> str:
    told = {work.reason for work in failed if work.reason} | {reason for work in failed for reason, _ in work.refused}
    for reason in _REASONS:
        if reason in told:
            return reason
    return why_absent(failed[0].leaf.value, segments, places)
