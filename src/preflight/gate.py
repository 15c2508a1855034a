"""The shell around the core: reads a request, has its needs met, records the verdict (R-8). It cannot execute."""

from __future__ import annotations

import hashlib
import logging
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock

import msgspec

from preflight.clock import iso, seconds_of
from preflight.codec import encode
from preflight.core.decide import Path, guarded
from preflight.core.schema import Plan
from preflight.core.setup import Setup
from preflight.core.slots import open_slots
from preflight.core.wording import reason_of
from preflight.errors import InvalidInput
from preflight.guard import Driven
from preflight.ids import new_id
from preflight.model.decision import SCHEMA_VERSION, Decision, Diagnostics, Gate
from preflight.model.instruction import USER, Segment
from preflight.model.json_value import freeze
from preflight.model.question import Answer, Question
from preflight.model.record import Record, ToolRef
from preflight.model.request import Request, Scope, request_digest
from preflight.model.trigger import Trigger
from preflight.ports import Clock, Storage
from preflight.questions import question_of
from preflight.results import Asking, Checked, Deferred, Executable, Held
from preflight.rulebook import RuleSource

Given = Mapping[str, object] | Request
_log = logging.getLogger("preflight")
_log.addHandler(logging.NullHandler())  # a library is silent unless the program wants its logs
_REMEMBERED = 1_000


class Ready(msgspec.Struct, frozen=True):
    """A request that is to be decided now."""

    request: Request
    setup: Setup

    def path(self) -> Path:
        """Return the decision path to walk."""
        return guarded(self.request, self.setup)


