"""From a decision's id to the call (R-74 to R-77): what is refused, what is called, what is recorded."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from preflight import Executable, Failed, FieldRules, InDoubt, Preflight, ProviderError, Refused, ToolCall, ToolRules
from preflight.codec import encode
from preflight.errors import CallerError, Erased, HookError, NotExecutable, StorageError
from preflight.executor import CANCELLED, META_KEY, Executor, never
from preflight.limits import DEFAULT
from preflight.model.condition import ConditionState
from preflight.results import Claimed, Executed
from preflight.secrecy.documents import Secrecy
from preflight.secrecy.safekeeping import default_signer, default_vault
from preflight.signing import HmacKey, Keyring
from preflight.testing import FakeClock, MemoryStorage, sample_decision
from tests.unit.gates import TOOL, async_gate, executable, gate, raiser, records, request, states


class Counter:
    """A tool that counts its calls."""

    def __init__(self, result: object = None) -> None:
        self.calls: list[ToolCall] = []
        self.result = result

    def __call__(self, call: ToolCall) -> object:
        self.calls.append(call)
        return self.result


class Unreadable(Exception):
    """A fault whose text cannot be had."""

    def __str__(self) -> str:
        raise ValueError


class Failing(MemoryStorage):
    """A store of which one method raises."""

    def __init__(self, method: str, fault: BaseException) -> None:
        super().__init__()
        self.method, self.fault, self.on = method, fault, False

    def __getattribute__(self, name: str) -> Any:
        if name != "method" and name == object.__getattribute__(self, "__dict__").get("method") and self.on:
            return raiser(self.fault)
        return super().__getattribute__(name)


def test_the_tool_gets_what_the_record_says_and_the_decision_as_idempotency_key() -> None:
    tool = Counter({"content": []})
    made = gate()
    decision = executable(made)
    executed = made.execute_if_ready(decision, tool)
    assert isinstance(executed, Executed)
    assert tool.calls == [
        ToolCall(
            "bank", "transfer", {"amount": 500, "to": "bob"}, decision.decision_id, {META_KEY: decision.decision_id}
        )
    ]
    assert executed.result == {"content": []}


def test_the_result_is_recorded_as_a_digest_and_not_as_text() -> None:
    made = gate()
    executed = made.execute_if_ready(executable(made), Counter({"secret": "s3cr3t"}))
    assert executed.record is not None
    assert executed.record.outcome is not None
    assert executed.record.outcome.result_digest == hashlib.sha256(b'{"secret":"s3cr3t"}').hexdigest()
    assert b"s3cr3t" not in encode(executed.record)


@pytest.mark.parametrize("form", [lambda d: d, lambda d: d.record, lambda d: d.decision_id])
def test_a_decision_its_record_or_its_id_may_be_given(form: Callable[[Executable], Any]) -> None:
    made = gate()
    assert made.execute_if_ready(form(executable(made)), Counter()).status == "executed"


@pytest.mark.parametrize("garbage", [None, 5, b"id", {"decision_id": "x"}, ["x"]])
def test_anything_else_is_no_decision(garbage: Any) -> None:
    with pytest.raises(CallerError, match="is no decision"):
        gate().execute_if_ready(garbage, Counter())


def test_only_the_id_of_a_record_is_used() -> None:
    made, tool = gate(), Counter()
    record = executable(made).record
    made.execute_if_ready(msgspec.structs.replace(record, call_arguments={"amount": 9}), tool)
    assert tool.calls[0].arguments == {"amount": 500, "to": "bob"}


# what may not start


def starter(storage: Any, clock: FakeClock, rules: str | None = None, recheck: Any = never) -> Executor:
    """An executor as `create_preflight` makes it, over hand-made records and with rules of this digest."""
    signer, secrets = default_signer(storage, clock), Secrecy(default_vault(storage, clock))
    return Executor(storage, clock, DEFAULT, lambda: rules, recheck, signer=signer, secrets=secrets)


def refused(made: Preflight, decision: Any, **named: Any) -> str:
    """The code of a refusal, after which nothing was called and nothing was recorded."""
    tool, before = Counter(), made.storage._log[:]  # type: ignore[attr-defined]
    answer = made.execute_if_ready(decision, tool, **named)
    assert isinstance(answer, Refused)
    assert tool.calls == []
    assert made.storage._log == before  # type: ignore[attr-defined]
    return answer.code


def test_an_unknown_id_is_refused() -> None:
    assert refused(gate(), "no such id") == "not_found"


def test_what_is_no_execute_is_refused() -> None:
    made = gate()
    held = made.check(request(claims={}))
    assert refused(made, held) == "not_execute"


def test_a_step_of_an_execution_is_no_decision() -> None:
    made = gate()
    executed = made.execute_if_ready(executable(made), Counter())
    assert executed.record is not None
    assert refused(made, executed.record.record_id) == "already_started"


@pytest.mark.parametrize(
    ("passed", "code"), [(59.999, None), (60, "expired"), (10**6, "expired"), (-5, None), (-5.001, "not_yet_valid")]
)
def test_a_decision_starts_within_its_time_and_the_skew_of_clocks(passed: float, code: str | None) -> None:
    clock = FakeClock()
    made = gate(clock=clock)
    decision = executable(made)
    clock.advance(passed)
    answer = made.execute_if_ready(decision, Counter())
    assert getattr(answer, "code", None) == code


@pytest.mark.parametrize(("part", "code"), [("not_before", "not_yet_valid"), ("not_after", "expired")])
def test_a_decision_without_its_times_never_starts(part: str, code: str) -> None:
    times = {"not_before": "2026-03-01T09:00:00Z", "not_after": "2026-03-01T09:01:00Z", part: None}
    storage = MemoryStorage()
    made = starter(storage, FakeClock())
    storage.append(sample_decision("d1", **times), signer=made._signer)
    answer = made.claim("d1", None)
    assert isinstance(answer, Refused)
    assert answer.code == code


@pytest.mark.parametrize(
    "change",
    [
        {"description": "now it does more"},
        {"title": "Transfer"},
        {"annotations": {"readOnlyHint": True}},
        {"outputSchema": {"type": "object"}},
        {"inputSchema": {"type": "object"}},
        {"server": "another"},
        {"name": "transfer2"},
    ],
)
def test_a_tool_that_changed_since_is_not_called(change: dict[str, Any]) -> None:
    made = gate()
    assert refused(made, executable(made), tool={**TOOL, **change}) == "tool_changed"


def test_the_same_tool_listed_again_is_called() -> None:
    made = gate()
    assert made.execute_if_ready(executable(made), Counter(), tool=dict(reversed(TOOL.items()))).status == "executed"


def test_changed_rules_are_refused() -> None:
    storage, clock = MemoryStorage(), FakeClock()
    decision = executable(gate(storage, clock))
    answer = starter(storage, clock, "other rules").claim(decision.decision_id, None)
    assert isinstance(answer, Refused)
    assert answer.code == "rules_changed"


def test_a_decision_starts_once() -> None:
    made, tool = gate(), Counter()
    decision = executable(made)
    assert made.execute_if_ready(decision, tool).status == "executed"
    again = made.execute_if_ready(decision, tool)
    assert isinstance(again, Refused)
    assert again.code == "already_started"
    assert len(tool.calls) == 1


def test_a_started_decision_is_called_started_even_when_it_expired() -> None:
    clock = FakeClock()
    made = gate(clock=clock)
    decision = executable(made)
    made.execute_if_ready(decision, Counter())
    clock.advance(1_000)
    assert refused(made, decision) == "already_started"


def test_one_run_at_a_time_under_a_key() -> None:
    made = gate()
    first, second = executable(made), executable(made, call_id="c2")
    assert isinstance(made.claim(first), Claimed)
    assert refused(made, second) == "key_busy"
    lost = made.claim(second)
    assert isinstance(lost, Refused)
    assert lost.why.endswith(
        f"it is decision `{first.decision_id}`; if it does not end by itself, `preflight in-doubt` lists it; a person "
        f"finds out what came of it, and `preflight settle {first.decision_id}` with the outcome lets others run"
    )


def test_another_key_may_run_meanwhile() -> None:
    made = gate(build_action_key=lambda given, _fixed: given.utterance.call_id)
    first, second = executable(made), executable(made, call_id="c2")
    assert isinstance(made.claim(first), Claimed)
    assert isinstance(made.claim(second), Claimed)


# conditions that are checked again at the start


@pytest.mark.parametrize(
    ("recheck", "age", "starts"),
    [
        (lambda *_: True, 11, True),
        (lambda *_: False, 11, False),
        (lambda *_: None, 11, False),
        (lambda *_: 1, 11, False),
        (raiser(ValueError("no")), 11, False),
        (lambda *_: False, 10, True),
    ],
)
def test_a_condition_found_too_long_ago_must_hold_again(recheck: Any, age: float, starts: bool) -> None:
    storage, clock = MemoryStorage(), FakeClock()
    clock_text = "2026-03-01T09:00:00.000000+00:00"
    state = ConditionState("c", "provider", "met", clock_text, "it holds", max_age_seconds=10)
    forever = ConditionState("f", "provider", "met", clock_text, "it holds")
    record = sample_decision("d1", conditions=(forever, state), not_before=clock_text, not_after="2026-03-01T10:00:00Z")
    made = starter(storage, clock, record.rules_digest, recheck)
    storage.append(record, signer=made._signer)
    clock.advance(age)
    answer = made.claim("d1", None)
    assert isinstance(answer, Claimed) is starts
    assert getattr(answer, "code", "condition_unmet") == "condition_unmet"


@pytest.mark.parametrize(
    ("recheck", "told"),
    [
        (lambda *_: False, "condition `c` does not hold any more: it holds"),
        (raiser(HookError("no connection")), "whether condition `c` still holds cannot be told: no connection"),
        (raiser(OSError("gone")), "whether condition `c` still holds cannot be told: OSError: gone"),
    ],
)
def test_a_condition_that_cannot_be_told_is_not_said_to_have_ended(recheck: Any, told: str) -> None:
    storage, clock = MemoryStorage(), FakeClock()
    at = "2026-03-01T09:00:00.000000+00:00"
    state = ConditionState("c", "provider", "met", at, "it holds", max_age_seconds=10)
    record = sample_decision("d1", conditions=(state,), not_before=at, not_after="2026-03-01T10:00:00Z")
    made = starter(storage, clock, record.rules_digest, recheck)
    storage.append(record, signer=made._signer)
    clock.advance(11)
    answer = made.claim("d1", None)
    assert isinstance(answer, Refused)
    assert (answer.code, answer.why) == ("condition_unmet", told)


# how it ends


@pytest.mark.parametrize(
    ("fault", "status", "error"),
    [
        (ProviderError("no funds"), "failed", "ProviderError: no funds"),
        (TimeoutError("late"), "in_doubt", "TimeoutError: late"),
        (ConnectionResetError(), "in_doubt", "ConnectionResetError: "),
        (ValueError("\ud800"), "in_doubt", "ValueError: \\ud800"),
        (Unreadable(), "in_doubt", "Unreadable: a fault without a readable text"),
        (RuntimeError("x" * 5_000), "in_doubt", "RuntimeError: " + "x" * 986),
    ],
)
def test_only_a_refusal_of_the_provider_is_a_failure(fault: Exception, status: str, error: str) -> None:
    made = gate()
    ended = made.execute_if_ready(executable(made), raiser(fault))
    assert isinstance(ended, Failed | InDoubt)
    assert (ended.status, ended.error) == (status, error)
    assert ended.record.execution_decision == status


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), SystemExit(3), GeneratorExit(), asyncio.CancelledError()])
def test_an_interrupt_goes_on_after_it_was_recorded(fault: BaseException) -> None:
    made = gate()
    decision = executable(made)
    with pytest.raises(type(fault)):
        made.execute_if_ready(decision, raiser(fault))
    [doubt] = made.in_doubt()
    assert doubt.execution_decision == "in_doubt"
    assert doubt.outcome is not None
    cancelled = isinstance(fault, asyncio.CancelledError)
    assert doubt.outcome.error == (CANCELLED if cancelled else f"{type(fault).__name__}: {fault}")


class Marked:
    def __init__(self, **marks: object) -> None:
        self.__dict__ |= marks


class Lying:
    """A result that answers nothing."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError

    def __repr__(self) -> str:
        raise RecursionError


