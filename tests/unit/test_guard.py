"""Hooks that misbehave (R-10, R-43, R-101): whatever they do ends in a recorded decision that does not execute."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from preflight import Executable, Held, create_preflight, inline
from preflight.errors import CallerError
from preflight.guard import Guard, refuse_reentry
from preflight.limits import DEFAULT, Limits
from preflight.testing import FakeClock, MemoryStorage
from preflight.workers import Workers
from tests.unit.gates import async_gate, gate, hooks, raiser, records, request, states

SOON = 0.05  # seconds: the time limit of a hook that never comes back


class Lying:
    """It equals everything and is true."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return True


class Exploding:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise RuntimeError


class LyingText(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class LyingObject(dict[str, Any]):
    def get(self, key: str, default: object = None) -> Any:
        return True


class Disguised:
    @property
    def __class__(self) -> type:
        return dict


class Unreadable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


async def _coroutine() -> dict[str, bool]:
    return {"approved": True}


def _generator() -> Iterator[dict[str, bool]]:
    yield {"approved": True}


# Each is made anew, since a coroutine must not be left over.
GARBAGE: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "true": lambda: True,
    "one": lambda: 1,
    "the word": lambda: "true",
    "an empty object": dict,
    "a list": lambda: [{"approved": True}],
    "a true word": lambda: {"approved": "true"},
    "a true number": lambda: {"approved": 1},
    "a lying member": lambda: {"approved": Lying()},
    "an exploding member": lambda: {"approved": Exploding()},
    "a coroutine": _coroutine,
    "a generator": _generator,
    "an exception": lambda: ValueError("approved"),
    "a class": lambda: dict,
    "a lying object": lambda: LyingObject(approved=True),
    "a lying text": lambda: LyingText("approved"),
    "a disguise": Disguised,
    "equal to all": Lying,
    "equal to nothing": Exploding,
}
RAISED: dict[str, Callable[[], BaseException]] = {
    "exception": lambda: ValueError("no"),
    "recursion": RecursionError,
    "memory": MemoryError,
    "assertion": AssertionError,
    "stop": StopIteration,
    "generator exit": GeneratorExit,
    "cancelled": asyncio.CancelledError,
    "base": lambda: BaseException("no"),
    "unreadable": Unreadable,
    "surrogate": lambda: ValueError("\ud800"),
}


def returning(make: Callable[[], Any]) -> Callable[..., Any]:
    return lambda *_given: make()


def raising(make: Callable[[], BaseException]) -> Callable[..., Any]:
    return lambda *_given: raiser(make())()


ANSWERS: dict[str, Callable[..., Any]] = {
    **{name: returning(make) for name, make in GARBAGE.items()},
    **{f"raises {name}": raising(make) for name, make in RAISED.items()},
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
def test_the_tool_gate_opens_for_nothing_but_the_exact_approval(answer: Any) -> None:
    #
    made = gate(confirm_tool_name_matches_intent=answer)
    checked = made.check(request())
    assert (checked.decision, checked.record.gate.kind) == ("ask_user", "tool_undetermined")  # type: ignore[union-attr]
    assert states(made.storage) == ["ask_user"]  # type: ignore[arg-type]


# Where nothing is said, the intent gate asks; any text is an action key.
STOPS = [
    *(("classify_when_case", name) for name in ANSWERS if name != "none"),
    *(("build_action_key", name) for name in ANSWERS if name != "the word"),
]


@pytest.mark.parametrize(("hook", "answer"), STOPS)
def test_a_broken_hook_that_nothing_may_stand_in_for_holds(hook: str, answer: str) -> None:
    #
    checked = gate(**{hook: ANSWERS[answer]}).check(request())
    assert isinstance(checked, Held)
    assert checked.record.gate is not None
    assert checked.record.gate.kind == {"classify_when_case": "hook_failed"}.get(hook, "action_key_failed")
    assert checked.record.gate.route == "definition_repair"


LOOKUPS = {name: hook for name, hook in ANSWERS.items() if name != "none"}


@pytest.mark.parametrize("answer", LOOKUPS.values(), ids=LOOKUPS.keys())
@pytest.mark.parametrize(
    "hook", ["extract_from_instruction", "measure_from_environment", "apply_field_policy", "validate_field_schema"]
)
def test_a_broken_lookup_never_makes_a_slot_known(hook: str, answer: Any) -> None:
    #
    parts = {"claims": {}, "instruction": None} if hook == "measure_from_environment" else {}
    checked = gate(**{hook: answer}).check(request(**parts))
    assert not isinstance(checked, Executable)
    assert checked.record.fields is not None
    assert {state.status for state in checked.record.fields} == {"unknown"}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS.keys())
