"""The comparison with the reference notices a broken core: each bug is put in by hand, and must be seen.

A bug that no vector of the small scope shows would pass every other test here; this one says that the
scope and the reference are worth something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, product
from typing import Any

import msgspec
import pytest

from preflight.conformance import run_vector
from preflight.core import checklist, decide, fixed, lookup, outcome, policy, tool_gate, verdict
from preflight.core.schema import Plan, Walked
from preflight.core.setup import Setup
from preflight.model.checklist import ItemState, Match
from preflight.model.condition import ConditionState
from preflight.model.instruction import Segment
from preflight.model.json_value import is_object
from preflight.model.request import Request
from preflight.model.slot import FieldState
from spec.differential import disagreements
from spec.reference import value_gate
from tests.exhaustive.spaces import (
    Object,
    decision_space,
    intent_gate_space,
    lookup_space,
    span_space,
    tool_gate_space,
)

Patch = pytest.MonkeyPatch
Bug = Callable[[Patch], None]

# Each space with a step that is prime and divides none of its dimensions: a few hundred vectors in all.
SPACES: list[tuple[Callable[[], Iterator[Object]], int]] = [
    (decision_space, 5),
    (tool_gate_space, 17),
    (intent_gate_space, 61),
    (lookup_space, 97),
    (span_space, 53),
]


def untrusted_is_read(patch: Patch) -> None:
    """R-13: any segment grounds a value."""
    real = lookup.support

    def support(segments: Any, *given: Any) -> Any:
        return real(tuple(Segment(segment.text, "user") for segment in segments), *given)

    patch.setattr(lookup, "support", support)


def a_failing_source_falls_through(patch: Patch) -> None:
    """R-43: a broken lookup lets the next source answer."""
    patch.setattr(lookup.Lookup, "_failed", lambda *_: None)


def the_first_source_is_erased(patch: Patch) -> None:
    """R-4: what is inherited forgets where it came from."""
    real = lookup.Lookup._known

    def known(*given: Any, first: str | None = None, **named: Any) -> FieldState:
        return real(*given, **named)

    patch.setattr(lookup.Lookup, "_known", known)


def a_truthy_answer_approves(patch: Patch) -> None:
    """R-5: anything true opens the tool gate."""

    def read(answer: Any) -> tuple[Match, str | None]:
        return Match(bool(answer.get("approved")) if is_object(answer) else answer is True), None

    patch.setattr(tool_gate, "read", read)


def an_unknown_passes(patch: Patch) -> None:
    """R-30: a slot that is not confirmed does not stop the call."""
    patch.setattr(verdict, "unknown_states", lambda walked: [])


def a_strange_word_means_now(patch: Patch) -> None:
    """R-23: what is none of the four words falls to `immediate`."""
    real = fixed.settle

    def settle(request: Request, when: object, said: object) -> Any:
        return real(request, when if when in (None, *fixed.WHEN_CASES) else "immediate", said)

    patch.setattr(fixed, "settle", settle)


def one_more_ask(patch: Patch) -> None:
    """R-22, R-25: the gates ask three times."""
    real = outcome.Run.__init__

    def begin(run: outcome.Run, request: Request, setup: Setup) -> None:
        more = msgspec.structs.replace(setup.limits, intent_attempts=3, tool_attempts=3)
        real(run, request, msgspec.structs.replace(setup, limits=more))

    patch.setattr(outcome.Run, "__init__", begin)


def the_claim_is_believed(patch: Patch) -> None:
    """R-3, R-41: a place inside a user segment is enough; the text that stands there is not read."""
    real = lookup.support

    def support(segments: Any, place: Any, schema: Any, *given: Any) -> Any:
        text = segments[place.segment_index].text[place.start : place.end]
        believed = msgspec.structs.replace(place, value=text)
        return real(segments, believed, {"type": "string"}, *given)

    patch.setattr(lookup, "support", support)


def the_value_is_lost(patch: Patch) -> None:
    """The slot is known, and its value is not in the record."""
    real = lookup.Lookup._known

    def known(*given: Any, **named: Any) -> FieldState:
        return msgspec.structs.replace(real(*given, **named), value="")

    patch.setattr(lookup.Lookup, "_known", known)


def an_unverified_item_passes(patch: Patch) -> None:
    """R-61: the checklist is not verified."""
    real = checklist.verified

    def verified(item: Any, answer: Any) -> ItemState:
        return msgspec.structs.replace(real(item, answer), status="verified")

    patch.setattr(checklist, "verified", verified)


def pending_excuses_at_the_trigger(patch: Patch) -> None:
    """R-29: a slot that may wait for the trigger does not block there either."""
    real = verdict.blocking
    patch.setattr(verdict, "blocking", lambda walked, phase: real(walked, "at_instruction"))


def the_policy_promotes(patch: Patch) -> None:
    """R-44: what the field policy says is believed."""

    def ruled(found: FieldState, answer: Any) -> FieldState:
        if type(answer) is FieldState:
            return answer
        known = {name: answer[name] for name in FieldState.__struct_fields__ if name in answer} if answer else {}
        return msgspec.structs.replace(found, **known)

    patch.setattr(lookup, "ruled", ruled)


def a_refused_value_passes(patch: Patch) -> None:
    """R-44: only an exception of the field's schema counts, a reason does not."""
    real = policy.validated
    patch.setattr(lookup, "validated", lambda state, refusal: real(state, None if refusal is False else refusal))