@pytest.mark.parametrize(
    ("make", "status"),
    [
        (lambda: {"isError": True, "content": []}, "failed"),
        (lambda: Marked(is_error=True), "failed"),
        (lambda: Marked(isError=True), "failed"),
        (lambda: {"isError": False}, "executed"),
        (lambda: {"isError": 1}, "executed"),
        (lambda: {"isError": "true"}, "executed"),
        (lambda: Marked(is_error="true"), "executed"),
        (lambda: None, "executed"),
        (Lying, "executed"),
        (lambda: "\ud800", "executed"),
    ],
)
def test_a_result_is_an_error_where_it_is_marked_as_exactly_that(make: Callable[[], object], status: str) -> None:
    made, result = gate(), make()
    ended = made.execute_if_ready(executable(made), Counter(result))
    assert ended.status == status
    assert states(made.storage)[-1] == status  # type: ignore[arg-type]
    if isinstance(ended, Executed | Failed):
        assert ended.result is result


def test_a_result_deeper_than_an_encoder_goes_is_recorded_all_the_same() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    made = gate()
    assert made.execute_if_ready(executable(made), Counter(deep)).status == "executed"


def test_an_async_function_given_to_the_synchronous_face_is_refused_before_anything_starts() -> None:
    called = []

    async def tool(call: ToolCall) -> None:
        called.append(call)

    made = gate()
    decision = executable(made)
    with pytest.raises(CallerError, match="AsyncPreflight"):
        made.execute_if_ready(decision, tool)
    assert called == []
    assert made.execute_if_ready(decision, Counter()).status == "executed"


