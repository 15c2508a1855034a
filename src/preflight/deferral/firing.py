"""One occurrence at its time: the whole path again, the call at most once, and what becomes of the row (R-82, R-83).

Theory of operation
-------------------
A lease only saves work: two workers may hold the same row when one was slow. That an occurrence starts once is
decided by the store inside the claim, and that a cancelled or moved one does not start too. So everything here may
be done twice, be killed anywhere and be done again by another worker.

A row is changed by comparing its version. Who comes second changes nothing and leaves a note.
"""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Any, cast

import msgspec

from preflight.api import Preflight
from preflight.clock import iso
from preflight.deferral import rows, triggers
from preflight.deferral.connections import Connections, ToolRemoved
from preflight.deferral.triggers import Condition, Spec
from preflight.errors import NO_RULES, Erased, SignatureInvalid, describe
from preflight.model.deferral import Deferral, DeferralNote, NoteKind
from preflight.model.record import Record, ToolRef
from preflight.model.rules import ToolRules
from preflight.model.tool import Tool
from preflight.ports import Scheduling
from preflight.results import Asking, Checked, Deferred, Executable, Held, Refused
from preflight.scheduling import call_of, deferred_request, when_of

RETRY_SECONDS = 1.0
"""How soon a row is looked at again that could not be tried: another run of its key, a server that does not answer."""
_AGAIN = frozenset({"key_busy", "store_failed", "expired", "not_yet_valid", "rules_changed", "tool_changed"})
_STARTED = frozenset({"already_started", "occurrence_over"})
_log = logging.getLogger("preflight.worker")


class Fired(msgspec.Struct, frozen=True):
    """What became of one row that was due. `what` None: it is tried again later."""

    row: Deferral
    what: NoteKind | None
    reason: str | None = None
    status: str | None = None
    record_id: str | None = None
    late_seconds: float = 0.0


class Due(msgspec.Struct, frozen=True):
    """A row at its time, with what it is judged by."""

    row: Deferral
    record: Record
    spec: Spec
    rules: ToolRules
    now: datetime
    missed: bool = False

    @property
    def late(self) -> float:
        """Seconds after its time."""
        return rows.late(self.row, self.now)