def test_a_checklist_item_is_verified_by_nothing_but_the_word(answer: Any) -> None:
    #
    checked = gate(verify_user_checklist_item=answer).check(request(user_checklist=[{"id": "rent"}]))
    assert checked.record.user_checklist is not None
    assert [item.status for item in checked.record.user_checklist] == ["unverified"]


@pytest.mark.parametrize("status", [LyingText("unverified"), Exploding(), Lying(), True, "VERIFIED", None])
def test_a_look_alike_of_the_word_does_not_verify(status: Any) -> None:
    hook = {"verify_user_checklist_item": lambda *_: {"status": status}}
    checked = gate(**hook).check(request(user_checklist=[{"id": "rent"}]))
    assert checked.record.gate is not None
    assert checked.record.gate.kind == "value_gate"
    assert checked.record.user_checklist is not None
    assert checked.record.user_checklist[0].status == "unverified"


@pytest.mark.parametrize(
    "answer", [{"name": LyingText("amount")}, {"name": Exploding()}, {"name": "amount", "status": LyingText("known")}]
)
def test_a_look_alike_of_a_slot_s_record_demotes_it(answer: Any) -> None:
    checked = gate(apply_field_policy=lambda *_: answer).check(request())
    assert checked.record.fields is not None
    assert {(s.status, s.route) for s in checked.record.fields} == {("unknown", "definition_repair")}


@pytest.mark.parametrize("fault", RAISED.values(), ids=RAISED.keys())
@pytest.mark.parametrize("hook", ["get_advisory_notes", "format_reason"])
def test_a_broken_wording_changes_no_decision(hook: str, fault: Any) -> None:
    checked = gate(**{hook: lambda *_: raiser(fault())()}).check(request())
    assert isinstance(checked, Executable)
    assert checked.record.advisory_notes == ""
    assert checked.record.reason == "every value has a source and every condition holds"


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("hook", ["classify_when_case", "validate_field_schema", "format_reason", "get_advisory_notes"])
@pytest.mark.parametrize("in_place", [True, False])
def test_an_interrupt_is_raised_again_once_the_run_is_recorded_as_held(
    hook: str, interrupt: type[BaseException], in_place: bool
) -> None:
    storage = MemoryStorage()
    replaced = {hook: inline(raiser(interrupt())) if in_place else raiser(interrupt())}
    made = create_preflight(hooks=hooks(**replaced), storage=storage, clock=FakeClock())
    with pytest.raises(interrupt):
        made.check(request())
    assert states(storage) == ["hold"]


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_of_an_async_hook_is_raised_again_once_recorded(interrupt: type[BaseException]) -> None:
    async def hook(*_given: object) -> None:
        raise interrupt

    storage = MemoryStorage()
    made = async_gate(storage, validate_field_schema=hook)
    with pytest.raises(interrupt):
        asyncio.run(made.check(request()))
    assert states(storage) == ["hold"]


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_looking_without_recording_raises_an_interrupt_too(interrupt: type[BaseException]) -> None:
    with pytest.raises(interrupt):
        gate(validate_field_schema=raiser(interrupt())).run_preflight(request())
    with pytest.raises(interrupt):
        asyncio.run(async_gate(validate_field_schema=raiser(interrupt())).run_preflight(request()))


# inputs are frozen


