"""An executable specification of the decision, written from `docs/spec.md` alone and used only by tests.

Deliberately plain: dicts in, dicts out, no speed, no types of the product and no code shared with it, so that where the
two agree, two separate readings of the rules agree. A scripted hook that raises counts as one that returned garbage.

Scope: flat schemas (`properties`, `required`), schemas that must be refused, hooks as the conformance vectors script
them. Outside it: nested schemas, rules files, claims for optional properties, an organisation's conditions, triggers.
"""

from __future__ import annotations

import json
import re
import unicodedata
from decimal import Decimal
from typing import Any

import jsonschema_rs

WHEN = ("immediate", "scheduled", "conditional", "recurring")
ORIGINS = ("user_answer", "instruction", "pre_set_data", "measured_data")  # where a value can begin
RAISED = object()  # what a scripted hook that raises gives: never the right type, never None
DATA = ("const", "default", "enum", "examples")  # keywords whose contents are data, never a schema
DIALECTS = (
    *(f"https://json-schema.org/draft/{draft}/schema" for draft in ("2020-12", "2019-09")),
    *(f"http://json-schema.org/draft-0{draft}/schema{end}" for draft in (7, 6) for end in ("", "#")),
)
NOTHING = dict.fromkeys(("phase", "action_key", "fields", "unknown_count", "unverified_checklist_count"))
Object = dict[str, Any]


def play(hooks: Object, hook: str, key: str | None = None) -> Any:
    """What a scripted hook gives, looked up by `key` where it is scripted by field or item (R-16: names are data)."""
    entry = hooks.get(hook)
    if key is not None:
        entry = entry.get(key) if type(entry) is dict else None
    if type(entry) is not dict:
        return None
    return RAISED if "raises" in entry else entry.get("returns")


def decide(request: Object, hooks: Object) -> Object:
    """The decision on one request, in the form of a vector's `expect`."""
    if malformed(request):
        return early("hold", "request_invalid", fixed=None)  # a shape that no rule declares harmless
    checklist = request.get("user_checklist")
    items: list[Any] = [] if checklist is None else checklist if type(checklist) is list else [None]
    if not all(type(item) is dict and type(item.get("id")) is str and item["id"] for item in items):
        return early("hold", "checklist_unidentified", fixed=None)
    when, action = play(hooks, "classify_when_case"), play(hooks, "extract_user_action_name")
    if when is not None and (type(when) is not str or when not in WHEN):
        return early("hold", "hook_failed")  # no fall through to `immediate`
    if action is not None and type(action) is not str:
        return early("hold", "hook_failed")  # no rescue by a setting
    fixed = fixed_checklist(request, when, action)
    if when is None or fixed["c2_user_action_name"] is None:
        return ask("intent", request.get("intent_attempt"), {"fixed": fixed})
    run = {"fixed": fixed, "phase": "at_trigger" if when == "immediate" else "at_instruction"}
    key = play(hooks, "build_action_key")
    if type(key) is not str or not key:
        return early("hold", "action_key_failed", **run)
    run["action_key"] = key
    answer = play(hooks, "confirm_tool_name_matches_intent")
    if type(answer) is not dict or answer.get("approved") is not True:
        return ask("tool", request.get("tool_attempt"), run)  # the schema is not read yet
    schema = readable_schema(request["tool"].get("inputSchema"))
    if schema is None:
        return early("hold", "schema_unsupported", **run)
    fields = [slot(name, schema["properties"][name], request, hooks) for name in schema["required"]]
    return at_value_gate(run, fields, [item["id"] for item in items], schema, hooks)


def malformed(request: Object) -> bool:
    """Whether a part has a shape the form does not allow; a plain-string instruction is allowed (R-12)."""
    parts = [request.get(key) for key in ("user_answers", "pre_set_data", "measured_data", "fixed_pre_set", "claims")]
    said = request.get("instruction")
    segments = said if type(said) is list else []
    return (
        any(part is not None and type(part) is not dict for part in parts)
        or (said is not None and type(said) not in (str, list))
        or any(type(segment) is not dict or type(segment.get("text")) is not str for segment in segments)
    )


