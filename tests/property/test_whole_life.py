"""A gate's whole life in any order of calls, over both stores at once (P10, P11, P13, P14, P20)."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from preflight import AnswerRefused, Asking, Executable, Held, NotExecutable, Preflight, ProviderError, ToolCall
from preflight.clock import seconds_of
from preflight.ports import Query
from preflight.storage import open_storage
from preflight.testing import FakeClock, MemoryStorage
from tests.unit.gates import gate, request

VALID_SECONDS, QUESTION_SECONDS, SKEW = 60, 7 * 24 * 3600, 5
Both = tuple[Any, Any]


class WholeLife(RuleBasedStateMachine):
    """Every step is taken with a gate in memory and one in SQLite; both must answer alike.

    Each action has a key of its own by its call, so that only the life of one decision is in play.
    """

    executables: Bundle[Both] = Bundle("executables")
    asks: Bundle[Both] = Bundle("asks")
    claims: Bundle[Both] = Bundle("claims")

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.gates: list[Preflight] = [self.made(MemoryStorage()), self.made(open_storage(":memory:"))]
        self.calls: list[str] = []
        self.born: dict[str, float] = {}  # when a decision was made, by the id it has in the first store
        self.ended: dict[str, str] = {}  # the last state of every started decision
        self.answered: set[str] = set()

    def made(self, storage: Any) -> Preflight:
        return gate(storage, self.clock, build_action_key=lambda given, _fixed: str(given.utterance.call_id))

    def teardown(self) -> None:
        for made in self.gates:
            made.close()

    def both(self, act: Any, *pairs: Both) -> Both:
        """Do the same with both gates; their answers have one type and one status."""
        first, second = (attempt(act, made, [pair[at] for pair in pairs]) for at, made in enumerate(self.gates))
        assert type(first) is type(second), (first, second)
        for name in ("status", "code", "decision"):
            assert getattr(first, name, None) == getattr(second, name, None)
        return first, second

    def tool(self, call: ToolCall) -> dict[str, object]:
        self.calls.append(call.decision_id)
        return call.arguments

    @rule(target=executables, call=st.integers(0, 3))
    def check_a_whole_request(self, call: int) -> Both:
        found = self.both(lambda made: made.check(request(call_id=f"e{call}")))
        assert isinstance(found[0], Executable)
        self.born.setdefault(found[0].decision_id, self.clock.now())
        return found

    @rule(target=asks, call=st.integers(0, 3))
    def check_an_open_request(self, call: int) -> Both:
        found = self.both(lambda made: made.check(request(call_id=f"a{call}", claims={})))
        if isinstance(found[0], Executable):
            self.born.setdefault(found[0].decision_id, self.clock.now())
        return found

    @rule(target=executables, pair=asks, amount=st.integers(1, 3), person=st.sampled_from(["u1", "u2"]))
    def answer(self, pair: Both, amount: int, person: str) -> Both:
        if not isinstance(pair[0], Asking):
            return pair
        question = pair[0].question
        found = self.both(
            lambda made, asked: made.answer(asked.question.question_id, {"amount": amount, "to": "eve"}, person=person),
            pair,
        )
        expired = self.clock.now() >= seconds_of(question.expires_at)
        refused = person != "u1" or expired or question.question_id in self.answered
        assert isinstance(found[0], AnswerRefused) is refused
        if refused:
            return pair
        self.answered.add(question.question_id)
        assert isinstance(found[0], Executable | Held)
        if isinstance(found[0], Executable):
            self.born.setdefault(found[0].decision_id, self.clock.now())
        return found

    def may_start(self, decision: Any) -> bool:
        if not isinstance(decision, Executable) or decision.decision_id in self.ended:
            return False
        age = self.clock.now() - self.born[decision.decision_id]
        return -SKEW <= age < VALID_SECONDS

    @rule(pair=executables, fault=st.sampled_from([None, ProviderError("no"), TimeoutError("late")]))
    def execute(self, pair: Both, fault: Exception | None) -> None:
        started = self.may_start(pair[0])

        def tool(call: ToolCall) -> object:
            self.tool(call)
            if fault is not None:
                raise fault
            return call.arguments

        found = self.both(lambda made, decision: made.execute_if_ready(decision, tool), pair)
        status = {None: "executed", ProviderError: "failed", TimeoutError: "in_doubt"}[type(fault) if fault else None]
        assert found[0].status == (status if started else "held")
        if started:
            self.ended[pair[0].decision_id] = status

    @rule(target=claims, pair=executables)
    def claim(self, pair: Both) -> Both:
        started = self.may_start(pair[0])
        found = self.both(lambda made, decision: made.claim(decision), pair)
        assert (type(found[0]).__name__ == "Claimed") is started
        if started:
            self.ended[pair[0].decision_id] = "executing"
            for claimed in found:
                self.tool(claimed.call)
        return found

    @rule(pair=consumes(claims), how=st.sampled_from(["settle", "fail", "refused", "lost"]))
    def end(self, pair: Both, how: str) -> None:
        if type(pair[0]).__name__ != "Claimed" or how == "lost":
            return  # the process died: nobody will tell
        acts: dict[str, Any] = {
            "settle": lambda made, claimed: made.settle(claimed, {}),
            "fail": lambda made, claimed: made.fail(claimed, "late"),
            "refused": lambda made, claimed: made.fail(claimed, "no", refused=True),
        }
        decision = pair[0].record.decision_id
        found = self.both(acts[how], pair)
        if self.ended[decision] != "executing":
            assert isinstance(found[0], NotExecutable)
        else:
            self.ended[decision] = {"settle": "executed", "fail": "in_doubt", "refused": "failed"}[how]
            assert found[0].status == self.ended[decision]

    @precondition(lambda self: "executing" in self.ended.values() or "in_doubt" in self.ended.values())
    @rule(outcome=st.sampled_from(["executed", "failed"]))
    def resolve(self, outcome: Any) -> None:
        doubts = [made.in_doubt() for made in self.gates]
        assert len(doubts[0]) == len(doubts[1])
        for made, found in zip(self.gates, doubts, strict=True):
            made.resolve(found[0].decision_id, outcome, by="ann", evidence="the ledger")
        self.ended[doubts[0][0].decision_id] = "settled"

    @rule(pair=executables)
    def resolve_what_is_certain(self, pair: Both) -> None:
        if isinstance(pair[0], Executable) and self.ended.get(pair[0].decision_id) not in ("executing", "in_doubt"):
            found = self.both(
                lambda made, decision: made.resolve(decision.decision_id, "failed", by="ann", evidence="none"), pair
            )
            assert isinstance(found[0], NotExecutable)

    @rule(seconds=st.sampled_from([-10, -4, 1, 30, 59, 60, QUESTION_SECONDS]))
    def time_passes(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule(garbage=st.sampled_from([None, {}, [], {"tool": 5}]))
    def check_garbage(self, garbage: Any) -> None:
        assert isinstance(self.both(lambda made: made.check(garbage))[0], Held)

    @invariant()
    def nothing_is_called_twice(self) -> None:
        assert len(self.calls) == len(set(self.calls))

    @invariant()
    def doubts_are_exactly_the_starts_without_an_outcome(self) -> None:
        open_ = sorted(name for name, state in self.ended.items() if state in ("executing", "in_doubt"))
        assert sorted(record.decision_id for record in self.gates[0].in_doubt()) == open_
        assert len(self.gates[1].in_doubt()) == len(open_)

    @invariant()
    def every_chain_is_as_the_model_says(self) -> None:
        for name, state in self.ended.items():
            assert self.gates[0].storage.steps(name)[-1].record.execution_decision == state

    @invariant()
    def both_stores_hold_as_many_records(self) -> None:
        first, second = (
            [r.record.execution_decision for r in made.storage.find(Query(limit=9_999))] for made in self.gates
        )
        assert first == second


def attempt(act: Any, made: Preflight, given: list[Any]) -> Any:
    """What an act returns, or the error it raises in words."""
    try:
        return act(made, *given)
    except (AnswerRefused, NotExecutable) as fault:
        return fault


TestWholeLife = WholeLife.TestCase
TestWholeLife.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