def test_a_hook_cannot_change_what_it_is_given() -> None:
    # bad input 43
    refusals = []

    def hook(slot: Any, value: object, given: Any) -> None:
        for change in (
            lambda: given.claims.__setitem__("amount", 9),
            lambda: given.user_answers.__setitem__("amount", 9),
            lambda: setattr(given, "claims", {}),
            lambda: setattr(slot, "claim", 9),
            lambda: setattr(given.segments[0], "trust", "user"),
            lambda: given.segments.append(None),
            lambda: setattr(given.tool, "name", "other"),
        ):
            try:
                change()
            except (TypeError, AttributeError) as refusal:
                refusals.append(refusal)

    made = gate(validate_field_schema=hook)
    asked = made.check(request(claims={"to": "bob"}))
    answered = made.answer(asked.question.question_id, {"amount": 5}, person="u1")  # type: ignore[union-attr]
    assert len(refusals) == 7 * 3
    assert answered.record.call_arguments == {"amount": 5, "to": "bob"}  # type: ignore[union-attr]


def test_what_the_reason_s_hook_does_to_the_arguments_changes_no_call() -> None:
    def hook(decision: Any) -> str:
        decision.call_arguments["amount"] = 9_999
        return "all is well"

    checked = gate(format_reason=hook).check(request())
    assert checked.record.reason == "all is well"
    assert checked.record.call_arguments == {"amount": 500, "to": "bob"}


# time (bad input 57)


@pytest.fixture
def never() -> Iterator[threading.Event]:
    """An event that is set only when the test is over, so that no thread outlives it."""
    event = threading.Event()
    yield event
    event.set()


def test_a_hook_that_blocks_is_given_up_and_its_late_result_dropped(never: threading.Event) -> None:
    back = threading.Event()

    def hook(*_given: object) -> None:
        never.wait()
        back.set()

    made = gate(named={"hooks": hooks(validate_field_schema=hook), "hook_seconds": {"validate_field_schema": SOON}})
    checked = made.check(request(claims={"amount": 500, "to": "bob"}))
    assert isinstance(checked, Held)
    assert checked.record.fields is not None
    assert [s.note for s in checked.record.fields] == ["validate_field_schema failed"] * 2
    never.set()
    assert back.wait(5)
    assert states(made.storage) == ["hold"]  # type: ignore[arg-type]


def test_a_late_interrupt_is_dropped_with_the_late_result(never: threading.Event) -> None:
    back = threading.Event()

    def hook(*_given: object) -> None:
        never.wait()
        back.set()
        raise KeyboardInterrupt

    limits = {"validate_field_schema": SOON}
    made = gate(named={"hooks": hooks(validate_field_schema=hook), "hook_seconds": limits})
    decision = made.run_preflight(request())
    never.set()
    assert back.wait(5)
    assert decision.execution_decision == "hold"


def test_an_inline_hook_that_comes_back_late_is_dropped() -> None:
    made = gate(named={"hook_seconds": {"validate_field_schema": 0.0}})
    checked = made.check(request())
    assert isinstance(checked, Held)


def test_a_hook_on_a_thread_that_comes_back_late_is_dropped() -> None:
    table = {"hooks": hooks(validate_field_schema=lambda *_: None), "hook_seconds": {"classify_when_case": 0.0}}
    checked = gate(named=table).check(request())
    assert checked.record.gate is not None
    assert checked.record.gate.kind == "hook_failed"


def run(made: Any, **parts: Any) -> Any:
    return asyncio.run(made.check(request(**parts)))


async def _hangs(*_given: object) -> None:
    await asyncio.Event().wait()


async def _stubborn(*_given: object) -> None:
    """Swallows its cancellation, and ends when the loop closes."""
    for _ in range(2):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue


@pytest.mark.parametrize("hook", [_hangs, _stubborn])
def test_an_async_hook_that_hangs_is_given_up_in_both_faces(hook: Any) -> None:
    named = {"hook_seconds": {"validate_field_schema": SOON}}
    assert isinstance(run(async_gate(named=named, validate_field_schema=hook)), Held)
    assert isinstance(gate(named={**named, "hooks": hooks(validate_field_schema=hook)}).check(request()), Held)