def early(decision: str, kind: str, **run: Any) -> Object:
    """An exit before any slot: lists and counts are null, not empty (R-20, R-25)."""
    result = {**NOTHING, "decision": decision, "gate_kind": kind, **run}
    return {**result, "unkeyed": result["action_key"] is None}


def ask(gate: str, attempt: Any, run: Object) -> Object:
    """A question at the intent gate or the tool gate; after two of them, hold (R-22, R-25)."""
    asked = attempt if type(attempt) is int and attempt > 0 else 0  # True, 1.5, "2" and -1 count as 0
    if asked >= 2:
        return early("hold", f"{gate}_undetermined_exhausted", **{f"next_{gate}_attempt": None}, **run)
    return early("ask_user", f"{gate}_undetermined", **{f"next_{gate}_attempt": asked + 1}, **run)


def fixed_checklist(request: Object, when: Any, action: Any) -> Object:
    """The fixed entries; the action's name comes from the instruction, else from a setting (R-21)."""
    named = {"instruction": action, "pre_set_data": wrapped(request.get("fixed_pre_set"), "c2_user_action_name")}
    source = next((source for source, name in named.items() if type(name) is str and name.strip()), None)
    return {
        "c1_when_case": when,
        "c2_user_action_name": named[source] if source else None,
        "c3_provider_action_name": request["tool"]["name"],
        "c2_source": source,
    }


def readable_schema(schema: Any) -> Object | None:
    """The schema with `properties` and a duplicate-free `required`, or None when it cannot be used (R-34)."""
    if type(schema) is not dict or schema.get("type", "object") != "object" or remote_reference(schema):
        return None
    if schema.get("$schema", DIALECTS[0]) not in DIALECTS:
        return None
    required, properties = schema.get("required", []), schema.get("properties", {})
    if type(required) is not list or type(properties) is not dict:
        return None
    if not all(type(name) is str and name in properties for name in required):  # undeclared is never sent
        return None
    flat = {**schema, "properties": properties, "required": list(dict.fromkeys(required))}
    try:
        jsonschema_rs.validator_for(flat, offline=True)
    except ValueError:  # no valid schema of its own dialect
        return None
    return flat


def remote_reference(node: Any) -> bool:
    """Whether some `$ref` points outside the document; such a one is never fetched (R-34)."""
    if type(node) is list:
        return any(map(remote_reference, node))
    if type(node) is not dict:
        return False
    if any(type(node.get(key)) is str and node[key][:1] != "#" for key in ("$ref", "$dynamicRef")):
        return True
    return any(remote_reference(part) for key, part in node.items() if key not in DATA)


def nullable(declared: Any) -> bool:
    """Whether a property's declaration names null among its types or its members (R-46)."""
    if type(declared) is not dict or None not in declared.get("enum", [None]):
        return False
    types = declared.get("type", "null" if "enum" in declared else [])
    return "null" in (types if type(types) is list else [types])


def slot(name: str, declared: Any, request: Object, hooks: Object) -> Object:
    """One slot after lookup, field policy and field schema, in the form of `expect.fields`."""
    found = look_up(name, declared, request, hooks)
    if found.get("lookup_failed"):
        return found  # the policy is not run
    found = apply_policy(found, hooks)
    verdict = play(hooks, "validate_field_schema", name)
    if found["status"] != "known" or verdict is None:
        return found
    return unknown(name, "ask_user" if type(verdict) is str else "definition_repair")


def look_up(name: str, declared: Any, request: Object, hooks: Object) -> Object:
    """The five sources in their order; the first that answers ends the search (R-40)."""
    answers = request.get("user_answers")
    if type(answers) is dict and name in answers:
        if answers[name] is not None:
            return known(name, answers[name], "user_answer")
        if nullable(declared):
            return {"name": name, "status": "null", "source": "user_answer"}
        return unknown(name, "ask_user")  # the user said "none", so nothing older is used instead
    failed = {**unknown(name, "definition_repair"), "lookup_failed": True}  # no lower source is tried
    claim = play(hooks, "extract_from_instruction", name)
    if claim is not None and type(claim) is not dict:
        return failed
    if claim and stands_at(claim.get("value"), claim, request.get("instruction")):
        return known(name, claim["value"], "instruction")
    setting = wrapped(request.get("pre_set_data"), name)
    if setting is not None:
        return known(name, setting, "pre_set_data")
    reading = play(hooks, "measure_from_environment", name)
    if hooks.get("measure_from_environment") == "passthrough" and type(request.get("measured_data")) is dict:
        reading = request["measured_data"].get(name)
    if not is_json(reading):
        return failed
    if type(reading) is dict and reading.get("valid") is True and reading.get("value") is not None:
        return known(name, reading["value"], "measured_data")
    return inherited(name, request.get("prior_execution_state")) or unknown(name, "ask_user")


