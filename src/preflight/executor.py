"""From a decision's id to the call: read the stored record, check, claim, call, record (R-74 to R-77).

Nothing here can decide: there is no way to pass arguments, and no import of the code that makes them.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
from collections.abc import Awaitable, Callable, Mapping
from types import CoroutineType

import msgspec

from preflight.clock import iso, seconds_of
from preflight.codec import encode
from preflight.errors import (
    NO_RULES,
    CallerError,
    Erased,
    NotExecutable,
    PreflightError,
    ProviderError,
    SignatureInvalid,
    StorageError,
    describe,
    storable,
    to_settle,
)
from preflight.ids import new_id
from preflight.limits import Limits
from preflight.model.condition import ConditionState
from preflight.model.pointer import Path
from preflight.model.record import Outcome, Record
from preflight.model.tool import Tool
from preflight.ports import Admission, Clock, Scheduling, Secrets, Signer, Storage, Stored
from preflight.results import Claimed, Executed, Execution, Failed, InDoubt, RefusalCode, Refused, ToolCall
from preflight.secrecy.masking import Needles

Call = Callable[[ToolCall], object]
AsyncCall = Callable[[ToolCall], Awaitable[object]]
META_KEY = "preflight/decision"
CANCELLED = "the client cancelled the call, or went away, before its outcome was known"
"""What is recorded of a call that nobody waited for any more."""


def never(record: Record, condition: ConditionState) -> bool:  # noqa: ARG001  there is nothing to check with
    """Confirm no condition: what may have changed meanwhile does not start."""
    return False


Recheck = Callable[[Record, ConditionState], bool]
"""Checks a condition of a stored decision again; only exactly True says that it holds. Raises where it cannot tell."""


def unlimited(record: Record, passed: list[str]) -> None:
    """Admit every start: no limits are declared."""


Admit = Callable[[Record, list[str]], Admission | None]
"""Returns how the limits of a start are judged inside it; a limit it would pass is named in the list."""


class Executor:
    """Starts recorded decisions, each at most once."""

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        limits: Limits,
        rules_digest: Callable[[], str | None],
        recheck: Recheck = never,
        admission: Admit = unlimited,
        *,
        signer: Signer,
        secrets: Secrets,
    ) -> None:
        """Read records from `storage`; `rules_digest` names the rules in force now, `recheck` checks again.

        Only what `signer` verifies is started; what happens is signed by it. `secrets` opens secret arguments.
        """
        self._signer = signer
        self._secrets = secrets
        self._recheck = recheck
        self._admission = admission
        self._storage = storage
        self._clock = clock
        self._limits = limits
        self._rules_digest = rules_digest

    def execute(self, decision_id: str, call: Call, tool: Tool | None) -> Execution:
        """Claim, call and record; see `Preflight.execute_if_ready`."""
        if inspect.iscoroutinefunction(call):  # refused before the decision is used up
            message = "the call is an `async` function, which nobody would await; use `AsyncPreflight`"
            raise CallerError(message)
        claimed = self.claim(decision_id, tool)
        if type(claimed) is Refused:
            return claimed
        assert type(claimed) is Claimed  # noqa: S101  the other member of the union
        try:
            result = call(claimed.call)
        except BaseException as fault:
            ended = self.fail(claimed, fault)
            if not isinstance(fault, Exception):
                raise  # an interrupt goes on, after it was recorded
            return ended
        return self._unawaited(claimed, result) if inspect.isawaitable(result) else self.settle(claimed, result)

    async def execute_async(self, decision_id: str, call: AsyncCall, tool: Tool | None) -> Execution:
        """Claim, call, await what the call returns where it is to be awaited, and record."""
        claimed = self.claim(decision_id, tool)
        if type(claimed) is Refused:
            return claimed
        assert type(claimed) is Claimed  # noqa: S101  the other member of the union
        try:
            result: object = call(claimed.call)
            if inspect.isawaitable(result):
                result = await result
        except BaseException as fault:
            ended = self.fail(claimed, fault)
            if not isinstance(fault, Exception):
                raise  # a cancellation goes on, after it was recorded
            return ended
        return self.settle(claimed, result)

    def claim(self, decision_id: str, tool: Tool | None) -> Claimed | Refused:
        """Check the stored decision and append `executing`; only one caller ever gets a `Claimed`."""
        try:
            return self._claimed(decision_id, tool)
        except StorageError as fault:
            return Refused("store_failed", f"nothing was called: {storable(str(fault))}")

    def _claimed(self, decision_id: str, tool: Tool | None) -> Claimed | Refused:
        stored = self._storage.get(decision_id)
        if stored is None:
            return Refused("not_found", f"no record has the id `{decision_id}`")
        if refusal := self._forged(stored):
            return Refused(*refusal)  # nothing in it is to be believed, and nothing is handed out
        record = stored.record
        if refusal := self._refusal(record, tool):
            # a decision that was started is not to be decided again, whatever else speaks against it
            return self._started_before(record) or Refused(*refusal, record)
        try:
            opened = self._secrets.arguments(record)
        except Erased as fault:
            return self._started_before(record) or Refused("erased", str(fault), record)
        if refusal := self._stale(record, opened):
            return self._started_before(record) or Refused(*refusal, record)
        passed: list[str] = []
        admission = self._admission(opened, passed)
        taken = self._storage.claim(self._step(record, "executing", None), signer=self._signer, admit=admission)
        if taken is None:
            return self._lost(record, passed)
        return Claimed(_call_of(opened, self._secrets.paths(record)), taken.record)

    def settle(self, claimed: Claimed, result: object) -> Executed | Failed | InDoubt:
        """Record what the provider returned; a result marked `isError` is the provider's refusal."""
        needles = self._needles(claimed)
        masked = _masked(needles, result) if needles else msgspec.UNSET
        # of a result that may repeat a secret, the digest could be guessed at: it is of what may be shown
        digest = hashlib.sha256(_result_bytes(masked if needles else result)).hexdigest()
        if _is_error(result):
            error = "the provider returned an error result"
            outcome = Outcome(result_digest=digest, error=error)
            return self._finished(claimed, "failed", outcome, lambda r: Failed(r, error, result, masked=masked))
        outcome = Outcome(result_digest=digest)
        return self._finished(claimed, "executed", outcome, lambda r: Executed(r, result, masked=masked))

    def fail(self, claimed: Claimed, fault: BaseException | str, *, refused: bool = False) -> Failed | InDoubt:
        """Record that the call raised.

        `failed` only when the provider refused it or it was never sent (`ProviderError`, or `refused`);
        anything else leaves open what happened there: `in_doubt` (R-76).
        """
        error = _said_of(fault) if isinstance(fault, BaseException) else storable(fault)
        error = self._needles(claimed).mask(error)
        outcome = Outcome(error=error)
        if refused or isinstance(fault, ProviderError):
            return self._finished(claimed, "failed", outcome, lambda r: Failed(r, error))  # type: ignore[return-value]
        return self._finished(claimed, "in_doubt", outcome, lambda r: InDoubt(r, error))  # type: ignore[return-value]

    def _unawaited(self, claimed: Claimed, result: object) -> Failed | InDoubt:
        """Record that an async function was handed to the synchronous face: nobody awaited its call."""
        if type(result) is CoroutineType:
            result.close()  # it never began, so nothing was sent
            return self.fail(claimed, "the call is an `async` function; use `AsyncPreflight`", refused=True)
        return self.fail(claimed, "the call returned something that is to be awaited; use `AsyncPreflight`")

    def _finished(
        self, claimed: Claimed, state: str, outcome: Outcome, result: Callable[[Record], Executed | Failed | InDoubt]
    ) -> Executed | Failed | InDoubt:
        step = self._step(claimed.record, state, outcome)
        try:
            stored = self._storage.finish(step, signer=self._signer)
        except Exception as fault:  # noqa: BLE001  whatever the store raises, the call was made
            # its outcome could not be written: after a restart it stands as a start without an outcome,
            # which is what `in_doubt` means
            return InDoubt(claimed.record, f"the outcome `{state}` could not be recorded: {describe(fault)}")
        if stored is None:
            raise NotExecutable("already_ended", f"decision `{step.decision_id}` already has an outcome")
        return result(stored.record)

    def _needles(self, claimed: Claimed) -> Needles:
        return self._secrets.needles(claimed.record, claimed.call.arguments)

    def _forged(self, stored: Stored) -> tuple[RefusalCode, str] | None:
        """Say why the stored bytes are not believed, or None (R-73)."""
        name = f"decision `{stored.record.decision_id}`"
        if stored.seal is None:
            return "signature_invalid", f"{name} is not signed; check the call again"
        try:
            self._signer.verify(stored.body, stored.seal)
        except SignatureInvalid as fault:
            return "signature_invalid", f"{name} is not believed: {fault}"
        return None

    def _refusal(self, record: Record, tool: Tool | None) -> tuple[RefusalCode, str] | None:
        """Say why a stored decision may not start now, or None (R-73, R-74)."""
        name = f"decision `{record.decision_id}`"
        if record.execution_decision != "execute" or record.record_id != record.decision_id:
            return "not_execute", f"{name} is `{record.execution_decision}`, not `execute`"
        now = self._clock.now()
        skew = self._limits.clock_skew_seconds
        if record.not_before is None or now < seconds_of(record.not_before) - skew:
            return "not_yet_valid", f"{name} was made in the future of this clock"
        if record.not_after is None or now >= seconds_of(record.not_after):
            return "expired", f"{name} expired at {record.not_after}; check the call again"
        if tool is not None and (record.tool is None or tool.fingerprint != record.tool.fingerprint):
            return "tool_changed", f"the tool is not the one {name} was made for; check the call again"
        rules = self._rules_digest()
        if rules is None and record.rules_digest is not None:
            return "rules_changed", f"{name} was made under rules, and none are given here; {NO_RULES}"
        if record.rules_digest != rules:
            return "rules_changed", f"the rules changed since {name} was made; check the call again"
        return None

    def _stale(self, record: Record, opened: Record) -> tuple[RefusalCode, str] | None:
        """Check again what was found true too long ago, and say which of it no longer holds (R-74)."""
        now = self._clock.now()
        for condition in record.conditions:
            age = now - seconds_of(condition.checked_at) if condition.max_age_seconds is not None else 0
            if condition.max_age_seconds is None or age <= condition.max_age_seconds:
                continue
            if (doubt := self._doubt(record, opened, condition)) is not None:
                return "condition_unmet", doubt
        return None

    def _doubt(self, record: Record, opened: Record, condition: ConditionState) -> str | None:
        """Say what keeps a condition from being confirmed again, or None."""
        try:
            if self._recheck(opened, condition) is True:
                return None
        except Exception as fault:  # noqa: BLE001  R-10: a check that fails confirms nothing
            said = str(fault) if isinstance(fault, PreflightError) else describe(fault)
            said = self._secrets.needles(record, opened.call_arguments).mask(said)
            return f"whether condition `{condition.id}` still holds cannot be told: {said}"
        why = condition.note or condition.description or "it is not known to hold"
        return f"condition `{condition.id}` does not hold any more: {why}"

    def _started_before(self, record: Record) -> Refused | None:
        steps = self._storage.steps(record.decision_id)
        if any(s.record.execution_decision == "executing" for s in steps):
            return Refused("already_started", f"decision `{record.decision_id}` was started before", record)
        return None

    def _lost(self, record: Record, passed: list[str]) -> Refused:
        if passed:
            return Refused("limit_reached", f"limit `{passed[0]}` is reached; check the call again", record)
        if (started := self._started_before(record)) is not None:
            return started
        if record.trigger is not None and self._is_over(record):
            why = f"`{record.decision_id}` fires no more: its occurrence was started, cancelled or moved"
            return Refused("occurrence_over", why, record)
        if (other := self._storage.started_as(record)) is not None:
            why = f"the call `{record.call_id}` was started before, as decision `{other}`"
            return Refused("already_started", why, record)
        if (before := self._repeated(record)) is not None:
            why = f"the same instruction led to it before, as decision `{before}`"
            return Refused("repeated", why, record)
        return Refused("key_busy", self._busy(record), record)

    def _busy(self, record: Record) -> str:
        """Name the run that keeps a key busy, and how a person frees it."""
        runs = (stored.record for stored in self._storage.unfinished())
        named = [each.decision_id for each in runs if (each.scope, each.key) == (record.scope, record.key)]
        what = f"another run of `{record.key}` is executing, or its outcome is not known"
        return "; ".join([what, *(f"it is decision `{each}`; {to_settle(each)}" for each in named)])

    def _repeated(self, record: Record) -> str | None:
        """Return the decision as which a run's instruction led to the same before, or None (R-79)."""
        if record.instructed is None:
            return None
        starts = self._storage.started_on(record.scope.tenant, record.instructed.by)
        return next((start.decision_id for start in starts if record.repeats(start)), None)

    def _is_over(self, record: Record) -> bool:
        """Whether the occurrence that a run was fired by cannot start any more (R-83)."""
        return isinstance(self._storage, Scheduling) and self._storage.over(record)

    def _step(self, record: Record, state: str, outcome: Outcome | None) -> Record:
        return msgspec.structs.replace(
            record,
            record_id=new_id(),
            execution_decision=state,
            timestamp=iso(self._clock.now()),
            outcome=outcome,
        )