def test_a_hook_that_blocks_a_thread_is_given_up_on_a_loop_too(never: threading.Event) -> None:
    named = {"hook_seconds": {"validate_field_schema": SOON}}
    assert isinstance(run(async_gate(named=named, validate_field_schema=lambda *_: never.wait())), Held)


def test_an_async_hook_that_blocked_the_loop_is_late() -> None:
    async def hook(*_given: object) -> None: ...

    named = {"hook_seconds": {"validate_field_schema": 0.0}}
    assert isinstance(run(async_gate(named=named, validate_field_schema=hook)), Held)


def test_giving_up_a_check_gives_up_its_hook() -> None:
    cancelled = []

    async def hook(*_given: object) -> None:
        try:
            entered.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def give_up() -> None:
        task = asyncio.create_task(async_gate(validate_field_schema=hook).check(request()))
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    entered = asyncio.Event()
    asyncio.run(give_up())
    assert cancelled == [True]


async def _cancels_itself(*_given: object) -> None:
    raise asyncio.CancelledError


async def _leaves(*_given: object) -> None:
    raise GeneratorExit


async def _fails(*_given: object) -> None:
    raise Unreadable


@pytest.mark.parametrize("hook", [_cancels_itself, _leaves, _fails])
def test_an_async_hook_that_raises_demotes_its_slot_in_both_faces(hook: Any) -> None:
    held = [
        run(async_gate(validate_field_schema=hook)),
        gate(named={"hooks": hooks(validate_field_schema=hook)}).check(request()),
    ]
    for checked in held:
        assert isinstance(checked, Held)
        assert {(s.status, s.route) for s in checked.record.fields or ()} == {("unknown", "definition_repair")}


def test_async_hooks_answer_in_both_faces() -> None:
    async def verify(*_given: object) -> dict[str, str]:
        return {"status": "verified"}

    class Verifier:
        async def __call__(self, *_given: object) -> None: ...

    table = {"verify_user_checklist_item": verify, "validate_field_schema": Verifier()}
    parts = {"user_checklist": [{"id": "rent"}]}
    assert isinstance(run(async_gate(**table), **parts), Executable)
    assert isinstance(gate(named={"hooks": hooks(**table)}).check(request(**parts)), Executable)


def test_an_inline_hook_that_is_async_is_told_what_to_declare() -> None:
    # a lambda hides the coroutine function, so that only its result gives it away
    checked = gate(classify_when_case=lambda *_: _coroutine()).check(request())
    assert checked.record.gate is not None
    assert "returned a coroutine" in str(checked.record.gate.diag)


# what is too large or no number (bad inputs 58, 25)


@pytest.mark.parametrize("answer", ["x" * 1_000_001, {"approved": True, "reason": "x" * 1_000_001}])
def test_a_text_beyond_the_limit_counts_as_garbage(answer: Any) -> None:
    hook = "confirm_tool_name_matches_intent"
    checked = gate(**{hook: lambda *_: answer}).check(request())
    assert checked.record.gate is not None
    assert checked.record.gate.kind == "tool_undetermined"
    assert "returned more than 1000000 characters" in str(checked.record.gate.diag)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_number_that_is_none_counts_as_garbage(number: float) -> None:
    checked = gate(validate_field_schema=lambda *_: number).check(request())
    assert {s.note for s in checked.record.fields or ()} == {"validate_field_schema failed"}


@pytest.mark.parametrize("value", [float("nan"), "\ud800", {1: 2}, object(), 10**500])
def test_a_measurement_that_is_no_json_value_fails_the_lookup(value: Any) -> None:
    hook = {"measure_from_environment": lambda *_: {"valid": True, "value": value}}
    checked = gate(**hook).check(request(claims={}))
    assert {(s.status, s.lookup_failed) for s in checked.record.fields or ()} == {("unknown", True)}


# re-entrancy (bad input 61)