class Firing:
    """Fires rows of one store through one gate."""

    def __init__(self, gate: Preflight, connections: Connections) -> None:
        """Decide and execute with `gate`, reach tools by `connections`."""
        self._gate = gate
        self._connections = connections
        self._store = cast("Scheduling", gate.storage)

    def look(self, row: Deferral) -> Fired:
        """Do what is due for a leased row."""
        now = rows.at(self._gate.clock.now())
        record = self._believed(row)
        if record is None:
            why = "record_not_believed"
            return self._changed(row, rows.held(row, why, None), "held", why)
        spec = triggers.spec_of(when_of(record).trigger)
        due = Due(row, record, spec, self._rules(record), now)
        if row.occurrence is None:
            return self._awaited(due)
        if (before := self._started_before(due)) is not None:
            return before  # what was started is neither missed nor fired again
        return self._missed(due) if self._is_missed(due) else self._fire(due)

    def _believed(self, row: Deferral) -> Record | None:
        """Return the deferred record, if it is as it was signed."""
        stored = self._gate.storage.get(row.decision_id)
        if stored is None or stored.seal is None or stored.record.execution_decision != "deferred":
            return None
        try:
            self._gate.signer.verify(stored.body, stored.seal)
        except SignatureInvalid:
            return None
        return stored.record

    def _rules(self, record: Record) -> ToolRules:
        tool = _tool_of(record)
        return self._gate.rules().for_tool(tool.server, tool.name, record.user_id, record.scope.tenant)

    def _is_missed(self, due: Due) -> bool:
        return not due.row.forced and due.late > due.rules.deferral.missed_after_seconds

    # before there is an occurrence

    def _awaited(self, due: Due) -> Fired:
        """Look whether a condition has come; an event is pushed, so only its deadline is looked at."""
        row, spec = due.row, due.spec
        if due.now >= triggers.instant_of(str(when_of(due.record).trigger["deadline"])):
            return self._changed(row, rows.ended(row, "done", "deadline_passed"), "expired", "deadline_passed")
        if not isinstance(spec, Condition):
            return Fired(row, None)
        if not self._holds(spec, due.record):
            self._store.release(row.deferral_id, iso(self._gate.clock.now() + spec.poll_seconds))
            return Fired(row, None, "condition_not_yet")
        come = rows.occurring(row, due.now)
        fired = self._changed(row, come, "happened", spec.name)
        return self._fire(msgspec.structs.replace(due, row=come)) if fired.what else fired

    def _holds(self, spec: Condition, record: Record) -> bool:
        """Whether the condition holds now; one that cannot be told does not (R-60)."""
        rule, services = self._gate.rules().triggers.get(spec.name), self._gate.services
        if rule is None or rule.condition is None or services is None:
            _log.warning("condition `%s` is not declared any more; `%s` waits", spec.name, record.record_id)
            return False
        outcome = services.trigger_state(rule, record)
        if outcome["state"] == "unknown":
            _log.warning("condition `%s` cannot be told: %s", spec.name, outcome.get("note") or outcome.get("missing"))
        return outcome["state"] == "met"

    # at its time

    def _missed(self, due: Due) -> Fired:
        """Treat an occurrence whose time passed while nobody looked as the rules say (R-83)."""
        due = msgspec.structs.replace(due, missed=True)
        if due.rules.misfire == "run_once":
            return self._fire(due)
        return self._put_off(due, "missed", skip=due.rules.misfire == "skip")

    def _fire(self, due: Due) -> Fired:
        """Run the whole path with everything fetched anew, and call the tool if it says so (R-82)."""
        ref = _tool_of(due.record)
        if due.record.rules_digest is not None and self._gate.rules().digest is None:
            _log.warning("`%s` was deferred under rules, and none are given here; %s", due.row.deferral_id, NO_RULES)
            return self._again(due, "rules_missing")
        try:
            tool = {**self._connections.tool(ref.server, ref.name), "server": ref.server}
        except ToolRemoved:
            return self._unresolved(due, "tool_removed")
        except Exception as fault:  # noqa: BLE001  a connection fails in its own ways
            _log.warning("server `%s` cannot be reached: %s", ref.server, describe(fault))
            return self._again(due, "no_connection")
        try:
            request = self._request(due, tool)
        except Erased:
            return self._unresolved(due, "erased")
        checked = self._gate.check(request)
        if not isinstance(checked, Executable):
            return self._not_executable(due, checked)
        execution = self._gate.execute_if_ready(checked, self._connections.call, tool=Tool.from_mcp(tool))
        if not isinstance(execution, Refused):
            return self._over(due, execution.status, checked.decision_id)
        if execution.code in _STARTED:  # or cancelled or moved meanwhile: whoever did it noted it
            return self._started_before(due) or Fired(due.row, None, "changed_meanwhile")
        if execution.code in _AGAIN:
            return self._again(due, execution.code)
        return self._unresolved(due, execution.code, checked.record)

    def _request(self, due: Due, tool: dict[str, object]) -> dict[str, Any]:
        """Return the request of an occurrence: what the user meant, and nothing that was measured then (R-80)."""
        row, record = due.row, due.record
        prior = self._gate.get_prior_execution_state(
            user_id=record.user_id, action_key=record.key, tool=tool, scope=record.scope
        )
        return {
            **deferred_request(self._gate.reveal(record)),
            "tool": tool,
            "trigger": {"decision_id": row.decision_id, "occurrence": row.occurrence},
            "call_id": call_of(row),
            **({} if prior is None else {"prior_execution_state": prior}),
        }

    # what becomes of it

    def _over(self, due: Due, status: str, record_id: str) -> Fired:
        """Go on after an occurrence that was started."""
        after, passed = rows.following(due.row, due.spec, due.now, missed=due.missed)
        return self._changed(
            due.row, after, "fired", "missed" if due.missed else None,
            status=status, record_id=record_id, late=due.late, missed=passed,
        )  # fmt: skip

    def _started_before(self, due: Due) -> Fired | None:
        """Go on after an occurrence that another worker started, whatever became of that worker; None: none did."""
        record_id = self._store.started(due.row.decision_id, due.row.occurrence or "")
        if record_id is None:
            return None
        return self._over(due, self._gate.storage.steps(record_id)[-1].record.execution_decision, record_id)

    def _not_executable(self, due: Due, checked: Checked) -> Fired:
        """Park what cannot run: nobody waits for a person (R-82)."""
        if isinstance(checked, Held) and not checked.recorded:
            return self._again(due, "store_failed")
        question = checked.question.question_id if isinstance(checked, Asking) else None
        return self._unresolved(due, _reason(checked), checked.record, question)

    def _again(self, due: Due, reason: str) -> Fired:
        """Try again soon, until the occurrence counts as missed."""
        if due.late > due.rules.deferral.missed_after_seconds:
            return self._unresolved(due, reason)
        self._store.release(due.row.deferral_id, iso(self._gate.clock.now() + RETRY_SECONDS))
        return Fired(due.row, None, reason, late_seconds=due.late)

    def _unresolved(self, due: Due, reason: str, record: Record | None = None, question_id: str | None = None) -> Fired:
        """Skip or hold an occurrence that may not start, as the rules say (R-82)."""
        skip = due.rules.deferral.unresolved == "skip"
        return self._put_off(due, reason, record, question_id, skip=skip)

    def _put_off(
        self,
        due: Due,
        reason: str,
        record: Record | None = None,
        question_id: str | None = None,
        *,
        skip: bool,
    ) -> Fired:
        """Skip an occurrence, or hold it: apart where another follows, so that the next one is not kept waiting."""
        row = due.row
        after, passed = rows.following(row, due.spec, due.now, missed=due.missed)
        apart = None
        if not skip and after.state == "waiting":
            apart = rows.apart(row, reason, question_id)
        elif not skip:
            after = rows.held(row, reason, question_id)
        record_id = None if record is None else record.record_id
        what: NoteKind = "skipped" if skip else "held"
        return self._changed(row, after, what, reason, record_id=record_id, late=due.late, missed=passed, apart=apart)

    def _changed(
        self,
        row: Deferral,
        after: Deferral,
        what: NoteKind,
        reason: str | None,
        *,
        late: float = 0.0,
        apart: Deferral | None = None,
        **told: Any,
    ) -> Fired:
        """Replace the row and note it; `told` are other parts of the note."""
        note = DeferralNote(
            deferral_id=row.deferral_id,
            at=iso(self._gate.clock.now()),
            what=what,
            reason=reason,
            occurrence=after.occurrence if what == "happened" else row.occurrence,
            late_seconds=round(late, 3),
            **told,
        )
        if not self._store.change(after, note, apart=apart):
            if what != "fired":
                return Fired(row, None, "changed_meanwhile")
            self._store.note(note)  # it was started all the same
        return Fired(row, what, reason, note.status, note.record_id, late)


def _tool_of(record: Record) -> ToolRef:
    assert record.tool is not None  # noqa: S101  a deferred record has its tool
    return record.tool


def _reason(checked: Checked) -> str:
    """Return the named reason why a run may not start."""
    gate = checked.record.gate
    if isinstance(checked, Deferred):
        return "trigger_not_verified"
    if isinstance(checked, Asking) or gate is None:
        return "unknown_at_trigger"
    if gate.kind == "value_gate":
        return "condition_unmet" if gate.unmet else "unknown_at_trigger"
    return gate.kind
