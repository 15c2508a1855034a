"""From in doubt to settled: by what a person or a measurement found. It cannot call anything (R-75)."""

from __future__ import annotations

from typing import Literal

import msgspec

from preflight.clock import iso
from preflight.errors import InvalidInput, NotExecutable
from preflight.ids import new_id
from preflight.model.record import Outcome, Record
from preflight.ports import Clock, Signer, Storage


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
