"""From in doubt to settled: by what a person or a measurement found. It cannot call the tool (R-75)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from preflight.clock import iso, seconds_of
from preflight.errors import InvalidInput, NotExecutable, PreflightError, describe
from preflight.ids import new_id
from preflight.model.record import Outcome, Record
from preflight.ports import Clock, Secrets, Signer, Storage
from preflight.secrecy.masking import NO_NEEDLES

TookEffect = Callable[[Record], tuple[bool, str] | None]
"""Measures whether a call took effect: the answer and what shows it, or None where no rule tells how."""
GRACE_SECONDS = 900.0
"""How old a start must be before a measurement may settle it: a call may still be under way, or arrive late."""


class Recovered(msgspec.Struct, frozen=True):
    """A call in doubt, and what came of looking at it.

    `settled` is the record of the settlement; where it is None, `why` says why it still waits for a person.
    """

    record: Record
    settled: Record | None
    why: str


class Recovery:
    """Finds executions whose outcome is not known, and records what was found out."""

    def __init__(self, storage: Storage, clock: Clock, signer: Signer) -> None:
        """Read and write `storage`; what is found out is signed by `signer`."""
        self._storage = storage
        self._signer = signer
        self._clock = clock

    def in_doubt(self) -> list[Record]:
        """Return starts without an outcome and doubts nobody settled, oldest first."""
        return [stored.record for stored in self._storage.unfinished()]

    def recover(
        self, took_effect: TookEffect, secrets: Secrets, grace_seconds: float = GRACE_SECONDS
    ) -> list[Recovered]:
        """Look at everything in doubt, oldest first, and settle what a declared measurement tells (R-75).

        `secrets` puts secret arguments back for the measurement. A start younger than `grace_seconds` is left
        alone. Nothing is called but measures.
        """
        return [self._looked_at(record, took_effect, secrets, grace_seconds) for record in self.in_doubt()]

    def _looked_at(self, record: Record, took_effect: TookEffect, secrets: Secrets, grace_seconds: float) -> Recovered:
        if (why := self._too_young(record, grace_seconds)) is not None:
            return Recovered(record, None, why)
        needles = NO_NEEDLES
        try:
            opened = secrets.arguments(record)
            needles = secrets.needles(record, opened.call_arguments)
            found = took_effect(opened)
        except Exception as fault:  # noqa: BLE001  R-10: a measurement that fails settles nothing
            said = str(fault) if isinstance(fault, PreflightError) else describe(fault)
            return Recovered(record, None, f"it cannot be measured: {needles.mask(said)}")
        if found is None:
            return Recovered(record, None, "no rule says how to measure it; a person has to find out")
        took, evidence = found[0], needles.mask(found[1])
        outcome: Literal["executed", "failed"] = "executed" if took else "failed"
        try:
            settled = self.resolve(record.decision_id, outcome, by="measurement", evidence=evidence)
        except NotExecutable as fault:
            return Recovered(record, None, str(fault))
        return Recovered(record, settled, evidence)

    def _too_young(self, record: Record, grace_seconds: float) -> str | None:
        start = next(
            (s.record for s in self._storage.steps(record.decision_id) if s.record.execution_decision == "executing"),
            record,
        )
        age = self._clock.now() - seconds_of(start.timestamp)
        if age >= grace_seconds:
            return None
        return (
            f"it was started {max(age, 0):.0f} s ago and may be under way; it is measured after {grace_seconds:.0f} s"
        )

    def resolve(self, decision_id: str, outcome: Literal["executed", "failed"], *, by: str, evidence: str) -> Record:
        """Record what happened at the provider, who found out and what shows it.

        A start that has no outcome is recorded as `in_doubt` first. Raises NotExecutable when the
        decision was never started or is already settled.
        """
        for name, text in (("by", by), ("evidence", evidence)):
            if type(text) is not str or not text.strip():
                raise InvalidInput(name, "missing or not a text", "say who found out, and what shows it")
        if outcome not in ("executed", "failed"):
            raise InvalidInput("outcome", f"`{outcome}` is no outcome", "use `executed` or `failed`")
        steps = self._storage.steps(decision_id)
        last = steps[-1].record if steps else None
        if last is None or last.execution_decision not in ("executing", "in_doubt"):
            state = "unknown" if last is None else f"`{last.execution_decision}`"
            raise NotExecutable("not_in_doubt", f"decision `{decision_id}` is {state}, not in doubt")
        if last.execution_decision == "executing":
            last = self._append(last, "in_doubt", Outcome(error="no outcome was recorded"))
        return self._append(last, "settled", Outcome(settled_as=outcome, by=by, evidence=evidence))

    def _append(self, record: Record, state: str, outcome: Outcome) -> Record:
        step = msgspec.structs.replace(
            record, record_id=new_id(), execution_decision=state, timestamp=iso(self._clock.now()), outcome=outcome
        )
        stored = self._storage.finish(step, signer=self._signer)
        if stored is None:
            raise NotExecutable("already_ended", f"decision `{record.decision_id}` ended meanwhile")
        return stored.record