def known(name: str, value: Any, source: str, origin: str | None = None) -> Object:
    """A known slot; its origin is its source unless it was inherited (R-4)."""
    return {"name": name, "status": "known", "source": source, "value": value, "origin_source": origin or source}


def unknown(name: str, route: str, *, pending: bool = False) -> Object:
    """An unknown slot and where the work goes (R-45)."""
    return {"name": name, "status": "unknown", "source": None, "pending_at_trigger": pending, "route": route}


def wrapped(settings: Any, name: str) -> Any:
    """The value of a wrapper `{value, trust: "user"}`, or None (R-14)."""
    wrapper = settings.get(name) if type(settings) is dict else None
    return wrapper.get("value") if type(wrapper) is dict and wrapper.get("trust") == "user" else None


def stands_at(value: Any, claim: Object, segments: Any) -> bool:
    """Whether the claimed span lies in a user segment and its text is the value (R-12, R-13, R-41)."""
    index, span = claim.get("segment_index"), claim.get("span")
    if type(segments) is not list or type(index) is not int or not 0 <= index < len(segments):
        return False
    segment = segments[index]
    if type(segment) is not dict or segment.get("trust") != "user" or type(segment.get("text")) is not str:
        return False
    if type(span) is not list or [type(end) for end in span] != [int, int]:
        return False
    (start, end), text = span, segment["text"]
    inside = 0 <= start < end <= len(text)
    return inside and not cuts_token(text, start) and not cuts_token(text, end) and says(text[start:end], value)


def says(text: str, value: Any) -> bool:
    """Whether the words are the value: a string to the code point, a number exactly, a boolean never (R-47, R-51)."""
    if type(value) is str:
        return text == value
    plain = re.fullmatch(r"-?(?:0|[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]*)(?:\.[0-9]+)?", text)
    return type(value) in (int, float) and plain is not None and Decimal(text.replace(",", "")) == Decimal(repr(value))


def cuts_token(text: str, position: int) -> bool:
    """Whether a boundary falls inside a token: `500` in `5000`, `5` in `-5`, `bob` in `bobby@x` (R-52)."""
    kinds = "".join(map(token_kind, text))
    shape = r"(?:[-+](?=[d.]))?[/~.]*[wd]+(?:(?:[-+/.@]|(?<=d):(?=d)|(?<=d),(?=ddd(?![wd])))[wd]+)*"
    return any(found.start() < position < found.end() for found in re.finditer(shape, kinds))


def token_kind(char: str) -> str:
    """`d`: an ASCII digit; `w`: what continues a word, marks and joiners too; a joining sign: itself; else a space."""
    if char in "0123456789":
        return "d"
    if char == "_" or unicodedata.category(char)[0] in "LNM" or unicodedata.category(char) == "Cf":
        return "w"
    return char if char in "-+/~.@:," else {"\\": "/", "\u2212": "-"}.get(char, " ")


def exactly(value: Any, wanted: Any) -> bool:
    """Equal in type and value: True is not 1, and nothing that merely claims to be equal counts (R-5, R-47)."""
    return type(value) is type(wanted) and repr(value) == repr(wanted)


def is_json(value: Any) -> bool:
    """Whether a value is made of JSON's own types and finite numbers."""
    try:
        plain = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return False
    return repr(plain) == repr(value) and own_types(value)


def own_types(value: Any) -> bool:
    """Whether no part of a value only looks like JSON: a text of another class could answer as it likes (R-101)."""
    parts = value if type(value) is list else [*value, *value.values()] if type(value) is dict else []
    return type(value) in (str, int, float, bool, list, dict, type(None)) and all(map(own_types, parts))