class Shell:
    """What surrounds a decision: the request, the clock, the log, the questions."""

    def __init__(
        self, storage: Storage, clock: Clock, rules: RuleSource, setup: Setup, *, store_instruction: bool
    ) -> None:
        """Record to `storage` what is decided under the rules in force."""
        self._storage = storage
        self._clock = clock
        self._rules = rules
        self._setup = setup
        self._limits = setup.limits
        self._store_instruction = store_instruction
        self._given: OrderedDict[str, Request] = OrderedDict()
        self._lock = Lock()

    # before the decision

    def read(self, given: Given) -> Ready:
        """Read a request and add what is stored about its call: answers, earlier asks, the clock.

        Raises InvalidInput naming the key that is wrong.
        """
        request = given if isinstance(given, Request) else Request.parse(given, limits=self._limits)
        utterance = request.utterance
        if not utterance.now:
            utterance = msgspec.structs.replace(utterance, now=iso(self._clock.now()))
            request = msgspec.structs.replace(request, utterance=utterance)
        if utterance.call_id is not None:
            request = self._with_answers(request, utterance.call_id)
        if isinstance(request.trigger, Mapping):
            request = msgspec.structs.replace(request, trigger=self._verified(request))
        return Ready(self._under_rules(request), self._setup)

    def _under_rules(self, request: Request) -> Request:
        """Add the rules in force for the tool, and what the rules hold for the user; their digest is recorded."""
        rules = self._rules()
        tool = rules.for_tool(request.tool.server, request.tool.name)
        user = rules.for_user(request.user_id, request.scope.tenant)
        if user.conditions:
            tool = msgspec.structs.replace(tool, conditions=(*tool.conditions, *user.conditions))
        added: dict[str, object] = {"rules": tool, "rules_digest": rules.digest}
        if user.settings:  # what the caller hands over speaks of this run, so it comes first
            added["pre_set_data"] = {**user.settings, **request.pre_set_data}
        if user.checklist:
            added["user_checklist"] = (*request.user_checklist, *user.checklist)
        return msgspec.structs.replace(request, **added)

    def earlier(self, ready: Ready) -> Checked | None:
        """Return the verdict of the same call and the same facts, if it still stands (idempotence)."""
        call_id = ready.request.utterance.call_id
        if call_id is None:
            return None
        stored = self._storage.latest_for_call(ready.request.scope, call_id)
        if stored is None or stored.record.request_digest != request_digest(ready.request):
            return None
        record = stored.record
        if record.execution_decision == "execute" and self._may_decide_again(record):
            return None
        question = self._storage.question(record.question_id) if record.question_id else None
        return _typed(record, question)

    def _may_decide_again(self, record: Record) -> bool:
        """An `execute` that expired before anyone started it may be decided again; a started one never."""
        expired = record.not_after is None or self._clock.now() >= seconds_of(record.not_after)
        return expired and len(self._storage.steps(record.decision_id)) == 1

    def _with_answers(self, request: Request, call_id: str) -> Request:
        questions = self._storage.asked(request.scope, call_id)
        if not questions:
            return request
        asked: dict[str, int] = {}
        for question in questions:
            for slot in question.slots:
                asked[slot.name] = asked.get(slot.name, 0) + 1
        request = msgspec.structs.replace(request, asked=asked)
        return _answered(request, self._storage.answers_for_call(request.scope, call_id))

    def _verified(self, request: Request) -> Trigger | None:
        """Make a `Trigger` of what the request claims, if a `deferred` record of this user and tool bears it out."""
        claimed = request.trigger
        assert isinstance(claimed, Mapping)  # noqa: S101  checked by the caller
        decision_id, occurrence = claimed.get("decision_id"), claimed.get("occurrence")
        stored = self._storage.get(decision_id) if type(decision_id) is str else None
        if stored is None or type(occurrence) is not str:
            return None
        record = stored.record
        same = record.scope == request.scope and record.user_id == request.user_id
        same_tool = record.tool is not None and (record.tool.server, record.tool.name) == (
            request.tool.server,
            request.tool.name,
        )
        when = record.fixed.c1_when_case if record.fixed else None
        if record.execution_decision != "deferred" or not same or not same_tool or when is None:
            return None
        return Trigger(record.decision_id, occurrence, when)

    # after the decision

    def conclude(self, ready: Ready, driven: Driven) -> Checked:
        """Record a decision and, where it asks, the question; raise the interrupt a hook brought, if any."""
        checked = self.record(ready, driven.decision)
        if driven.interrupt is not None:
            raise driven.interrupt
        return checked

    def record(self, ready: Ready, decision: Decision) -> Checked:
        """Append a decision to the log and return it with its type (R-8)."""
        record = self._record_of(ready, decision)
        question = self._question(ready, decision, record) if decision.execution_decision == "ask_user" else None
        if question is not None:
            record = msgspec.structs.replace(record, question_id=question.question_id)
            self._storage.ask(question)
            self._remember(question.question_id, ready.request)
        stored = self._storage.append(record)
        self._report(stored.record)
        return _typed(stored.record, question)

    def refuse(self, given: object, fault: InvalidInput) -> Checked:
        """Record that a malformed request was held: the digest of what came, never the body."""
        body = repr(given).encode(errors="backslashreplace")
        gate = Gate(kind="request_invalid", payload_errors=(str(fault),))
        record = self._held_record(gate, hashlib.sha256(body).hexdigest())
        return Held(self._storage.append(record).record)

    def unrecorded(self, fault: Exception) -> Checked:
        """Hold without a record: the store itself failed, so nothing can be executed either (R-8, R-31)."""
        _log.error("a run could not be recorded: %s", fault)
        diag = Diagnostics(fault=f"{type(fault).__name__}: {fault}")
        gate = Gate(kind="internal_error", route="definition_repair", diag=diag)
        return Held(self._held_record(gate, ""), recorded=False)

    def repeated(self, question: Question, answer: Answer) -> Request | None:
        """Return the request of a question with its answer added, or None when it is not at hand.

        With a `call_id` the stored answers are found again by it; without one they are added here.
        """
        with self._lock:
            request = self._given.get(question.question_id)
        if request is None and question.request is not None:
            request = Request.parse(msgspec.json.decode(question.request), limits=self._limits)
        if request is None:
            return None
        request = msgspec.structs.replace(request, utterance=msgspec.structs.replace(request.utterance, now=""))
        return request if question.call_id is not None else _answered(request, [answer])

    def _record_of(self, ready: Ready, decision: Decision) -> Record:
        request, now = ready.request, self._clock.now()
        record_id = new_id()
        executable = decision.execution_decision == "execute"
        trigger = request.trigger
        return Record(
            **{name: getattr(decision, name) for name in Decision.__struct_fields__},
            record_id=record_id,
            decision_id=record_id,
            scope=request.scope,
            user_id=request.user_id,
            tool=ToolRef(request.tool.server, request.tool.name, request.tool.fingerprint),
            timestamp=iso(now),
            request_digest=request_digest(request),
            rules_digest=request.rules_digest,
            call_id=request.utterance.call_id,
            not_before=iso(now) if executable else None,
            not_after=iso(now + request.rules.decision_seconds) if executable else None,
            trigger=msgspec.to_builtins(trigger) if type(trigger) is Trigger else None,
            instruction=(request.segments or ()) if self._store_instruction else msgspec.UNSET,
        )

    def _held_record(self, gate: Gate, digest: str) -> Record:
        record_id = new_id()
        return Record(
            schema_version=SCHEMA_VERSION, action_key=None, phase=None, fixed=None, fields=None, advisory_notes="",
            user_checklist=None, unknown_count=None, unverified_checklist_count=None, gate=gate,
            execution_decision="hold", reason=reason_of(gate, "hold"), record_id=record_id, decision_id=record_id,
            scope=Scope(), user_id="", tool=None, timestamp=iso(self._clock.now()), request_digest=digest,
            rules_digest=self._rules().digest,
        )  # fmt: skip

    def _question(self, ready: Ready, decision: Decision, record: Record) -> Question:
        kept = encode(as_given(ready.request)) if self._store_instruction else None
        plan = ready.setup.plan_for(ready.request.tool) if decision.fields is not None else None
        slots = open_slots(ready.request, decision, plan) if isinstance(plan, Plan) else {}
        return question_of(record, slots, self._clock.now(), self._limits, kept)

    def _remember(self, question_id: str, request: Request) -> None:
        with self._lock:
            self._given[question_id] = request
            if len(self._given) > _REMEMBERED:
                self._given.popitem(last=False)

    def _report(self, record: Record) -> None:
        gate = record.gate
        if gate is not None and gate.diag is not msgspec.UNSET:
            _log.warning("%s %s: %s", record.record_id, gate.kind, gate.diag)  # to the logs, to nobody else