def test_a_function_that_returns_an_async_call_has_never_called() -> None:
    called = []

    async def tool(call: ToolCall) -> None:
        called.append(call)

    def begun(call: ToolCall) -> object:
        return tool(call)

    made = gate()
    ended = made.execute_if_ready(executable(made), begun)
    assert isinstance(ended, Failed)
    assert "AsyncPreflight" in ended.error
    assert called == []


def test_something_else_to_be_awaited_leaves_the_synchronous_face_in_doubt() -> None:
    class Promise:
        def __await__(self) -> Any:
            yield

    made = gate()
    assert made.execute_if_ready(executable(made), Counter(Promise())).status == "in_doubt"


# the store fails


@pytest.mark.parametrize("method", ["get", "claim", "steps"])
def test_a_store_that_fails_before_the_call_means_no_call(method: str) -> None:
    storage = Failing(method, StorageError("disk full"))
    made, tool = gate(storage), Counter()
    decision = executable(made)
    if method == "steps":
        made.execute_if_ready(decision, Counter())
    storage.on = True
    answer = made.execute_if_ready(decision, tool)
    assert isinstance(answer, Refused)
    assert (answer.code, answer.why) == ("store_failed", "nothing was called: disk full")
    assert tool.calls == []


@pytest.mark.parametrize("fault", [StorageError("disk full"), RuntimeError("disk full")])
@pytest.mark.parametrize("tool", [Counter(), raiser(ProviderError("no")), raiser(TimeoutError())])
def test_an_outcome_that_cannot_be_recorded_stays_in_doubt(fault: Exception, tool: Any) -> None:
    storage = Failing("finish", fault)
    made = gate(storage)
    decision = executable(made)
    storage.on = True
    ended = made.execute_if_ready(decision, tool)
    assert isinstance(ended, InDoubt)
    assert "disk full" in ended.error
    storage.on = False
    assert [r.decision_id for r in made.in_doubt()] == [decision.decision_id]
    assert made.execute_if_ready(decision, Counter()).status == "held"