def inherited(name: str, prior: Any) -> Object | None:
    """The slot of an executed prior record, with its first source kept (R-4, R-42)."""
    executed = type(prior) is dict and prior.get("execution_decision") == "executed"
    fields = prior["fields"] if executed and type(prior.get("fields")) is list else []
    for field in fields:
        if type(field) is not dict or field.get("name") != name or field.get("status") != "known":
            continue
        if field.get("value") is not None and field.get("origin_source") in ORIGINS:
            return known(name, field["value"], "prior_state", field["origin_source"])
    return None


def apply_policy(found: Object, hooks: Object) -> Object:
    """`apply_field_policy` may demote a slot or mark an unknown pending; anything else is a bad return (R-44)."""
    name, table = found["name"], hooks.get("apply_field_policy", "default")
    if table == "default":  # the shipped policy refuses what an earlier run left
        return unknown(name, "ask_user") if found["source"] == "prior_state" else found
    if type(table) is not dict or name not in table:
        return found
    patch = table[name].get("patch")
    result = {**found, **patch} if patch is not None else play(hooks, "apply_field_policy", name)
    if type(result) is not dict or not exactly(result.get("name"), name):
        return unknown(name, "definition_repair")
    pending = result.get("pending_at_trigger", False)
    if exactly(result.get("status"), "unknown") and type(pending) is bool:
        return unknown(name, "ask_user", pending=pending)
    unchanged = type(pending) is bool and all(exactly(result.get(key), part) for key, part in found.items())
    return found if unchanged else unknown(name, "definition_repair")  # a policy makes no value


def at_value_gate(run: Object, fields: list[Object], ids: list[str], schema: Any, hooks: Object) -> Object:
    """The value gate, in either phase (R-29, R-30)."""
    open_fields = [field for field in fields if field["status"] == "unknown"]
    result = {**run, "fields": fields, "unknown_count": len(open_fields), "unkeyed": False}
    if run["phase"] == "at_trigger":
        checklist = result["checklist"] = [verify(item, hooks) for item in ids]
        open_items = [item for item in checklist if item["status"] == "unverified"]
        result["unverified_checklist_count"] = len(open_items)
        valid = jsonschema_rs.validator_for(schema, offline=True, validate_formats=True).is_valid(arguments(fields))
    else:  # conditions are not checked, and a pending unknown does not block
        open_fields = [field for field in open_fields if not field["pending_at_trigger"]]
        open_items, result["unverified_checklist_count"], valid = [], None, True
        if not open_fields:
            return {**result, "decision": "deferred", "gate_kind": None}
    result["unknown_fields"] = [field["name"] for field in open_fields]
    result["unverified_checklist"] = [item["id"] for item in open_items]
    decision, kind = value_gate([part["route"] for part in open_fields + open_items], payload_valid=valid)
    return {**result, "decision": decision, "gate_kind": kind}


def value_gate(routes: list[str], *, payload_valid: bool, unmet: bool = False) -> tuple[str, str]:
    """The decision and the gate's kind from what is left open, in the order of R-30."""
    if unmet:
        return "hold", "value_gate"
    if routes:
        return "ask_user" if "ask_user" in routes else "hold", "value_gate"
    return ("execute", "value_gate") if payload_valid else ("hold", "payload_invalid")


def verify(item: str, hooks: Object) -> Object:
    """One user condition, checked now; neither an incoming status nor a returned id is read (R-61)."""
    answer = play(hooks, "verify_user_checklist_item", item)
    if type(answer) is dict and exactly(answer.get("status"), "verified"):
        return {"id": item, "status": "verified"}
    broken = answer is not None and type(answer) is not dict  # a broken hook is no question to the user
    return {"id": item, "status": "unverified", "route": "definition_repair" if broken else "ask_user"}


def arguments(fields: list[Object]) -> Object:
    """The arguments that the slots make; an unknown makes none (R-1)."""
    return {field["name"]: field.get("value") for field in fields if field["status"] != "unknown"}


def execute(expect: Object, call: Object) -> Object:
    """What executing the record does, in the form of `expect.execution` (R-32, R-74, R-76)."""
    if expect["decision"] != "execute":
        return {"status": "held", "called": None, "final_decision": expect["decision"]}
    status = "failed" if "raises" in call else "executed"
    called = {"name": expect["fixed"]["c3_provider_action_name"], "args": arguments(expect["fields"])}
    return {"status": status, "called": called, "final_decision": status}
