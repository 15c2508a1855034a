"""A call that comes again: what was asked and answered about it joins the request (R-91, R-94)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType

import msgspec
from msgspec import UNSET

from preflight.grounding import Context, clock
from preflight.model.channel import Channel, enough
from preflight.model.decision import Gate
from preflight.model.instruction import ANSWER, USER, Segment
from preflight.model.json_value import freeze
from preflight.model.question import Answer, Question
from preflight.model.record import Record
from preflight.model.request import Request
from preflight.model.trigger import Trigger


def answered(request: Request, answers: list[Answer]) -> Request:
    """Add stored answers to a request: they were asked for because what it came with was not enough."""
    values = {name: freeze(value, name) for answer in answers for name, value in answer.values.items()}
    items = {name: value for answer in answers for name, value in answer.items.items()}
    utterance = request.utterance
    segments = utterance.segments or ()
    current = max((s.request for s in segments if s.request is not None), default=None)
    said = [
        Segment(a.restatement, USER, ANSWER + a.question_id, current, _where_read(a.answered_at, utterance.now))
        for a in answers
        if a.restatement
    ]
    if said:
        utterance = msgspec.structs.replace(utterance, segments=(*segments, *said))
    return msgspec.structs.replace(
        request,
        utterance=utterance,
        user_answers=MappingProxyType({**request.user_answers, **values}),
        checklist_answers=MappingProxyType({**request.checklist_answers, **items}),
    )


def _where_read(at: str, now: str) -> str:
    """Return a moment with the offset of the clock `now`: its own is that of records, and says nothing of the user."""
    run = clock.moment(Context(now=now))
    return at if run is None else datetime.fromisoformat(at).astimezone(run.tzinfo).isoformat()


def said_then(request: Request, then: str, now: str) -> Request:
    """Return a request of then to be decided now: what was said then is still read by that clock (R-51)."""
    utterance, then = request.utterance, request.utterance.now or then
    segments = utterance.segments and tuple(
        msgspec.structs.replace(segment, said_at=then) if segment.said_at is UNSET else segment
        for segment in utterance.segments
    )
    anew = msgspec.structs.replace(utterance, now=_where_read(now, then), segments=segments)
    return msgspec.structs.replace(request, utterance=anew)


def counting(answers: Iterable[Answer], least: Channel) -> dict[str, Answer]:
    """Return the answers that count for a tool, by question: of another tool they may fall short (R-91)."""
    return {answer.question_id: answer for answer in answers if enough(answer.channel, least)}


def counted(request: Request, questions: Iterable[Question]) -> Request:
    """Count how often each slot, and each item or condition, was asked for (R-94)."""
    slots, items = Counter(request.asked), Counter(request.asked_items)
    for question in questions:
        slots.update(slot.name for slot in question.slots)
        items.update(item.id for item in question.items)
    return msgspec.structs.replace(request, asked=MappingProxyType(slots), asked_items=MappingProxyType(items))


def asked_again(request: Request, gate: Gate | None) -> Request:
    """Count a gate's question that was answered as an attempt (R-22, R-25)."""
    if gate is None:
        return request
    attempts = {"intent_attempt": gate.next_intent_attempt, "tool_attempt": gate.next_tool_attempt}
    counted = {name: max(n, getattr(request, name)) for name, n in attempts.items() if isinstance(n, int)}
    return msgspec.structs.replace(request, **counted)


def same_tool(record: Record, request: Request) -> bool:
    """Whether a record is about the tool of a request, by server and name."""
    tool = request.tool
    return record.tool is not None and (record.tool.server, record.tool.name) == (tool.server, tool.name)


def trigger_of(request: Request) -> object:
    """Return the verified trigger of a run as JSON, or None."""
    return msgspec.to_builtins(request.trigger) if type(request.trigger) is Trigger else None


def as_given(request: Request) -> dict[str, object]:
    """Return a request as the JSON object it could have come as."""
    utterance, tool = request.utterance, request.tool
    given: dict[str, object] = {
        "user_id": utterance.user_id,
        "scope": utterance.scope,
        "call_id": utterance.call_id,
        "instruction_id": request.instruction_id,
        "instruction": utterance.segments,
        "zone": utterance.zone,
        "locale": utterance.locale,
        "now": utterance.now or None,
        "unattended": True if request.unattended else None,
        "trigger": request.trigger if isinstance(request.trigger, Mapping) else trigger_of(request),
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