# for callers that do not hand over the callable


def test_a_claim_is_given_to_one_caller_and_ends_once() -> None:
    made = gate()
    decision = executable(made)
    claimed = made.claim(decision)
    assert isinstance(claimed, Claimed)
    assert isinstance(made.claim(decision), Refused)
    assert made.settle(claimed, {"ok": True}).status == "executed"
    for again in (lambda: made.settle(claimed), lambda: made.fail(claimed, "late")):
        with pytest.raises(NotExecutable, match="already has an outcome") as fault:
            again()
        assert fault.value.code == "already_ended"


@pytest.mark.parametrize(
    ("fault", "refused", "status"),
    [("timed out", False, "in_doubt"), ("refused", True, "failed"), (ProviderError("x"), False, "failed")],
)
def test_a_claimed_call_fails_as_the_caller_says(fault: Any, refused: bool, status: str) -> None:
    made = gate()
    claimed = made.claim(executable(made))
    assert isinstance(claimed, Claimed)
    assert made.fail(claimed, fault, refused=refused).status == status


def test_the_records_of_an_execution_are_the_decision_s_with_another_state_and_outcome() -> None:
    storage = MemoryStorage()
    made = gate(storage)
    decision = executable(made)
    made.execute_if_ready(decision, Counter())
    assert states(storage) == ["execute", "executing", "executed"]
    assert {r.decision_id for r in records(storage)} == {decision.decision_id}
    assert {str(r.call_arguments) for r in records(storage)} == {"{'amount': 500, 'to': 'bob'}"}
    assert len({r.record_id for r in records(storage)}) == 3