@pytest.mark.parametrize("in_place", [True, False])
def test_a_hook_that_asks_the_gate_is_refused(in_place: bool) -> None:
    inner: list[Any] = []

    def hook(*_given: object) -> None:
        inner.append(made.check(request(call_id="inner")))
        with pytest.raises(CallerError, match="called the gate again"):
            made.run_preflight(request())

    table = {"validate_field_schema": inline(hook) if in_place else hook}
    made = create_preflight(hooks=hooks(**table), storage=MemoryStorage(), clock=FakeClock())
    assert isinstance(made.check(request()), Executable)
    assert {checked.decision for checked in inner} == {"hold"}


def test_an_async_hook_that_asks_the_gate_is_refused() -> None:
    inner: list[Any] = []

    async def hook(*_given: object) -> None:
        inner.append(await made.check(request(call_id="inner")))

    made = async_gate(validate_field_schema=hook)
    assert isinstance(run(made), Executable)
    assert {checked.decision for checked in inner} == {"hold"}


def test_outside_a_hook_the_gate_may_be_asked() -> None:
    gate().check(request())
    assert refuse_reentry() is None  # type: ignore[func-returns-value]


# the pool of threads (bad input 57: they cannot be killed, so their number is bounded)


def test_with_every_thread_hung_a_decision_holds(never: threading.Event) -> None:
    limits = Limits(hook_threads=1, hook_seconds=SOON)
    table = hooks(validate_field_schema=lambda *_: never.wait())
    made = create_preflight(hooks=table, storage=MemoryStorage(), clock=FakeClock(), limits=limits)
    assert [made.check(request(call_id=str(n))).decision for n in range(2)] == ["hold", "hold"]
    first, second = records(made.storage)  # type: ignore[arg-type]
    assert {s.note for s in first.fields or ()} == {"validate_field_schema failed", "extract_from_instruction failed"}
    assert {s.note for s in second.fields or ()} == {"validate_field_schema failed", "extract_from_instruction failed"}


def test_with_every_thread_hung_a_loop_holds_too(never: threading.Event) -> None:
    limits = Limits(hook_threads=1, hook_seconds=SOON)
    made = async_gate(named={"limits": limits}, validate_field_schema=lambda *_: never.wait())
    assert isinstance(run(made), Held)


def test_a_busy_pool_is_waited_for() -> None:
    # one thread, many checks at once: none holds only because the others are at work
    limits = Limits(hook_threads=1)
    table = hooks(validate_field_schema=lambda *_: None)
    made = create_preflight(hooks=table, storage=MemoryStorage(), clock=FakeClock(), limits=limits)
    decided: list[str] = []
    threads = [
        threading.Thread(target=lambda n=n: decided.append(made.check(request(call_id=str(n))).decision))
        for n in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert decided == ["execute"] * 20


def test_a_busy_pool_is_waited_for_on_a_loop_too() -> None:
    async def many() -> list[Any]:
        return await asyncio.gather(*(made.check(request(call_id=str(n))) for n in range(20)))

    made = async_gate(named={"limits": Limits(hook_threads=1)}, validate_field_schema=lambda *_: None)
    assert {checked.decision for checked in asyncio.run(many())} == {"execute"}


def test_a_thread_outlives_a_job_that_raises() -> None:
    workers, done = Workers(1), threading.Event()
    assert workers.run(raiser(SystemExit()))
    assert workers.run(done.set, 5)
    assert done.wait(5)


def test_a_late_result_for_a_closed_loop_is_dropped(never: threading.Event) -> None:
    returned = threading.Event()

    def hook(*_given: object) -> None:
        never.wait()
        returned.set()

    made = async_gate(named={"hook_seconds": {"validate_field_schema": SOON}}, validate_field_schema=hook)
    assert isinstance(run(made, claims={"amount": 500, "to": "bob"}), Held)
    never.set()
    assert returned.wait(5)


def test_a_fault_of_the_program_itself_reaches_the_caller() -> None:
    def path() -> Any:
        yield from ()
        raise BaseException("unforeseen")  # noqa: TRY002  nothing in a decision raises one

    guard = Guard(hooks(validate_field_schema=lambda *_: None), DEFAULT)
    with pytest.raises(BaseException, match="unforeseen"):
        guard.drive(path())
