"""From a decision's id to the call: read the stored record, check, claim, call, record (R-74 to R-77).

Nothing here can decide: there is no way to pass arguments, and no import of the code that makes them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping

import msgspec

from preflight.clock import iso, seconds_of
from preflight.codec import encode
from preflight.errors import NotExecutable, ProviderError, StorageError
from preflight.ids import new_id
from preflight.limits import Limits
from preflight.model.condition import ConditionState
from preflight.model.record import Outcome, Record
from preflight.model.tool import Tool
from preflight.ports import Clock, Storage
from preflight.results import Claimed, Executed, Execution, Failed, InDoubt, RefusalCode, Refused, ToolCall

Call = Callable[[ToolCall], object]
AsyncCall = Callable[[ToolCall], Awaitable[object]]
META_KEY = "preflight/decision"


def never(record: Record, condition: ConditionState) -> bool:  # noqa: ARG001  there is nothing to check with
    """Confirm no condition: what may have changed meanwhile does not start."""
    return False


Recheck = Callable[[Record, ConditionState], bool]
"""Checks a condition of a stored decision again; only exactly True says that it holds."""


class Executor:
    """Starts recorded decisions, each at most once."""

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        limits: Limits,
        rules_digest: Callable[[], str | None],
        recheck: Recheck = never,
    ) -> None:
        """Read records from `storage`; `rules_digest` names the rules in force now, `recheck` checks again."""
        self._recheck = recheck
        self._storage = storage
        self._clock = clock
        self._limits = limits
        self._rules_digest = rules_digest

    def execute(self, decision_id: str, call: Call, tool: Tool | None) -> Execution:
        """Claim, call and record; see `Preflight.execute_if_ready`."""
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
        return self.settle(claimed, result)

    async def execute_async(self, decision_id: str, call: AsyncCall, tool: Tool | None) -> Execution:
        """Claim, await the call and record."""
        claimed = self.claim(decision_id, tool)
        if type(claimed) is Refused:
            return claimed
        assert type(claimed) is Claimed  # noqa: S101  the other member of the union
        try:
            result = await call(claimed.call)
        except BaseException as fault:
            ended = self.fail(claimed, fault)
            if not isinstance(fault, Exception):
                raise  # a cancellation goes on, after it was recorded
            return ended
        return self.settle(claimed, result)

    def claim(self, decision_id: str, tool: Tool | None) -> Claimed | Refused:
        """Check the stored decision and append `executing`; only one caller ever gets a `Claimed`."""
        try:
            stored = self._storage.get(decision_id)
        except StorageError as fault:
            return Refused("unreadable", str(fault))
        if stored is None:
            return Refused("not_found", f"no record has the id `{decision_id}`")
        if refusal := self._refusal(stored.record, tool) or self._stale(stored.record):
            return Refused(*refusal, stored.record)
        started = self._step(stored.record, "executing", None)
        taken = self._storage.claim(started)
        if taken is None:
            return self._lost(stored.record)
        return Claimed(_call_of(stored.record), taken.record)

    def settle(self, claimed: Claimed, result: object) -> Executed | Failed | InDoubt:
        """Record what the provider returned; a result marked `isError` is the provider's refusal."""
        body = _result_bytes(result)
        digest = hashlib.sha256(body).hexdigest()
        if _is_error(result):
            error = "the provider returned an error result"
            outcome = Outcome(result_digest=digest, error=error)
            return self._finished(claimed, "failed", outcome, lambda r: Failed(r, error, result))
        return self._finished(claimed, "executed", Outcome(result_digest=digest), lambda r: Executed(r, result))

    def fail(self, claimed: Claimed, fault: BaseException | str, *, refused: bool = False) -> Failed | InDoubt:
        """Record that the call raised.

        `failed` only when the provider refused it or it was never sent (`ProviderError`, or `refused`);
        anything else leaves open what happened there: `in_doubt` (R-76).
        """
        error = fault if type(fault) is str else f"{type(fault).__name__}: {fault}"
        outcome = Outcome(error=error)
        if refused or isinstance(fault, ProviderError):
            return self._finished(claimed, "failed", outcome, lambda r: Failed(r, error))  # type: ignore[return-value]
        return self._finished(claimed, "in_doubt", outcome, lambda r: InDoubt(r, error))  # type: ignore[return-value]

    def _finished(
        self, claimed: Claimed, state: str, outcome: Outcome, result: Callable[[Record], Executed | Failed | InDoubt]
    ) -> Executed | Failed | InDoubt:
        step = self._step(claimed.record, state, outcome)
        try:
            stored = self._storage.finish(step)
        except StorageError as fault:
            # the call was made and its outcome could not be written: after a restart it stands as a
            # start without an outcome, which is what `in_doubt` means
            return InDoubt(claimed.record, f"the outcome `{state}` could not be recorded: {fault}")
        if stored is None:
            raise NotExecutable("already_ended", f"decision `{step.decision_id}` already has an outcome")
        return result(stored.record)

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
        if record.rules_digest != self._rules_digest():
            return "rules_changed", f"the rules changed since {name} was made; check the call again"
        return None

    def _stale(self, record: Record) -> tuple[RefusalCode, str] | None:
        """Check again what was found true too long ago, and say which of it no longer holds (R-74)."""
        now = self._clock.now()
        for condition in record.conditions:
            age = now - seconds_of(condition.checked_at) if condition.max_age_seconds is not None else 0
            if condition.max_age_seconds is None or age <= condition.max_age_seconds:
                continue
            if self._recheck(record, condition) is not True:
                why = condition.note or condition.description or "it is not known to hold"
                return "condition_unmet", f"condition `{condition.id}` does not hold any more: {why}"
        return None

    def _lost(self, record: Record) -> Refused:
        steps = self._storage.steps(record.decision_id)
        if any(s.record.execution_decision == "executing" for s in steps):
            return Refused("already_started", f"decision `{record.decision_id}` was started before", record)
        return Refused("key_busy", f"another run of `{record.key}` is executing; wait for its outcome", record)

    def _step(self, record: Record, state: str, outcome: Outcome | None) -> Record:
        return msgspec.structs.replace(
            record,
            record_id=new_id(),
            execution_decision=state,
            timestamp=iso(self._clock.now()),
            outcome=outcome,
        )


def _call_of(record: Record) -> ToolCall:
    assert record.tool is not None  # noqa: S101  an execute decision always has its tool
    arguments: dict[str, object] = msgspec.to_builtins(record.call_arguments or {})
    meta = {META_KEY: record.decision_id}
    return ToolCall(record.tool.server, record.tool.name, arguments, record.decision_id, meta)


def _is_error(result: object) -> bool:
    marked = result.get("isError") if isinstance(result, Mapping) else getattr(result, "is_error", None)
    return marked is True


def _result_bytes(result: object) -> bytes:
    try:
        return encode(result)
    except (TypeError, ValueError, NotImplementedError, msgspec.MsgspecError):
        return repr(result).encode(errors="backslashreplace")