def _answered(request: Request, answers: list[Answer]) -> Request:
    """Add stored answers to a request; what the caller hands over itself comes first."""
    values = {name: freeze(value, name) for answer in answers for name, value in answer.values.items()}
    items = {name: value for answer in answers for name, value in answer.items.items()}
    said = [Segment(a.restatement, USER, f"answer:{a.question_id}") for a in answers if a.restatement is not None]
    utterance = request.utterance
    if said:
        utterance = msgspec.structs.replace(utterance, segments=(*(utterance.segments or ()), *said))
    return msgspec.structs.replace(
        request,
        utterance=utterance,
        user_answers={**values, **request.user_answers},
        checklist_answers={**items, **request.checklist_answers},
    )


def as_given(request: Request) -> dict[str, object]:
    """Return a request as the JSON object it could have come as."""
    utterance, tool = request.utterance, request.tool
    given: dict[str, object] = {
        "user_id": utterance.user_id,
        "scope": utterance.scope,
        "call_id": utterance.call_id,
        "instruction": utterance.segments,
        "zone": utterance.zone,
        "locale": utterance.locale,
        "tool": {
            "server": tool.server,
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "outputSchema": tool.output_schema,
            "annotations": tool.annotations,
            "_meta": tool.meta,
        },
    }
    plain = ("claims", "pre_set_data", "fixed_pre_set", "measured_data", "prior_execution_state", "user_checklist",
             "user_answers", "checklist_answers", "intent_attempt", "tool_attempt")  # fmt: skip
    given |= {name: getattr(request, name) for name in plain}
    return {name: value for name, value in given.items() if value is not None}


def _typed(record: Record, question: Question | None) -> Checked:
    decision = record.execution_decision
    if decision == "execute":
        return Executable(record)
    if decision == "ask_user" and question is not None:
        return Asking(record, question)
    return Deferred(record) if decision == "deferred" else Held(record)