# the face for event loops


def run_async(call: Any, **named: Any) -> Any:
    made = async_gate()

    async def run() -> Any:
        checked = await made.check(request())
        assert isinstance(checked, Executable)
        return await made.execute_if_ready(checked, call, **named)

    return asyncio.run(run()), made


def test_an_awaited_call_is_recorded() -> None:
    async def tool(call: ToolCall) -> object:
        return call.arguments

    ended, _ = run_async(tool)
    assert ended.result == {"amount": 500, "to": "bob"}


def test_a_plain_function_given_to_the_asynchronous_face_is_called_and_recorded() -> None:
    tool = Counter("done")
    ended, _ = run_async(tool)
    assert (ended.status, ended.result, len(tool.calls)) == ("executed", "done", 1)


def test_the_asynchronous_face_refuses_in_the_same_words() -> None:
    ended, _ = run_async(Counter(), tool={**TOOL, "description": "changed"})
    assert ended.code == "tool_changed"


@pytest.mark.parametrize(("fault", "status"), [(ProviderError("no"), "failed"), (OSError("gone"), "in_doubt")])
def test_an_awaited_call_that_raises_is_recorded(fault: Exception, status: str) -> None:
    async def tool(_call: ToolCall) -> None:
        raise fault

    assert run_async(tool)[0].status == status


def test_a_cancelled_call_is_in_doubt_and_the_cancellation_goes_on() -> None:
    made = async_gate()

    async def run() -> None:
        entered = asyncio.Event()

        async def tool(_call: ToolCall) -> None:
            entered.set()
            await asyncio.Event().wait()

        checked = await made.check(request())
        assert isinstance(checked, Executable)
        task = asyncio.create_task(made.execute_if_ready(checked, tool))
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    [doubt] = made.in_doubt()
    assert doubt.execution_decision == "in_doubt"
    assert doubt.outcome is not None
    assert doubt.outcome.error == "the client cancelled the call, or went away, before its outcome was known"


# what may be started is signed, and secrets are not repeated


class Unsigned(MemoryStorage):
    """A store that lost the seals."""

    def get(self, record_id: str) -> Any:
        stored = super().get(record_id)
        return stored and msgspec.structs.replace(stored, seal=None)


class Changed(MemoryStorage):
    """A store in which somebody changed a record."""

    def get(self, record_id: str) -> Any:
        stored = super().get(record_id)
        return stored and msgspec.structs.replace(stored, body=stored.body.replace(b"500", b"900"))


@pytest.mark.parametrize(("storage", "why"), [(Unsigned, "is not signed"), (Changed, "is not believed")])
def test_a_record_without_its_signature_is_not_started(storage: type[MemoryStorage], why: str) -> None:
    made, tool = gate(storage()), Counter()
    answer = made.execute_if_ready(executable(made), tool)
    assert isinstance(answer, Refused)
    assert (answer.code, answer.record, tool.calls) == ("signature_invalid", None, [])
    assert why in answer.why


