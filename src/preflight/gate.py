"""The shell around the core: reads a request, has its needs met, records the verdict (R-8). It cannot execute."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from threading import Lock
from types import MappingProxyType

import msgspec

from preflight.clock import iso, seconds_of
from preflight.codec import digest_of_any, encode, has_json_form, to_json
from preflight.core.decide import Path, guarded
from preflight.core.outcome import Run
from preflight.core.schema import Plan
from preflight.core.setup import Setup
from preflight.core.slots import open_slots
from preflight.core.when import slot_of
from preflight.core.wording import reason_of
from preflight.drafts import Drafts
from preflight.errors import Erased, InvalidInput, StorageError, describe, storable
from preflight.folding import asked_once, folds_of
from preflight.guard import Driven
from preflight.ids import new_id
from preflight.model.decision import SCHEMA_VERSION, Decision, Diagnostics, Gate
from preflight.model.question import Answer, Question
from preflight.model.record import Instructed, Record, ToolRef
from preflight.model.request import Request, Scope, request_digest
from preflight.model.trigger import Trigger
from preflight.once import Once
from preflight.ports import Clock, Signer, Storage
from preflight.questions import question_of
from preflight.repeats import answered, as_given, asked_again, counted, counting, said_then, same_tool, trigger_of
from preflight.results import Asking, Checked, Deferred, Executable, Held
from preflight.rulebook import RuleSource, with_user
from preflight.scheduling import clock_of, keep, kept_request
from preflight.secrecy.documents import Secrecy, needles_given, needles_of, without_masked
from preflight.secrecy.masking import Needles

Given = Mapping[str, object] | Request
_log = logging.getLogger("preflight")
_log.addHandler(logging.NullHandler())  # a library is silent unless the program wants its logs
_REMEMBERED = 1_000


class Ready(msgspec.Struct, frozen=True):
    """A request that is to be decided now."""

    request: Request
    given: Request
    """The request as it came: without the stored answers, which a repetition finds again."""
    setup: Setup
    seen: int = 0
    """How many records this process had appended when the request was read."""

    def path(self) -> Path:
        """Return the decision path to walk."""
        return guarded(self.request, self.setup)


class Shell:
    """What surrounds a decision: the request, the clock, the log, the questions."""

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        rules: RuleSource,
        setup: Setup,
        *,
        store_instruction: bool,
        signer: Signer,
        secrecy: Secrecy,
    ) -> None:
        """Record to `storage` what is decided under the rules in force; `signer` signs it, `secrecy` hides secrets."""
        self._signer = signer
        self._secrecy = secrecy
        self._storage = storage
        self._clock = clock
        self._rules = rules
        self._setup = setup
        self._limits = setup.limits
        self._store_instruction = store_instruction
        self._given: OrderedDict[str, Request] = OrderedDict()
        self._drafts = Drafts()
        self._once = Once(storage, secrecy.digest)
        self._lock = Lock()
        self._turn = Lock()
        self._appended = 0

    # before the decision

    def read(self, given: Given) -> Ready:
        """Read a request and add what is stored about its call: answers, earlier asks, the clock.

        Raises InvalidInput naming the key that is wrong.
        """
        seen = self._appended
        came = request = given if isinstance(given, Request) else Request.parse(given, limits=self._limits)
        utterance = request.utterance
        if not utterance.now:
            utterance = msgspec.structs.replace(utterance, now=iso(self._clock.now()))
            request = msgspec.structs.replace(request, utterance=utterance)
        if utterance.call_id is not None:
            request = self._with_answers(request, utterance.call_id)
        if isinstance(request.trigger, Mapping):
            request = msgspec.structs.replace(request, trigger=self._verified(request))
        return Ready(self._under_rules(request), came, self._setup, seen)

    def _under_rules(self, request: Request) -> Request:
        """Add the rules in force for the tool, and what the rules hold for the user; their digest is recorded."""
        rules = self._rules()
        who = (request.user_id, request.scope.tenant)
        tool = rules.for_tool(request.tool.server, request.tool.name, *who)
        user = rules.for_user(*who)
        tool = with_user(tool, user)
        added: dict[str, object] = {"rules": tool, "rules_digest": rules.digest}
        if user.settings:  # what the caller hands over speaks of this run, so it comes first
            added["pre_set_data"] = MappingProxyType({**user.settings, **request.pre_set_data})
        if user.checklist:
            added["user_checklist"] = (*request.user_checklist, *user.checklist)
        if tool.fields and request.prior_execution_state is not None:
            added["prior_execution_state"] = without_masked(request.prior_execution_state)
        return msgspec.structs.replace(request, **added)

    def earlier(self, ready: Ready) -> Checked | None:
        """Return the verdict that what was decided or done before leaves: the same one, or that it is a repetition."""
        standing = self._standing(ready)
        if standing is not None:
            return standing
        before = self._once.proposed_before(ready.request, ready.setup)
        return None if before is None else self._append(ready, Run(ready.request, ready.setup).repeated(before))

    def _standing(self, ready: Ready) -> Checked | None:
        """Return the verdict of the same call and the same facts, if it still stands (idempotence)."""
        call_id = ready.request.utterance.call_id
        stored = None if call_id is None else self._storage.latest_for_call(ready.request.scope, call_id)
        if stored is None:
            return None
        record = stored.record
        if self._was_started(record, ready.request):
            return Executable(record)
        if type(ready.request.trigger) is Trigger:
            return None  # what was held at its trigger is never answered from what was found then
        if ready.request.unattended and record.execution_decision == "hold":
            return None  # nobody is there to notice that what held it is over: sent again, it is tried again
        gate = record.gate if record.execution_decision == "hold" else None
        if gate is not None and (gate.kind == "repeated" or gate.unmet or gate.unknown_conditions):
            return None  # facts of then: what it repeats may have failed, a measurement be another
        same_facts = record.request_digest == self._digest(ready.request)
        if not same_facts or record.rules_digest != ready.request.rules_digest:
            return None
        question = self._storage.question(record.question_id) if record.question_id else None
        ends = question.expires_at if question is not None else record.not_after
        if ends is not None and self._clock.now() >= seconds_of(ends):
            return None  # what nobody started or answered in time is decided again
        if question is not None and self._storage.answer_to(question.question_id) is not None:
            return None  # answered as before, and refused as before: that is a further ask
        return _typed(record, question)

    def _was_started(self, record: Record, request: Request) -> bool:
        """Whether the call was started: then it is not decided again, whatever is said about it later (R-75)."""
        if record.execution_decision != "execute" or record.user_id != request.user_id:
            return False
        if not same_tool(record, request) or record.trigger != trigger_of(request):
            return False
        return len(self._storage.steps(record.decision_id)) > 1

    def _with_answers(self, request: Request, call_id: str) -> Request:
        """Add what this user was asked and answered about this call; values count for the tool they were asked for."""
        questions = [q for q in self._storage.asked(request.scope, call_id) if q.user_id == request.user_id]
        if not questions:
            return request
        who = (request.user_id, request.scope.tenant)
        least = self._rules().for_tool(request.tool.server, request.tool.name, *who).channel
        answers = counting(self._storage.answers_for_call(request.scope, call_id), least)
        ours = []
        for question in questions:
            stored = self._storage.get(question.decision_id)
            if question.kind == "restatement":  # said again, it may lead to another tool
                if question.question_id in answers and stored is not None:
                    request = asked_again(request, stored.record.gate)
            elif stored is None or not same_tool(stored.record, request):
                continue
            ours.append(question)
        # what still waits for its answer, while the user said something else, was not asked in vain
        now = self._clock.now()
        over = [q for q in ours if q.question_id in answers or now >= seconds_of(q.expires_at)]
        return answered(counted(request, over), list(self._opened(ours, answers)))

    def _opened(self, questions: list[Question], answers: Mapping[str, Answer]) -> Iterator[Answer]:
        """Yield the answers that were given; those of an erased person are none any more (R-78)."""
        for question in questions:
            answer = answers.get(question.question_id)
            with suppress(Erased):
                if answer is not None:
                    yield self._secrecy.opened(answer, question.scope, question.user_id)

    def _digest(self, request: Request) -> str:
        return self._secrecy.digest(request, request_digest(request))

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
        when = record.fixed.c1_when_case if record.fixed else None
        if record.execution_decision != "deferred" or not same or not same_tool(record, request) or when is None:
            return None
        return Trigger(record.decision_id, occurrence, when, clock_of(record))

    # after the decision

    def conclude(self, ready: Ready, driven: Driven) -> Checked:
        """Record a decision and, where it asks, the question.

        An interrupt that a hook brought is raised again, once the run is recorded as held.
        """
        if driven.interrupt is None:
            return self.record(ready, driven.decision)
        self.record(ready, Run(ready.request, ready.setup).internal_error(driven.interrupt))
        raise driven.interrupt

    def draft(self, ready: Ready, decision: Decision) -> Decision:
        """Remember a decision that is handed out before it is recorded."""
        before = self._once.proposed_before(ready.request, ready.setup)
        if before is not None:
            return self._drafts.add(ready.request, Run(ready.request, ready.setup).repeated(before))
        decision, _ = self._once.judged(ready.request, ready.setup, decision)
        return self._drafts.add(ready.request, decision)

    def record_draft(self, ready: Ready, decision: Decision) -> Checked:
        """Record a decision that was handed out here, once; one made or changed by hand is refused (R-8, R-74)."""
        self._drafts.take(ready.request, decision)
        return self.record(ready, decision)

    def record(self, ready: Ready, decision: Decision) -> Checked:
        """Append a decision to the log and return it with its type (R-8)."""
        if ready.request.utterance.call_id is None:
            return self._recorded(ready, decision)
        with self._turn:  # of two checks of one call at once, the second gets the verdict of the first
            before = self.earlier(ready) if self._appended != ready.seen else None
            return self._recorded(ready, decision) if before is None else before

    def _recorded(self, ready: Ready, decision: Decision) -> Checked:
        try:
            return self._append(ready, decision)
        except StorageError as fault:
            if has_json_form(decision):
                raise
            # a hook brought text that cannot be written: that, too, is recorded
            return self._append(ready, Run(ready.request, ready.setup).internal_error(fault))

    def _append(self, ready: Ready, decision: Decision) -> Checked:
        decision, instructed = self._once.judged(ready.request, ready.setup, decision)
        record, rules = self._record_of(ready, decision, instructed), ready.request.rules
        needles = needles_of(ready.request, decision)
        question = self._question(ready, decision, record) if decision.execution_decision == "ask_user" else None
        if question is not None:
            made, question = question, self._asked(ready, decision, question, needles)
            record = msgspec.structs.replace(record, question_id=question.question_id)
            if question.question_id == made.question_id:  # else it is about another run, which an answer repeats
                self._remember(question.question_id, ready.given)
        stored = keep(self._storage, self._secrecy.record(record, rules, needles), self._signer)
        self._appended += 1
        self._report(stored.record)
        return _typed(stored.record, question)

    def refuse(self, given: object, fault: InvalidInput) -> Checked:
        """Record that a malformed request was held: the digest of what came, never the body."""
        said = self._needles(given).mask(storable(str(fault)))
        record = self._held_record(Gate(kind="request_invalid", payload_errors=(said,)), digest_of_any(given))
        return Held(self._storage.append(record, signer=self._signer).record)

    def stopped(self, given: object, fault: Exception) -> Checked:
        """Hold after a fault around the decision, recorded where the store can still take it (R-8, R-31)."""
        needles = self._needles(given)
        diag = Diagnostics(fault=needles.mask(describe(fault)))
        record = self._held_record(
            Gate(kind="internal_error", route="definition_repair", diag=diag), digest_of_any(given)
        )
        try:
            stored = None if isinstance(fault, StorageError) else self._storage.append(record, signer=self._signer)
        except Exception as second:  # noqa: BLE001  without a record nothing can be executed either
            fault, stored = second, None
        if stored is None:
            _log.error("a run could not be recorded: %s", needles.mask(describe(fault)))
            return Held(record, recorded=False)
        self._report(stored.record)
        return Held(stored.record)

    def _needles(self, given: object) -> Needles:
        """Return the search for secrets in the text of a fault around a request that may not even be readable."""
        try:
            return needles_given(given, self._rules().for_tool)
        except Exception:  # noqa: BLE001  what came may be anything, and so may the rules' fault
            return Needles([given])  # then nothing of it may be repeated

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
        request = said_then(request, question.created_at, iso(self._clock.now()))
        if question.call_id is not None:
            return request
        if question.kind == "restatement":
            stored = self._storage.get(question.decision_id)
            request = asked_again(request, stored.record.gate if stored else None)
        return answered(counted(request, [question]), [answer])

    def _record_of(self, ready: Ready, decision: Decision, instructed: Instructed | None) -> Record:
        request, now = ready.request, self._clock.now()
        record_id = new_id()
        executable = decision.execution_decision == "execute"
        parts = msgspec.structs.asdict(decision)
        parts["trigger"] = trigger_of(request) if decision.trigger is None else to_json(decision.trigger)
        return Record(
            **parts,
            record_id=record_id,
            decision_id=record_id,
            scope=request.scope,
            user_id=request.user_id,
            tool=ToolRef(request.tool.server, request.tool.name, request.tool.fingerprint),
            timestamp=iso(now),
            request_digest=self._digest(request),
            rules_digest=request.rules_digest,
            call_id=request.utterance.call_id,
            unattended=request.unattended,
            instructed=instructed,
            read_by=request.read_by,
            not_before=iso(now) if executable else None,
            not_after=iso(now + request.rules.decision_seconds) if executable else None,
            instruction=(request.segments or ()) if self._store_instruction else msgspec.UNSET,
            request=kept_request(ready.given, request, decision, always=self._store_instruction),
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
        kept = encode(as_given(ready.given)) if self._store_instruction else None
        plan = ready.setup.plan_for(ready.request.tool) if decision.fields is not None else None
        slots = open_slots(ready.request, decision, plan) if isinstance(plan, Plan) else {}
        if isinstance(plan, Plan):
            when = slot_of(plan)
            slots = {**slots, when.name: when}
        return question_of(record, slots, self._clock.now(), self._limits, kept)

    def _asked(self, ready: Ready, decision: Decision, question: Question, needles: Needles) -> Question:
        """Store a question, or attach the run to an open one that is the same."""
        request = ready.request
        folds = [self._secrecy.digest(request, fold) for fold in folds_of(request, decision, question)]
        kept = self._secrecy.question(question, request.rules, needles)
        return asked_once(self._storage, kept, folds, self._clock.now())

    def _remember(self, question_id: str, request: Request) -> None:
        with self._lock:
            self._given[question_id] = request
            if len(self._given) > _REMEMBERED:
                self._given.popitem(last=False)

    def _report(self, record: Record) -> None:
        gate = record.gate
        if gate is not None and gate.diag is not msgspec.UNSET:
            _log.warning("%s %s: %s", record.record_id, gate.kind, gate.diag)  # to the logs, to nobody else


def _typed(record: Record, question: Question | None) -> Checked:
    decision = record.execution_decision
    if decision == "execute":
        return Executable(record)
    if decision == "ask_user" and question is not None:
        return Asking(record, question)
    return Deferred(record) if decision == "deferred" else Held(record)
