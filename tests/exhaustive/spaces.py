"""Small spaces of vectors, each the full product of a few states, for comparison of the core with the reference."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

Object = dict[str, Any]
ABSENT = object()
RAISES: Object = {"raises": "synthetic fault"}
NUMBER = {"type": "number", "maximum": 8000}
TEXT = "use 1122 now"
APPROVED: Object = {"returns": {"approved": True, "reason": "mapped"}}
FIXED_HOOKS: Object = {
    "classify_when_case": {"returns": "immediate"},
    "extract_user_action_name": {"returns": "send money"},
    "confirm_tool_name_matches_intent": APPROVED,
    "build_action_key": {"returns": "u_01:bank.transfer"},
}


def vector(names: list[str], request: Object, hooks: Object) -> Object:
    """A vector for a tool whose fields are all required numbers."""
    schema = {"type": "object", "properties": dict.fromkeys(names, NUMBER), "required": names}
    given = {"user_id": "u_01", "tool": {"name": "bank.transfer", "inputSchema": schema}}
    given["instruction"] = [{"text": TEXT, "trust": "user"}, {"text": TEXT, "trust": "untrusted"}]
    given.update({key: value for key, value in request.items() if value is not ABSENT})
    return {"id": "small scope", "input": given, "hooks": {**FIXED_HOOKS, **hooks}}


def claim(index: Any = 0, start: Any = 4, value: Any = 1122) -> Object:
    """What the instruction hook returns about `TEXT`."""
    return {"returns": {"value": value, "segment_index": index, "span": [start, 8]}}


# Lookup: every combination of the five sources' states for one field, under every field policy.

ANSWERS = {
    "absent": ABSENT,
    "null": {"amount": None},
    "garbage": ["amount"],
    "other": {"Amount": 11},
    "valid": {"amount": 1111},
}
CLAIMS = {
    "absent": {},
    "garbage": {"returns": 1122},
    "untrusted": claim(index=1),
    "off by one": claim(start=5),
    "replaced": claim(value=1123),
    "valid": claim(),
    "raises": RAISES,
}
SETTINGS = {
    "absent": ABSENT,
    "raw": {"amount": 1133},
    "untrusted": {"amount": {"value": 1133, "trust": "untrusted"}},
    "valid": {"amount": {"value": 1133, "trust": "user"}},
}
READINGS = {
    "absent": {},
    "raw": {"returns": 1144},
    "invalid": {"returns": {"valid": 1, "value": 1144}},
    "valid": {"returns": {"valid": True, "value": 1144}},
    "raises": RAISES,
}


def prior(decision: str = "executed", origin: str = "user_answer", status: str = "known") -> Object:
    """A prior record with a value for the field."""
    field = {"name": "amount", "value": 1155, "status": status, "source": "prior_state", "origin_source": origin}
    return {"execution_decision": decision, "fields": [field]}


PRIORS = {
    "absent": ABSENT,
    "garbage": {"execution_decision": "executed", "fields": "amount"},
    "failed": prior(decision="failed"),
    "unknown": prior(status="unknown"),
    "laundered": prior(origin="prior_state"),
    "valid": prior(),
}
POLICIES = {
    "default": "default",
    "pass_through": "pass_through",
    "raises": {"amount": RAISES},
    "pending": {"amount": {"patch": {"pending_at_trigger": True}}},
    "garbage": {"amount": {"returns": {"status": "maybe"}}},
    "promotes": {
        "amount": {"patch": {"status": "known", "value": 1, "source": "user_answer", "origin_source": "user_answer"}}
    },
    "demotes": {"amount": {"patch": {"status": "unknown", "note": "too old"}}},
}


def lookup_space() -> Iterator[Object]:
    """29,400 vectors."""
    sources = product(ANSWERS.values(), CLAIMS.values(), SETTINGS.values(), READINGS.values(), PRIORS.values())
    for (answers, claimed, settings, reading, earlier), policy in product(sources, POLICIES.values()):
        request = {"user_answers": answers, "pre_set_data": settings, "prior_execution_state": earlier}
        hooks = {"extract_from_instruction": {"amount": claimed}, "measure_from_environment": {"amount": reading}}
        yield vector(["amount"], request, {**hooks, "apply_field_policy": policy})


# Spans: every pair of positions in a short text, for values that stand there, stand there in part, or do not.

SPOKEN = "pay 500 to bob@x (ann) -7"
SPOKEN_VALUES: list[Any] = [500, 50, "500", "bob", "bob@x", "ann", 7, -7, True]


def span_space() -> Iterator[Object]:
    """6,561 vectors."""
    positions = range(-1, len(SPOKEN) + 1)
    for start, end, value in product(positions, positions, SPOKEN_VALUES):
        made = vector(["amount"], {"instruction": [{"text": SPOKEN, "trust": "user"}]}, {})
        made["input"]["tool"]["inputSchema"]["properties"] = {"amount": {"type": ["number", "string"]}}
        named = {"value": value, "segment_index": 0, "span": [start, end]}
        made["hooks"]["extract_from_instruction"] = {"amount": {"returns": named}}
        yield made


# Decision: two fields and one checklist item, each in every state, in both phases.

FIELD_STATES: dict[str, Object] = {
    "known": {"answer": 5},
    "known, over the maximum": {"answer": 9000},
    "nothing found": {},
    "lookup failed": {"extract_from_instruction": RAISES},
    "pending": {"apply_field_policy": {"patch": {"pending_at_trigger": True}}},
    "policy failed": {"answer": 5, "apply_field_policy": RAISES},
    "refused by the field schema": {"answer": 5, "validate_field_schema": {"returns": "must be shorter"}},
    "field schema failed": {"answer": 5, "validate_field_schema": {"returns": False}},
    "refused after a mark": {
        "answer": 5,
        "apply_field_policy": {"patch": {"pending_at_trigger": True}},
        "validate_field_schema": {"returns": "must be shorter"},
    },
}
ITEM_STATES: dict[str, Any] = {
    "none": ABSENT,
    "verified": {"returns": {"status": "verified"}},
    "unverified": {"returns": {"status": "unverified", "note": "over the limit"}},
    "almost": {"returns": {"status": "VERIFIED"}},
    "silent": {"absent": True},
    "wrong type": {"returns": True},
    "raises": RAISES,
}
BY_FIELD = ("extract_from_instruction", "apply_field_policy", "validate_field_schema")


def decision_space() -> Iterator[Object]:
    """1,134 vectors."""
    states = FIELD_STATES.values()
    for first, second, item, when in product(states, states, ITEM_STATES.values(), ("immediate", "scheduled")):
        fields = {"a": first, "b": second}
        request = {"user_answers": {name: state["answer"] for name, state in fields.items() if "answer" in state}}
        hooks: Object = {hook: {name: s[hook] for name, s in fields.items() if hook in s} for hook in BY_FIELD}
        if item is not ABSENT:
            request["user_checklist"] = [{"id": "chk", "status": "verified"}]
            hooks["verify_user_checklist_item"] = {"chk": item}
        yield vector(["a", "b"], request, {**hooks, "classify_when_case": {"returns": when}})


# Gates: every odd approval and name against every odd attempt.

ATTEMPTS = [ABSENT, None, -1, 0, 1, 2, 3, 1.5, "2", True, [2]]
NOT_APPROVED = [False, None, 1, 1.0, "true", "True", "yes", [True], {"approved": True}, {}]
APPROVALS: list[Object] = [
    *(APPROVED, RAISES, {"absent": True}, {"returns": {"approved": True}}),
    *({"returns": odd} for odd in (None, True, 1, "true", "approved", "", [], [True], {}, 0, 2.0)),
    *({"returns": {"approved": odd}} for odd in NOT_APPROVED),
    *({"returns": {key: True}} for key in ("ok", "Approved", "approved ", "allow")),
    {"returns": [{"approved": True}]},
]
ODD_WHENS = [None, "now", "IMMEDIATE", " immediate", "", 5, True, ["immediate"], {"case": "immediate"}]
WHENS: list[Object] = [
    *({"returns": word} for word in ("immediate", "scheduled", "conditional", "recurring")),
    *({"returns": odd} for odd in ODD_WHENS),
    *(RAISES, {"absent": True}),
]
ACTIONS: list[Object] = [
    *({"returns": odd} for odd in ("send money", None, "", "  ", 7, True, ["send"], {"name": "send"})),
    RAISES,
]
NAMED = "c2_user_action_name"
ACTION_SETTINGS = [
    *(ABSENT, {}, "usual payment", {NAMED: "usual payment"}, {NAMED: {"trust": "user"}}),
    *({NAMED: {"value": "usual payment", "trust": trust}} for trust in ("user", "untrusted", True)),
    {NAMED: {"value": " ", "trust": "user"}},
]
ODD_KEYS = [None, "", 7, True, ["key"], {}]
KEYS: list[Object] = [{"returns": "u_01:x"}, *({"returns": odd} for odd in ODD_KEYS), RAISES, {"absent": True}]


def tool_gate_space() -> Iterator[Object]:
    """1,356 vectors: approvals, attempts and phases above a readable and an unreadable schema; then the action keys."""
    readable: Object = {"type": "object", "required": []}
    phases, schemas = ({"returns": "immediate"}, {"returns": "scheduled"}), (readable, None)
    for approval, attempt, when, schema in product(APPROVALS, ATTEMPTS, phases, schemas):
        hooks = {"classify_when_case": when, "confirm_tool_name_matches_intent": approval}
        tool = {"name": "bank.transfer", "inputSchema": schema}
        yield vector([], {"tool_attempt": attempt, "tool": tool}, hooks)
    for key, when, approval in product(KEYS, phases, (APPROVED, RAISES)):
        hooks = {"classify_when_case": when, "confirm_tool_name_matches_intent": approval}
        yield vector([], {}, {**hooks, "build_action_key": key})


def intent_gate_space() -> Iterator[Object]:
    """13,365 vectors: the two intent hooks, the setting for the action's name, attempts."""
    for when, action, settings, attempt in product(WHENS, ACTIONS, ACTION_SETTINGS, ATTEMPTS):
        request = {"fixed_pre_set": settings, "intent_attempt": attempt}
        yield vector([], request, {"classify_when_case": when, "extract_user_action_name": action})