class Hiding(dict[str, Any]):
    """A result that fails when it is looked through."""

    def items(self) -> Any:
        raise RuntimeError


def test_an_unreadable_result_of_a_call_with_secrets_is_recorded() -> None:
    rules = {("bank", "transfer"): ToolRules(fields={"to": FieldRules(secret=True)})}
    made = gate(named={"rules": rules})
    ended = made.execute_if_ready(executable(made), lambda call: Hiding(x=1))
    assert isinstance(ended, Executed)
    assert ended.masked == "Hiding"


def test_without_a_way_to_check_again_nothing_is_confirmed() -> None:
    state = ConditionState("c", "provider", "met", "2026-03-01T09:00:00Z")
    assert never(sample_decision("d1"), state) is False


def test_secrets_that_were_erased_cannot_be_sent() -> None:
    rules = {("bank", "transfer"): ToolRules(fields={"to": FieldRules(secret=True)})}
    made, tool = gate(named={"rules": rules}), Counter()
    decision = executable(made)
    made._executor._secrets = Erasing()  # type: ignore[assignment]
    answer = made.execute_if_ready(decision, tool)
    assert isinstance(answer, Refused)
    assert (answer.code, tool.calls) == ("erased", [])


class Erasing:
    """A vault that opens nothing any more."""

    def arguments(self, _record: Any) -> Any:
        raise Erased("the key was destroyed")


# what is signed starts, and nothing else


def test_a_decision_without_a_signature_does_not_start() -> None:
    storage, clock = MemoryStorage(), FakeClock()
    storage.append(sample_decision("d1", not_before="2026-03-01T09:00:00Z", not_after="2026-03-01T09:01:00Z"))
    answer = starter(storage, clock).claim("d1", None)
    assert isinstance(answer, Refused)
    assert (answer.code, answer.record) == ("signature_invalid", None)
    assert states(storage) == ["execute"]


def test_a_decision_that_another_key_signed_does_not_start() -> None:
    storage, clock = MemoryStorage(), FakeClock()
    foreign = Keyring(HmacKey(b"x" * 32))
    storage.append(
        sample_decision("d1", not_before="2026-03-01T09:00:00Z", not_after="2026-03-01T09:01:00Z"), signer=foreign
    )
    answer = starter(storage, clock).claim("d1", None)
    assert isinstance(answer, Refused)
    assert answer.code == "signature_invalid"
    assert "is not known here" in answer.why
    assert states(storage) == ["execute"]


def test_bytes_that_were_changed_under_a_signature_do_not_start() -> None:
    storage, clock = MemoryStorage(), FakeClock()
    made = gate(storage, clock)
    decision = executable(made)
    [stored] = storage._log
    raised = msgspec.structs.replace(stored.record, call_arguments={"amount": 500_000, "to": "bob"})
    body = encode(raised)
    forged = msgspec.structs.replace(stored, record=raised, body=body, digest=hashlib.sha256(body).hexdigest())
    storage._log[0] = storage._by_id[stored.record.record_id] = forged
    assert refused(made, decision) == "signature_invalid"


def test_every_step_is_signed() -> None:
    made = gate()
    made.execute_if_ready(executable(made), Counter())
    for stored in made.storage.scan():
        assert stored.seal is not None
        made.signer.verify(stored.body, stored.seal)
    assert states(made.storage) == ["execute", "executing", "executed"]  # type: ignore[arg-type]


def test_a_call_that_was_started_as_another_decision_is_not_started_again() -> None:
    # two processes may decide one call at the same moment (decision 0055)
    made = gate()
    first = executable(made)
    twin = msgspec.structs.replace(first.record, record_id="twin", decision_id="twin")
    made.storage.append(twin, signer=default_signer(made.storage, made.clock))
    assert isinstance(made.execute_if_ready(first, Counter()), Executed)
    answer = made.execute_if_ready("twin", Counter())
    assert isinstance(answer, Refused)
    told = f"the call `c1` was started before, as decision `{first.record.decision_id}`"
    assert (answer.code, answer.why) == ("already_started", told)