def _call_of(record: Record, secret: tuple[Path, ...]) -> ToolCall:
    assert record.tool is not None  # noqa: S101  an execute decision always has its tool
    arguments: dict[str, object] = msgspec.to_builtins(record.call_arguments or {})
    meta = {META_KEY: record.decision_id}
    return ToolCall(record.tool.server, record.tool.name, arguments, record.decision_id, meta, secret)


def _said_of(fault: BaseException) -> str:
    """Return a fault in words; how a program ends what it waits for says nothing to people."""
    return CANCELLED if isinstance(fault, asyncio.CancelledError) else describe(fault)


def _masked(needles: Needles, result: object) -> object:
    try:
        return needles.masked(result)
    except Exception:  # noqa: BLE001  the call was made: of a result that cannot be read, nothing is shown
        return type(result).__name__


def _is_error(result: object) -> bool:
    """Whether an MCP result is marked as an error: a JSON object, or an object of an MCP package."""
    try:
        if isinstance(result, Mapping):
            return result.get("isError") is True
        return getattr(result, "is_error", None) is True or getattr(result, "isError", None) is True
    except Exception:  # noqa: BLE001  the call was made: a result that cannot be read must still be recorded
        return False


def _result_bytes(result: object) -> bytes:
    try:
        return encode(result)
    except Exception:  # noqa: BLE001  same: what is no JSON value is told apart by its `repr`, or by its type alone
        return _shown(result).encode(errors="backslashreplace")


def _shown(result: object) -> str:
    try:
        return repr(result)
    except Exception:  # noqa: BLE001  same
        return type(result).__name__
