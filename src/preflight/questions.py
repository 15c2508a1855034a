"""Questions made of decisions, and answers checked before they count (specification, section 11)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import UNSET

from preflight.clock import iso, seconds_of
from preflight.core.lookup import NEEDS_CONFIRMATION
from preflight.core.schema import compile_schema
from preflight.core.unattended import confirms_a_call
from preflight.core.wording import message_for
from preflight.errors import NO_RULES, AnswerRefused, InvalidInput, storable
from preflight.ids import new_id
from preflight.limits import Limits
from preflight.model.channel import Channel, enough
from preflight.model.decision import Gate
from preflight.model.json_value import confirmation_id, freeze, is_object, thaw
from preflight.model.question import RESTATEMENT, Answer, AskedItem, AskedSlot, Question
from preflight.model.record import Record
from preflight.model.request import Scope
from preflight.model.slot import Slot, Unsupported
from preflight.ports import Clock, Storage
from preflight.render.schema import wanted
from preflight.rulebook import RuleSource
from preflight.secrecy.documents import Secrecy
from preflight.secrecy.masking import Needles

VALUE_MESSAGE = "Please say what is missing."
CONFIRM_MESSAGE = "Please confirm what is listed."
ALTERNATIVE = "alternative"
"""The note of a slot that is asked for as part of one of several alternatives (R-35)."""


def question_of(record: Record, slots: Mapping[str, Slot], now: float, limits: Limits, kept: bytes | None) -> Question:
    """Put everything a person can answer in one question, without a candidate (R-9, R-90).

    `slots` are the open slots by name; `kept` is the request to store with the question, or None.
    """
    gate = record.gate
    assert gate is not None  # noqa: S101  an ask always has a gate
    restate = message_for(gate.kind)
    asked, items = _apart(_asked_slots(record, gate, slots), _asked_items(record, gate))
    confirms = not asked and bool(items)
    return Question(
        question_id=new_id(),
        kind="restatement" if restate else "confirmation" if confirms else "value",
        decision_id=record.decision_id,
        scope=record.scope,
        user_id=record.user_id,
        message=restate or (CONFIRM_MESSAGE if confirms else VALUE_MESSAGE),
        created_at=iso(now),
        expires_at=iso(now + limits.question_seconds),
        call_id=record.call_id,
        slots=asked,
        items=items,
        request=kept,
    )


def _apart(
    asked: tuple[AskedSlot, ...], items: tuple[AskedItem, ...]
) -> tuple[tuple[AskedSlot, ...], tuple[AskedItem, ...]]:
    """Return what is asked with each name meaning one thing: an answer says by it what it is about (R-16).

    An item that is called like an open slot is asked for after it. Text whose approval is, is typed and not approved.
    Items of one id are confirmed by one answer, so that they are shown as one.
    """
    names = {slot.name for slot in asked}
    apart = (
        msgspec.structs.replace(slot, shown=UNSET, confirm=None) if slot.confirm in names else slot for slot in asked
    )
    found: dict[str, AskedItem] = {}
    for item in items:
        if item.id not in names:
            found[item.id] = _joined(found[item.id], item) if item.id in found else item
    return tuple(apart), tuple(found.values())


def _joined(one: AskedItem, other: AskedItem) -> AskedItem:
    told = dict.fromkeys(text for text in (one.description, other.description) if text)
    shown = other.shown if one.shown is UNSET else one.shown
    return AskedItem(one.id, "; ".join(told), one.note or other.note, shown)


def _asked_slots(record: Record, gate: Gate, slots: Mapping[str, Slot]) -> tuple[AskedSlot, ...]:
    choices = {state.name: state.choices for state in record.states}
    notes = {field.name: field.note for field in gate.unknown_fields or () if field.route == "ask_user"}
    known = [state.name for state in record.states if state.status == "known"]
    spare: set[str] = set()
    for branch in gate.branches:  # any of the alternatives may be answered, and any be given up
        notes |= {name: None for option in branch.branch_options for name in option if name not in notes}
        spare |= {
            n for n in notes if any(n in o for o in branch.branch_options) and n not in _common(branch.branch_options)
        }
    asked = []
    for name, note in notes.items():
        if name in slots:
            given = note or (ALTERNATIVE if name in spare else None)
            none = name in spare or _is_deniable(slots[name], known)
            asked.append(_asked_slot(slots[name], given, choices.get(name, ()), spare=none))
    return tuple(asked)


def _is_deniable(slot: Slot, known: list[str]) -> bool:
    """Whether the user may say that there is no such element: the model alone proposed it, all of it (R-46).

    One with a place of its own may be missing only where nothing is known of those behind it: they would take it.
    """
    if slot.element is None:
        return False
    array, _, number = slot.element.rpartition("/")
    stand = {int(name[len(array) + 1 :].partition("/")[0]) for name in known if name.startswith(f"{array}/")}
    return max(stand, default=-1) < int(number) if slot.placed else int(number) not in stand


def _common(options: tuple[tuple[str, ...], ...]) -> set[str]:
    return set.intersection(*map(set, options)) if options else set()


def _asked_slot(slot: Slot, note: str | None, choices: tuple[object, ...], *, spare: bool) -> AskedSlot:
    # that there is none is an answer for what may be null and for what may be left out
    none = slot.nullable or not slot.required or spare
    asked = AskedSlot(slot.name, _without_candidates(slot.schema), note, none, choices)
    if note != NEEDS_CONFIRMATION or slot.claim is UNSET:
        return asked
    key = confirmation_id(slot.name, slot.claim)  # text the model may write is shown to be approved
    return msgspec.structs.replace(asked, shown=thaw(slot.claim), confirm=key)


def _asked_items(record: Record, gate: Gate) -> tuple[AskedItem, ...]:
    described: dict[str, dict[str, None]] = {}
    for listed in record.user_checklist or ():
        described.setdefault(listed.id, {})[listed.description] = None
    open_items = [item for item in gate.unverified_checklist or () if item.route == "ask_user"]
    items = [AskedItem(item.id, "; ".join(described.get(item.id, ())), item.note) for item in open_items]
    values = {state.name: state.value for state in record.states}
    call = {state.name: state.value for state in record.states if state.settled}
    call |= {claim.name: claim.value for claim in record.allowed_claims}
    for condition in record.conditions:
        if condition.status == "unknown" and condition.route == "ask_user" and not condition.missing:
            shown = values.get(condition.slot, UNSET) if condition.slot else UNSET
            shown = call if confirms_a_call(condition) else shown
            items.append(AskedItem(condition.id, condition.description, condition.note, thaw(shown)))
    return tuple(items)


_CANDIDATES = frozenset({"default", "examples"})
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_DATA = frozenset({"const", "enum"})


def _without_candidates(schema: object) -> object:
    """Return a schema to be shown, without the values its author would like to see (R-6, R-9)."""
    if isinstance(schema, list | tuple):
        return [_without_candidates(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        key: thaw(part)
        if key in _DATA
        else {name: _without_candidates(inner) for name, inner in part.items()}
        if key in _NAMED and isinstance(part, Mapping)  # what stands here are names, which may be any
        else _without_candidates(part)
        for key, part in schema.items()
        if key not in _CANDIDATES
    }


_ANSWERED = "question `{}` was answered before; the first answer stands"
_WHERE: Mapping[Channel, str] = {
    "program": "on the answer page or at a terminal",
    "page": "on the answer page or at a terminal",
    "terminal": "at a terminal",
}


class Questions:
    """The stored questions: read, answered once, never by a model (R-93)."""

    def __init__(self, storage: Storage, clock: Clock, secrecy: Secrecy, rules: RuleSource) -> None:
        """Keep questions in `storage`, what is secret in answers to `secrecy`, and to the channels of the rules."""
        self._storage = storage
        self._rules = rules
        self._secrecy = secrecy
        self._clock = clock

    def open(self, scope: Scope | None) -> list[Question]:
        """Return the questions that nobody answered and that have not expired, oldest first."""
        return self._storage.open_questions(scope, iso(self._clock.now()))

    def ask_by(self, question: Question) -> Channel:
        """Return the least channel by which an answer counts, under the rules of now (R-91)."""
        stored = self._storage.get(question.decision_id)
        tool = None if stored is None else stored.record.tool
        name = ("", "") if tool is None else (tool.server, tool.name)
        return self._rules().for_tool(*name, question.user_id, question.scope.tenant).channel

    def _judged(self, question: Question) -> None:
        """Refuse where no rules are given, and the question was asked under some: none of them would be checked."""
        stored = self._storage.get(question.decision_id)
        if stored is not None and stored.record.rules_digest is not None and self._rules().digest is None:
            message = f"question `{question.question_id}` was asked under rules, and none are given here; {NO_RULES}"
            raise AnswerRefused(message)

    def answerable(self, question_id: str) -> Question:
        """Return a question that can be answered now; raises AnswerRefused saying why one cannot."""
        question = self._storage.question(question_id)
        if question is None:
            message = f"no question has the id `{question_id}`; `preflight pending` lists the open ones"
            raise AnswerRefused(message)
        if self._clock.now() >= seconds_of(question.expires_at):
            message = f"question `{question_id}` expired at {question.expires_at}; check the call again"
            raise AnswerRefused(message)
        self._judged(question)
        if self._storage.answer_to(question_id) is not None:
            raise AnswerRefused(_ANSWERED.format(question_id))
        return question

    def take(
        self, question_id: str, given: Mapping[str, object], *, person: str, channel: str
    ) -> tuple[Question, Answer]:
        """Check an answer and store it; raises AnswerRefused saying what does not fit (R-91).

        `given` maps slot names to values, item ids to True, and `restatement` to text where that is asked.
        """
        question, now = self.answerable(question_id), self._clock.now()
        least = self.ask_by(question)
        if type(channel) is str and not enough(channel, least):
            message = f"an answer by `{storable(channel)}` does not count here; answer {_WHERE[least]}"
            raise AnswerRefused(message)
        asked = self._secrecy.opened(question, question.scope, question.user_id)
        try:
            answer = _checked(asked, _as_asked(question, asked, given), person=person, channel=channel, at=iso(now))
        except AnswerRefused as refused:
            if not question.private:
                raise
            message = _secrets_of(asked, given).mask(str(refused))
            raise AnswerRefused(message) from None
        if not self._storage.answer(self._secrecy.answer(answer, question)):
            raise AnswerRefused(_ANSWERED.format(question_id))
        return asked, answer


def _as_asked(shown: Question, asked: Question, given: Mapping[str, object]) -> Mapping[str, object]:
    """Return what was given under the keys that were asked: of a secret value, another key was shown (R-78)."""
    if not shown.private or not is_object(given):
        return given
    keys = {one.confirm: other.confirm for one, other in zip(shown.slots, asked.slots, strict=True)}
    keys |= {one.id: other.id for one, other in zip(shown.items, asked.items, strict=True)}
    return {keys.get(name) or name: value for name, value in given.items()}


def _secrets_of(asked: Question, given: object) -> Needles:
    """Return the search for what an error text about a private question must not repeat."""
    names = {slot.name for slot in asked.slots} | {item.id for item in asked.items}
    strays = [name for name in given if name not in names] if is_object(given) else []
    return Needles([given, strays, *(slot.shown for slot in asked.slots), *(item.shown for item in asked.items)])


def _checked(question: Question, given: Mapping[str, object], *, person: str, channel: str, at: str) -> Answer:
    if not is_object(given) or not all(type(name) is str for name in given):
        message = "the answer is no object; map what was asked to its values"
        raise AnswerRefused(message)
    if not given:
        message = "the answer is empty; nothing is read from silence"
        raise AnswerRefused(message)
    if type(person) is not str or type(channel) is not str or not channel:
        message = "who answers and by which channel are texts; give both"
        raise AnswerRefused(message)
    if person != question.user_id and question.kind != "permission":
        message = f"`{person}` is not the person this question is for"
        raise AnswerRefused(message)
    if question.kind == "restatement":
        return Answer(
            question_id=question.question_id, person=person, channel=channel, answered_at=at,
            restatement=_restated(given),
        )  # fmt: skip
    slots = {slot.name: slot for slot in question.slots}
    items = {item.id for item in question.items} | {slot.confirm for slot in question.slots if slot.confirm}
    if stray := sorted(given.keys() - slots.keys() - items):
        message = (
            f"`{storable(stray[0])}` was not asked; asked are {', '.join(f'`{n}`' for n in (*slots, *sorted(items)))}"
        )
        raise AnswerRefused(message)
    for slot in question.slots:
        if slot.confirm in given and given.get(slot.name, UNSET) is None:
            message = f"`{storable(slot.name)}` is approved, and there is said to be none; keep one"
            raise AnswerRefused(message)
    return Answer(
        question_id=question.question_id,
        person=person,
        channel=channel,
        answered_at=at,
        values={name: fitting(slots[name], value) for name, value in given.items() if name in slots},
        items={
            name: _confirmation(name, value) for name, value in given.items() if name in items and name not in slots
        },
    )


def _restated(given: Mapping[str, object]) -> str:
    text = given.get(RESTATEMENT)
    if given.keys() != {RESTATEMENT} or type(text) is not str or not text.strip():
        message = "this question asks for the act to be said again: answer with `restatement` and a text"
        raise AnswerRefused(message)
    if text != storable(text, len(text)):
        message = "the `restatement` has a lone surrogate; send valid Unicode"
        raise AnswerRefused(message)
    return text


def fitting(slot: AskedSlot, value: object) -> object:
    """Return a value that fits the tool's real schema (R-91); None says that there is none (R-46).

    Raises AnswerRefused saying what does not fit, and what the slot takes.
    """
    if value is None:
        if slot.nullable:
            return None
        message = f"`{slot.name}` cannot be left empty"
        raise AnswerRefused(message)
    try:
        freeze(value, slot.name)
    except InvalidInput as fault:
        raise AnswerRefused(storable(str(fault))) from None
    plan = compile_schema({"type": "object", "properties": {"value": slot.schema}})
    if type(plan) is Unsupported:
        message = f"`{slot.name}` has a schema that answers cannot be checked against: {plan.what}"
        raise AnswerRefused(message)
    if errors := plan.validate({"value": value}):  # type: ignore[union-attr]
        first = errors[0].replace("`/value", f"`/{slot.name}", 1)
        takes = wanted(slot.schema, nullable=slot.nullable)
        message = f"the answer to `{slot.name}` does not fit: {first}; it takes {takes}"
        raise AnswerRefused(message)
    return value


def _confirmation(name: str, value: object) -> bool:
    if value is not True:  # only the exact approving value
        message = f"`{name}` is confirmed by exactly `true`; leave it out to leave it open"
        raise AnswerRefused(message)
    return True
