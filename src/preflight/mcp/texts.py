"""What the model is told when a call did not run, or not as it proposed. Never a candidate (R-9), never a token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from preflight.errors import to_settle
from preflight.mcp.eras import Object
from preflight.model.json_value import is_object, thaw
from preflight.model.pointer import tokens
from preflight.model.question import Question
from preflight.model.record import Record
from preflight.render.hints import Hints
from preflight.render.record import named
from preflight.render.visible import value_text, visible
from preflight.results import Asking, Checked, Executed, Failed, Held, InDoubt, Refused

DECISION = "preflight/decision"
QUESTION = "preflight/question"
CHANGED = "preflight/changed"
_NO_ROOM: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf", "not", "unevaluatedProperties", "maxProperties",
                             "propertyNames", "patternProperties", "const", "enum"})  # fmt: skip
"""Keywords with which a schema may refuse a property more."""
AGAIN: Final = (
    "Not called again: the same words led to the same call, which was started. If it is to run once more, the user "
    "says so; if its outcome is not known, a person settles it."
)
STARTED: Final = (
    "Not called again: this very call was started before. If its outcome is not known, a person settles it; "
    "if it is to run once more, the user says so."
)
_BECAME: Final = {
    "executed": "it was executed. If it is to run once more, the user says so",
    "executing": "it is under way, or its outcome was lost. If it was, a person finds out and settles it: {}",
    "deferred": "it waits for its time or event, and nothing was started yet. A person can change or cancel it",
    "in_doubt": "its outcome is not known: it may have taken effect. A person finds out and settles it: {}",
}
"""What became of a call that was started or put off, by the state of its last record."""
_UNRECORDED: Final = (
    "Held, nothing was called: what was decided could not be recorded, since the record store cannot be written (full, "
    "locked, or gone); the log says why."
)


def blocked(checked: Checked) -> Object:
    """Tell that a call is held or waits for its trigger, and why."""
    record = checked.record
    if checked.decision == "deferred":
        return _result("Nothing was called yet: the call waits for its time or event.", record)
    if isinstance(checked, Held) and not checked.recorded:
        return _result(_UNRECORDED, record)
    return _result(f"Held, nothing was called: {_reason(record)}.", record)


def again(record: Record, decision_id: str, last: Record | None, hints: Hints) -> Object:
    """Tell that the same words led to the same call before: as which decision, and what became of it (R-79).

    `last` is what is recorded of that decision last.
    """
    became = _became(decision_id, last, hints)
    told = f"Not called again: the same words led to the same call, decided as {decision_id}: {became}."
    return _result(told if became else AGAIN, record)


def started_before(record: Record, last: Record | None, hints: Hints) -> Object:
    """Tell that this very call was started before, and what became of it (R-75)."""
    became = _became(record.decision_id, last, hints)
    told = f"Not called again: this very call was started before, as decision {record.decision_id}: {became}."
    return _result(told if became else STARTED, record)


def _became(decision_id: str, last: Record | None, hints: Hints) -> str:
    outcome = None if last is None else last.outcome
    state = None if last is None else (outcome and outcome.settled_as) or last.execution_decision
    return _BECAME.get(state or "", "").format(visible(hints.command("settle", decision_id)))


def waiting(asking: Asking, where: str, why: str = "") -> Object:
    """Tell that a question is open, where a person can answer it, and that the same call then goes on."""
    question = asking.question
    lines = [
        f"Nothing was called: {visible(question.message)}",
        *_open(question),
        *([visible(why)] if why else []),
        f"The question waits for a person until {question.expires_at[:16]} UTC. {where}",
        "Then send exactly the same call again. Do not answer it yourself, and do not guess a value.",
    ]
    result = _result("\n".join(lines), asking.record)
    result["_meta"][QUESTION] = question.question_id
    return result


def parked(asking: Asking, where: str) -> Object:
    """Tell that a question is kept for a person, and that nobody is waited for (R-95)."""
    question = asking.question
    lines = [
        f"Nothing was called: {visible(question.message)}",
        *_open(question),
        "Nobody attends this run, so nothing waits here: go on with what does not depend on this call.",
        f"The question is kept for a person until {question.expires_at[:16]} UTC. {where}",
        "Once it is answered, exactly the same call, sent again, goes on with the answer, also after a restart.",
        "Do not answer it yourself, and do not guess a value.",
    ]
    result = _result("\n".join(lines), asking.record)
    result["_meta"][QUESTION] = question.question_id
    return result


def _open(question: Question) -> list[str]:
    names = [f"`{visible(slot.name)}`" for slot in question.slots]
    names += [f"`{visible(item.description) or visible(item.id)}`" for item in question.items]
    return [f"What is open: {', '.join(names)}."] if names else []


def once_more(done: Record) -> Object:
    """Return what a person confirms of a call that was executed just so before (R-79), in the same text each time."""
    at = f"{done.timestamp[:16].replace('T', ' ')} UTC"
    told = f"this very call was executed at {at}, as decision {done.decision_id}; it is meant once more"
    return {"id": "once_more", "description": told}


def refused(refusal: Refused) -> Object:
    """Tell why a decision could not be started."""
    if refusal.code == "already_started":
        return _result(STARTED, refusal.record)
    if refusal.code == "repeated":
        return _result(AGAIN, refusal.record)
    return _result(f"Nothing was called: {visible(refusal.why)}.", refusal.record)


def busy(record: Record, holder: str) -> Object:
    """Tell that the turn of a call did not come in time, and who has it."""
    text = (
        f"Nothing was called: another call of this kind is under way, decision `{holder}`. Send this call again later; "
        f"{to_settle(holder)}."
    )
    return _result(text, record)


def in_doubt(execution: InDoubt) -> Object:
    """Tell that nobody knows whether a call took effect."""
    text = (
        f"In doubt: the call was sent and its outcome is not known ({visible(execution.error)}). "
        "It may have taken effect. It is not sent again; a person finds out and settles it."
    )
    return _result(text, execution.record)


def ran(execution: Executed | Failed, proposed: Mapping[str, object], schema: object = None) -> Object:
    """Return the server's result, and tell what of the proposed arguments was not sent as proposed.

    Programs show a model the structured content alone where there is some: there it is told, too, unless the tool's
    output `schema` has no room for it. Without a result the call was started and never sent, for the reason that it
    failed with.
    """
    if isinstance(execution, Failed) and execution.result is None:
        return _result(f"Nothing was called: {visible(execution.error.partition(': ')[2])}.", execution.record)
    given = execution.shown
    result: Object = dict(given) if isinstance(given, Mapping) else {}
    meta = result.get("_meta")
    added: Object = {DECISION: execution.record.decision_id}
    told = changes(proposed, execution.record)
    if told:
        added[CHANGED] = told
        text = _changes_text(told)
        result["content"] = [*_content(result), {"type": "text", "text": text}]
        structured = result.get("structuredContent")
        if isinstance(structured, Mapping) and _has_room(schema):
            result["structuredContent"] = {**structured, CHANGED: text}
    result["_meta"] = {**(meta if isinstance(meta, Mapping) else {}), **added}
    return result


def _has_room(schema: object) -> bool:
    """Whether an object of this schema may have a property more, as far as can be seen at its root."""
    if schema is None:
        return True
    return is_object(schema) and _NO_ROOM.isdisjoint(schema) and schema.get("additionalProperties", True) is True


def changes(proposed: Mapping[str, object], record: Record) -> Object:
    """Return the arguments that were sent otherwise than proposed: what was sent, or None for what was left out.

    The record masks what is secret (R-78).
    """
    sent: Object = msgspec.to_builtins(record.call_arguments or {}, enc_hook=thaw)
    secret = {tokens(pointer)[1] for pointer in record.sealed if pointer.startswith("/call_arguments/")}
    names = [name for name in sent if name not in secret and (name not in proposed or proposed[name] != sent[name])]
    return {**{name: sent[name] for name in names}, **{name: None for name in proposed if name not in sent}}


def _changes_text(told: Mapping[str, object]) -> str:
    parts = [
        f"`{visible(name)}` was left out" if value is None else f"`{visible(name)}` was sent as {value_text(value)}"
        for name, value in told.items()
    ]
    return f"Not sent as proposed, since only confirmed values are sent: {'; '.join(parts)}."


def _content(result: Object) -> list[object]:
    content = result.get("content")
    return list(content) if isinstance(content, list) else []


def _reason(record: Record) -> str:
    if not named(record):
        return "it is not settled that the tool does what the user meant"  # no tool is named
    return visible(record.reason)


def failure(text: str) -> Object:
    """Return an error result without a record."""
    return {"content": [{"type": "text", "text": text}], "isError": True}


def _result(text: str, record: Record | None) -> Object:
    meta = {} if record is None else {DECISION: record.decision_id}
    return {**failure(text), "_meta": meta}
