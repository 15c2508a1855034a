"""The shipped hooks with a locator behind them: asked only for what grounding did not find, and never believed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from preflight.grounding import Context, support
from preflight.grounding.matching import claimed_spans
from preflight.grounding.quoting import own_words
from preflight.hooks.shipped import ShippedHooks
from preflight.locators.protocol import Locator, Pointing, Spoken, Wanted
from preflight.model.evidence import Evidence, Located, NotGrounded
from preflight.model.request import Request
from preflight.model.slot import Slot

_LOG = logging.getLogger("preflight.locators")
_MOST_WANTED = 32
_MOST_TEXT = 200_000
_ABSENT = frozenset(("not_found", "untrusted_only"))
"""The only reasons to ask: whatever was found and refused (corrected, negated, ambiguous, quoted) stays refused.

Both say that no words of the user's were found; asking for one alone, untrusted text would decide (R-55)."""


class LocatingHooks(ShippedHooks):
    """`ShippedHooks`, and a locator for values that were not found.

    `locator` points, code decides: a place counts where it lies in a segment of the current request that the user
    wrote, its words read as the value (`preflight.grounding.support`), and no other argument stands on them (R-52).
    Secret fields are not shown to it. Everything else is as in `ShippedHooks`, whose keywords are taken.
    """

    def __init__(self, locator: Locator, **shipped: Any) -> None:
        """Take the locator, and what `ShippedHooks` takes."""
        super().__init__(**shipped)
        self._locator = locator
        self._located: tuple[Request | None, Mapping[str, Located]] = (None, {})

    def extract_from_instruction(self, slot: Slot, request: Request) -> Located | NotGrounded | None:
        """Find the claim as `ShippedHooks` does; where it is nowhere, ask the locator and check what it names.

        Not inline: a locator may wait for a network, so the hook's time limit must be able to end it (R-101).
        """
        found = super().extract_from_instruction(slot, request)
        if type(found) is not NotGrounded or found.reason not in _ABSENT:
            return found
        return self._places(request).get(slot.name, found)

    def _places(self, request: Request) -> Mapping[str, Located]:
        """Ask once for all slots of a request that were not found."""
        last, places = self._located
        if last is not request:
            places = self._ask(request)
            self._located = (request, places)
        return places

    def _ask(self, request: Request) -> dict[str, Located]:
        findings = self._findings(request)
        absent = {
            slot.name: slot
            for slot in self._claimed(request)
            if slot.name in findings
            and findings[slot.name].reason in _ABSENT
            and not request.rules.field(slot.name).secret
        }
        spoken = _spoken(request)
        if not absent or not spoken or len(absent) > _MOST_WANTED or sum(len(s.text) for s in spoken) > _MOST_TEXT:
            return {}
        wanted = [Wanted(slot.name, slot.schema, slot.claim) for slot in absent.values()]
        try:
            named = dict(self._locator(spoken, wanted))
        except Exception as fault:  # noqa: BLE001  without help the slot is asked about, as it would be anyway
            _LOG.warning("a locator failed: %s", type(fault).__name__)
            return {}
        taken = [finding.evidence for finding in findings.values() if finding.evidence is not None]
        return _checked(request, absent, named, {each.segment_index for each in spoken}, taken)


def _spoken(request: Request) -> list[Spoken]:
    """The segments that may ground a value now: the user's, of the current request, their own words only."""
    segments = request.segments or ()
    current = max((s.request for s in segments if s.grounds and s.request is not None), default=None)
    return [
        Spoken(at, own_words(segment.text))
        for at, segment in enumerate(segments)
        if segment.grounds and segment.text.strip() and segment.request in (None, current)
    ]


def _checked(
    request: Request, absent: Mapping[str, Slot], named: Mapping[str, Pointing], heard: set[int], taken: list[Evidence]
) -> dict[str, Located]:
    """Keep the places whose words read as the value and stand for nothing else."""
    context = Context.of(request.utterance, request.said_at)
    kept: dict[str, Located] = {}
    for name, slot in absent.items():
        place = _place(named.get(name), slot.claim, heard)
        if place is None:
            continue
        rules = request.rules.field(name)
        evidence = support(
            request.segments or (), place, slot.schema, context, name=name, role=rules.role, hints=rules.hints
        )
        if evidence is None or evidence.grade not in ("stated", "derived") or any(_meet(evidence, t) for t in taken):
            continue
        taken.append(evidence)
        kept[name] = place
    return kept


def _place(pointing: object, claim: object, heard: set[int]) -> Located | None:
    if type(pointing) is not Pointing or type(pointing.segment_index) is not int or pointing.segment_index not in heard:
        return None
    span = pointing.span
    if type(span) is not tuple or len(span) != 2:
        return None
    return Located(claim, pointing.segment_index, *span)


def _meet(one: Evidence, other: Evidence) -> bool:
    """Whether two arguments would stand on the same words (R-52)."""
    return any(
        at == where and start < stop and begin < end
        for at, start, end in claimed_spans(one)
        for where, begin, stop in claimed_spans(other)
    )


__all__ = ["LocatingHooks"]
