"""The request: what the caller hands over to be decided (specification, section 3)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from preflight.errors import InvalidInput
from preflight.limits import DEFAULT, Limits
from preflight.model.instruction import ReadBy, Segment
from preflight.model.json_value import freeze, is_object, thaw
from preflight.model.rules import UNLISTED, ToolRules
from preflight.model.tool import Tool
from preflight.model.trigger import Trigger

EMPTY: Final[Mapping[str, object]] = MappingProxyType({})
_ENCODER = msgspec.json.Encoder(order="deterministic", decimal_format="number")


class Scope(msgspec.Struct, frozen=True, gc=False):
    """Where a run belongs: no record, question or prior state crosses it."""

    tenant: str = ""
    conversation: str = ""


class Utterance(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The part of a request that says what the user wants, without the tool (R-103).

    `segments` is None when the instruction came as one plain string or malformed: the source is then
    dead (R-12). `now` is the clock of the run, ISO 8601 with offset; `zone` an IANA name.
    """

    user_id: str
    scope: Scope
    segments: tuple[Segment, ...] | None
    call_id: str | None = None
    now: str = ""
    zone: str | None = None
    locale: str = "en"


class Request(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Everything one decision is made from, deeply frozen. Build it with `Request.parse`.

    `unattended` says that no person is there who could see the call or be asked about it now. `instruction_id`
    names what the user said that the call comes from: of one instruction, an act is started once (R-79).
    The shell adds what nobody can hand over: `asked` and `asked_items` count how often each slot, and each
    item or condition, was asked for in this call (R-94), `rules` are the rules in force for the tool,
    `rules_digest` names them.
    """

    utterance: Utterance
    tool: Tool
    claims: Mapping[str, object] = EMPTY
    pre_set_data: Mapping[str, object] = EMPTY
    fixed_pre_set: Mapping[str, object] = EMPTY
    measured_data: Mapping[str, object] = EMPTY
    prior_execution_state: object = None
    user_checklist: tuple[object, ...] = ()
    user_answers: Mapping[str, object] = EMPTY
    checklist_answers: Mapping[str, object] = EMPTY
    intent_attempt: int = 0
    tool_attempt: int = 0
    trigger: object = None
    unattended: bool = False
    instruction_id: str | None = None
    asked: Mapping[str, int] = MappingProxyType({})
    asked_items: Mapping[str, int] = MappingProxyType({})
    rules: ToolRules = UNLISTED
    rules_digest: str | None = None

    @property
    def user_id(self) -> str:
        """The requesting user."""
        return self.utterance.user_id

    @property
    def scope(self) -> Scope:
        """Tenant and conversation."""
        return self.utterance.scope

    @property
    def segments(self) -> tuple[Segment, ...] | None:
        """The instruction's segments, or None when it cannot ground anything (R-12)."""
        return self.utterance.segments

    @property
    def said_at(self) -> str:
        """The clock by which words are read of which it is not known when they were said.

        Of a run that fires it is the one when it was deferred (R-80).
        """
        trigger = self.trigger
        return trigger.said_at or self.utterance.now if type(trigger) is Trigger else self.utterance.now

    @property
    def read_by(self) -> ReadBy:
        """By what the words are read."""
        clocks = tuple(segment.said_at or "" for segment in self.segments or ())
        return ReadBy(self.said_at, self.utterance.zone, self.utterance.locale, clocks if any(clocks) else ())

    @classmethod
    def parse(cls, given: Mapping[str, object], *, limits: Limits = DEFAULT) -> Request:
        """Read a request in the words of the specification; unknown keys are refused.

        Shape errors of the caller raise InvalidInput naming the key. What the specification declares
        harmless (a plain-string instruction, odd attempts, raw settings) is accepted and counts for nothing.
        """
        if not is_object(given):
            raise InvalidInput("request", f"a `{type(given).__name__}`", "send a JSON object")
        if stray := sorted(map(str, given.keys() - _KEYS)):
            raise InvalidInput(stray[0], "not a key of a request", f"use one of {', '.join(sorted(_KEYS))}")
        tool = given.get("tool")
        if tool is None:
            raise InvalidInput("tool", "missing", "send the MCP tool the call is for")
        # the tool is frozen and fingerprinted on its own, so that callers can hand over a prepared `Tool`
        plain = {key: value for key, value in given.items() if key != "tool"}
        prior = plain.get("prior_execution_state")
        if isinstance(prior, msgspec.Struct):  # a record, as the storage hands it out
            plain["prior_execution_state"] = msgspec.to_builtins(prior, enc_hook=thaw)
        frozen = freeze(plain, "request", limits)
        assert is_object(frozen)  # noqa: S101  freeze keeps objects objects
        return cls(
            utterance=_utterance(frozen, limits),
            tool=Tool.from_mcp(tool, limits=limits),
            claims=_object(frozen, "claims"),
            pre_set_data=_object(frozen, "pre_set_data"),
            fixed_pre_set=_object(frozen, "fixed_pre_set"),
            measured_data=_object(frozen, "measured_data"),
            prior_execution_state=frozen.get("prior_execution_state"),
            user_checklist=_checklist(frozen.get("user_checklist")),
            user_answers=_object(frozen, "user_answers"),
            checklist_answers=_object(frozen, "checklist_answers"),
            intent_attempt=_attempt(frozen.get("intent_attempt")),
            tool_attempt=_attempt(frozen.get("tool_attempt")),
            trigger=frozen.get("trigger"),
            unattended=_flag(frozen, "unattended"),
            instruction_id=_optional_text(frozen, "instruction_id"),
        )


_KEYS = frozenset(
    {
        "user_id", "instruction", "tool", "claims", "pre_set_data", "fixed_pre_set", "measured_data",
        "prior_execution_state", "user_checklist", "user_answers", "checklist_answers", "intent_attempt",
        "tool_attempt", "trigger", "unattended", "scope", "call_id", "instruction_id", "now", "zone", "locale",
    }
)  # fmt: skip


def _utterance(given: Mapping[str, object], limits: Limits) -> Utterance:
    return Utterance(
        user_id=_text(given, "user_id"),
        scope=_scope(given.get("scope")),
        segments=_segments(given.get("instruction"), limits),
        call_id=_optional_text(given, "call_id"),
        now=_optional_text(given, "now") or "",
        zone=_optional_text(given, "zone"),
        locale=_optional_text(given, "locale") or "en",
    )


def _segments(given: object, limits: Limits) -> tuple[Segment, ...] | None:
    if given is None or type(given) is str:
        return None  # accepted, and dead
    if type(given) is not tuple:
        raise InvalidInput("instruction", f"a `{type(given).__name__}`", "send a list of segments")
    if len(given) > limits.segments:
        raise InvalidInput("instruction", f"more than {limits.segments} segments")
    return tuple(_segment(item, f"instruction/{i}") for i, item in enumerate(given))


def _segment(given: object, where: str) -> Segment:
    if not is_object(given) or type(given.get("text")) is not str:
        raise InvalidInput(where, "not a segment", "send `{text, trust, origin?, request?, said_at?}`")
    trust, origin, request = given.get("trust"), given.get("origin"), given.get("request")
    return Segment(
        text=str(given["text"]),
        trust=trust if type(trust) is str else "untrusted",  # only the exact label counts
        origin=origin if type(origin) is str else None,
        request=request if type(request) is int else None,
        said_at=_moment(given.get("said_at"), f"{where}/said_at"),
    )


def _moment(given: object, where: str) -> str | UnsetType:
    """Read when something was said; by another clock its words would mean another day."""
    if given is None:
        return UNSET
    try:
        known = type(given) is str and datetime.fromisoformat(given).tzinfo is not None
    except ValueError:
        known = False
    if not known:
        raise InvalidInput(where, "no moment", "send ISO 8601 with an offset, or leave it out")
    return str(given)


def _scope(given: object) -> Scope:
    if given is None:
        return Scope()
    if not is_object(given) or given.keys() - {"tenant", "conversation"}:
        raise InvalidInput("scope", "not a scope", "send `{tenant?, conversation?}`")
    tenant, conversation = given.get("tenant", ""), given.get("conversation", "")
    if type(tenant) is not str or type(conversation) is not str:
        raise InvalidInput("scope", "tenant and conversation are strings")
    return Scope(tenant, conversation)


def _attempt(given: object) -> int:
    """Absent, negative or not a whole number counts as 0 (R-17)."""
    return given if type(given) is int and given > 0 else 0


def _text(given: Mapping[str, object], key: str) -> str:
    value = given.get(key)
    if type(value) is not str or not value:
        raise InvalidInput(key, "missing or not a non-empty string", f"say who the request is from in `{key}`")
    return value


def _optional_text(given: Mapping[str, object], key: str) -> str | None:
    value = given.get(key)
    if value is not None and type(value) is not str:
        raise InvalidInput(key, f"a `{type(value).__name__}`", "send a string or leave it out")
    return value


def _flag(given: Mapping[str, object], key: str) -> bool:
    value = given.get(key, False)
    if type(value) is not bool:
        raise InvalidInput(key, f"a `{type(value).__name__}`", "send true or false, or leave it out")
    return value


def _object(given: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = given.get(key)
    if value is None:
        return EMPTY
    if not is_object(value):
        raise InvalidInput(key, f"a `{type(value).__name__}`", "send an object or leave it out")
    return value


def _checklist(given: object) -> tuple[object, ...]:
    """A checklist that is no list is one item without an id, so that the run holds (R-20)."""
    if given is None:
        return ()
    return given if type(given) is tuple else (given,)


def request_digest(request: Request) -> str:
    """Return the hex SHA-256 of everything the request decides by; its clocks are left out.

    Two requests with the same digest, made at different times, are the same question.
    """
    segments = request.segments
    if segments:
        segments = tuple(msgspec.structs.replace(segment, said_at=UNSET) for segment in segments)
    utterance = msgspec.structs.replace(request.utterance, now="", segments=segments)
    parts = [thaw(getattr(request, name)) for name in _DIGESTED]
    parts += ["unattended"] if request.unattended else []
    parts += [] if request.instruction_id is None else ["instruction_id", request.instruction_id]
    return hashlib.sha256(_ENCODER.encode([utterance, request.tool.fingerprint, parts])).hexdigest()


_DIGESTED = (
    "claims", "pre_set_data", "fixed_pre_set", "measured_data", "prior_execution_state", "user_checklist",
    "user_answers", "checklist_answers", "intent_attempt", "tool_attempt", "trigger",
)  # fmt: skip