def the_payload_is_not_validated(patch: Patch) -> None:
    """R-28: the assembled arguments may be anything."""
    patch.setattr(Plan, "validate", lambda *_: ())


def a_raw_setting_counts(patch: Patch) -> None:
    """R-14: the wrapper and its label are not looked at."""

    def set_before(self: lookup.Lookup, slot: Any) -> FieldState | None:
        wrapper = self.request.pre_set_data.get(slot.name)
        value = wrapper.get("value") if is_object(wrapper) else wrapper
        return self._found(slot, value, "pre_set_data")

    patch.setattr(lookup.Lookup, "_set_before", set_before)


def any_run_may_be_inherited(patch: Patch) -> None:
    """R-42: a run that failed is a baseline."""
    real = lookup.prior_fields

    def prior_fields(prior: Any) -> Any:
        return real({**prior, "execution_decision": "executed"} if is_object(prior) else prior)

    patch.setattr(lookup, "prior_fields", prior_fields)


def the_schema_is_read_before_the_gate(patch: Patch) -> None:
    """R-26: a tool that was not confirmed is read."""
    real = decide.fixed_checklist.phase_of

    def phase_of(request: Request, when: Any) -> Any:
        Setup().plan_for(request.tool).declared  # type: ignore[union-attr]  # noqa: B018  raises where it is unreadable
        return real(request, when)

    patch.setattr(decide.fixed_checklist, "phase_of", phase_of)


BUGS: list[Bug] = [
    untrusted_is_read,
    a_failing_source_falls_through,
    the_first_source_is_erased,
    a_truthy_answer_approves,
    an_unknown_passes,
    a_strange_word_means_now,
    one_more_ask,
    the_claim_is_believed,
    the_value_is_lost,
    an_unverified_item_passes,
    pending_excuses_at_the_trigger,
    the_policy_promotes,
    a_refused_value_passes,
    the_payload_is_not_validated,
    a_raw_setting_counts,
    any_run_may_be_inherited,
    the_schema_is_read_before_the_gate,
]


def noticed_by() -> str | None:
    """The first space in which core and reference disagree."""
    for space, step in SPACES:
        for vector in islice(space(), 0, None, step):
            if disagreements(run_vector, [vector]):
                return space.__name__
    return None


def test_without_a_bug_nothing_is_noticed() -> None:
    assert noticed_by() is None


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_a_bug_is_noticed(bug: Bug, monkeypatch: Patch) -> None:
    bug(monkeypatch)
    assert noticed_by() is not None


# The order of R-30 with conditions, which the vectors do not have: everything open in every combination.

ROUTES = (None, "ask_user", "system_lookup", "definition_repair")
CONDITIONS = ("none", "met", "unmet", "ask_user", "definition_repair")


def judged_differently() -> list[tuple[Any, ...]]:
    """The combinations for which core and reference decide differently at the value gate."""
    found = []
    for slot, item, condition, valid in product(ROUTES, ROUTES, CONDITIONS, (True, False)):
        decision, gate = verdict.judge(findings(slot, item, condition, valid=valid), "at_trigger", {}, {}, 2)
        open_condition = condition if condition in ROUTES else None
        routes = [route for route in (slot, item, open_condition) if route is not None]
        if (decision, gate.kind) != value_gate(routes, payload_valid=valid, unmet=condition == "unmet"):
            found.append((slot, item, condition, valid))
    return found


def findings(slot: Any, item: Any, condition: str, *, valid: bool) -> verdict.Findings:
    """What the value gate decides from: a slot, an item and a condition, open by their routes or settled."""
    field = FieldState("a", "unknown" if slot else "known", None, None, "", route=slot)
    state = ItemState("i", "", "unverified" if item else "verified", None, item)
    status: Any = {"met": "met", "unmet": "unmet"}.get(condition, "unknown")
    route: Any = condition if condition in ROUTES else None
    conditions = () if condition == "none" else (ConditionState("c", "user", status, "", route=route),)
    walked = Walked(fields=(field,))
    return verdict.Findings(walked, verdict.unknown_states(walked), (state,), conditions, () if valid else ("wrong",))


def test_the_value_gate_decides_in_the_order_of_r30() -> None:
    assert judged_differently() == []


def unmet_is_ignored(patch: Patch) -> None:
    patch.setattr(verdict, "unmet_conditions", lambda conditions: ())


def asking_comes_first(patch: Patch) -> None:
    real = verdict._decide

    def decide_(unmet: Any, routes: Any, *rest: Any) -> Any:
        return real(() if "ask_user" in routes else unmet, routes, *rest)

    patch.setattr(verdict, "_decide", decide_)


def broken_hooks_are_asked_about(patch: Patch) -> None:
    real = verdict._decide
    patch.setattr(verdict, "_decide", lambda unmet, routes, *rest: real(unmet, ["ask_user" for _ in routes], *rest))


@pytest.mark.parametrize(
    "bug", [unmet_is_ignored, asking_comes_first, broken_hooks_are_asked_about], ids=lambda bug: bug.__name__
)
def test_a_bug_at_the_value_gate_is_noticed(bug: Bug, monkeypatch: Patch) -> None:
    bug(monkeypatch)
    assert judged_differently() != []
