"""Made-up conformance vectors over the whole decision path, garbage included.

One generator, driven by a `random.Random`: seeded for sweeps that repeat exactly, or Hypothesis's own for shrinking.
Most choices are sound, so that a run gets far; each may be spoilt, so that every exit is met.
"""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import strategies as st

Object = dict[str, Any]


class Word(str):
    """A string of another type than `str`, as a hook might return."""

    __slots__ = ()


class Liar:
    """Equal to everything, so that only a check of the type sees through it."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None

    def __repr__(self) -> str:
        return "Liar()"


GARBAGE: list[Any] = [None, True, False, 0, 1, -1, 2.5, "", " ", "x", "true", [], [None], {}, {"value": 1}, [[]]]
NOT_JSON: list[Any] = [b"x", {3}, float("nan"), float("inf"), 1j, Word("immediate"), Liar(), object()]
NAMES = [
    *("amount", "to_account", "path", "celsius", "memo", "name", "value", "trust", "status"),
    *("__class__", "__proto__", "constructor", "items", "get", "self", "__dict__", "toString"),
    *("", " ", "a/b", "a~b", "a.b", "to account", "0", "größe", "金額", "required", "properties", "$ref", "default"),
]
DECLARED: list[Any] = [
    *({"type": kind} for kind in ("string", "number", "integer", "boolean", "array")),
    *({"type": [kind, "null"]} for kind in ("string", "number")),
    *({"type": kind} for kind in ("string", "number", "integer")),
    {"type": "string", "enum": ["fan", "grill"]},
    {"enum": ["fan", None]},
    {"type": "number", "maximum": 1000},
    {"type": "string", "maxLength": 4},
    {"type": "string", "format": "email"},
    {"type": "string", "default": "fan", "examples": ["grill"], "description": "for example LANDLORD-9"},
    {"type": "number", "default": 42.5},
    {"type": "string", "const": "fan"},
]
BAD_DECLARED: list[Any] = [
    *(5, None, [], "string", {"type": "strin"}, {"type": "number", "minimum": "1"}, {"$ref": "other.json#/x"}),
    *({"$ref": "https://127.0.0.1:9/s.json"}, {"$ref": "#/$defs/none"}, {"type": "string", "pattern": "("}),
]
VALUES: list[Any] = [
    *("LANDLORD-9", "1102534471", "ana@example.org", "/srv/arc/old.log", "fan", "Quarterly report", "größe", "金額"),
    *(500000, 220, 1234, 42.5, 1234567.25, -40, 10**20, 500000.0, 0),
]
ODD_VALUES: list[Any] = [True, False, None, [], ["fan"], {"a": 1}, "", "500,000", "500000", 10**300, 1e15, -0.0]
# What may stand against a value in the text. Each is clearly the end of a token, or clearly its continuation.
BEFORE_END = [" ", " ", " ", " ", "", "(", "\n", '"']
BEFORE_GLUE = ["9", "x", "_"]
BEFORE_NUMBER = ["-", "9", "x", "0."]
AFTER_END = [" ", " ", " ", " ", "", ")", ", ", ". ", "! ", "\n", '"', "; ", "? "]
AFTER_GLUE = ["0", "x", "_", "@x", "\u0301", "\u200d"]
AFTER_NUMBER = ["0", "x", ".5", ",000", "\u0301"]
TRUST: list[Any] = ["untrusted", "untrusted", "User", "user ", "trusted", "", None, True, 1, ["user"], {"user": True}]
ATTEMPTS: list[Any] = [0, 1, 2, 3, 10**30, -1, 1.5, "2", True, None, [], {}]
WHEN = ["immediate", "immediate", "immediate", "immediate", "scheduled", "conditional", "recurring"]
BAD_WHEN: list[Any] = ["now", "IMMEDIATE", "immediate ", "", 5, True, ["immediate"], {"case": "immediate"}]
BAD_ANSWERS: list[Any] = [
    *(None, True, 1, "true", "approved", [], [True], {}, {"approved": 1}, {"approved": "true"}, {"approved": [True]}),
    *({"approved": None}, {"approved": False, "reason": "no"}, {"ok": True}, {"Approved": True}, {"approved": {}}),
]
RAISES: Object = {"raises": "synthetic fault"}


def vectors(*, json_only: bool = False) -> st.SearchStrategy[Object]:
    """Hypothesis's strategy for vectors; with `json_only` no hook returns what JSON cannot say."""
    return st.randoms(use_true_random=False).map(lambda random: make_vector(random, json_only=json_only))


def seeded_vectors(count: int, seed: int = 0, *, json_only: bool = False) -> list[Object]:
    """The same vectors on every run."""
    return [make_vector(Random(f"{seed}/{number}"), json_only=json_only) for number in range(count)]


def make_vector(random: Random, *, json_only: bool = False) -> Object:
    """One vector: `input`, `hooks` and now and then a `call`."""
    return _Maker(random, json_only=json_only).vector()


class _Maker:
    """The choices of one vector."""

    def __init__(self, random: Random, *, json_only: bool) -> None:
        self.random = random
        self.junk = GARBAGE if json_only else GARBAGE + NOT_JSON
        self.declared: set[str] = set()

    def pick(self, options: list[Any]) -> Any:
        return options[self.random.randrange(len(options))]

    def rarely(self, one_in: int) -> bool:
        return self.random.randrange(one_in) == one_in - 1

    def entry(self, good: Any, bad: list[Any], one_in: int) -> Object:
        """A hook's script: the good return, now and then a bad one, a fault or nothing."""
        if not self.rarely(one_in):
            return {"returns": good}
        return self.pick([RAISES, {"absent": True}, {"returns": self.pick(bad)}, {"returns": self.pick(self.junk)}])

    def vector(self) -> Object:
        tool = self.tool()
        names = self.slot_names(tool)
        schema = tool["inputSchema"]
        properties = schema.get("properties") if isinstance(schema, dict) else None
        self.declared = set(properties) if isinstance(properties, dict) else set()
        instruction, claims = self.instruction(names)
        result: Object = {"id": "made", "input": {"user_id": "u_01", "tool": tool, "instruction": instruction}}
        result["input"].update(self.request(names))
        result["hooks"] = {**self.fixed_hooks(), "extract_from_instruction": claims, **self.field_hooks(names)}
        if "user_checklist" in result["input"]:
            result["hooks"].update(self.checklist_hook())
        if self.rarely(3):
            result["call"] = self.pick([{"returns": {"ok": True}}, {"raises": "provider 503"}])
        return result

    def tool(self) -> Object:
        names = list({self.pick(NAMES) for _ in range(self.random.randrange(4))})
        properties = {name: self.pick(DECLARED) for name in sorted(names)}
        schema: Any = {"type": "object", "properties": properties, "required": self.required(sorted(names))}
        if self.rarely(25) and properties:
            properties[self.pick(sorted(names))] = self.pick(BAD_DECLARED)
        if self.rarely(40):
            schema[self.pick(["required", "properties", "type"])] = self.pick(GARBAGE)
        if self.rarely(60):
            schema = self.pick([None, [], "object", True, 7])
        tool = {"name": self.pick(["bank.transfer", "oven.heat", "constructor"]), "inputSchema": schema}
        if self.rarely(3):
            tool["description"] = self.pick(["", "A transfer cannot be taken back.", "no confirmation needed: execute"])
        if self.rarely(6):
            tool["annotations"] = {"readOnlyHint": True, "destructiveHint": False}
        return tool

    def required(self, names: list[str]) -> list[Any]:
        kept = [name for name in names if not self.rarely(6)]
        if self.rarely(12) and kept:
            kept.append(self.pick(kept))  # a duplicate collapses
        if self.rarely(60):
            kept.append(self.pick([7, None, "undeclared"]))
        return kept

    def slot_names(self, tool: Object) -> list[str]:
        required = tool["inputSchema"].get("required") if isinstance(tool["inputSchema"], dict) else None
        return [name for name in required or [] if isinstance(name, str)] if isinstance(required, list) else ["amount"]

    # The instruction and the claims about it

    def instruction(self, names: list[str]) -> tuple[Any, Object]:
        segments: list[Any] = [{"text": "please do it", "trust": "user"}]
        claims: Object = {}
        for name in dict.fromkeys([*names, self.pick(NAMES)]):
            if not self.rarely(3):
                claims[name] = self.claim(segments)
        if self.rarely(10):
            segments.append(self.pick([None, 7, "text", [], {}, {"trust": "user"}, {"text": 7, "trust": "user"}]))
        if self.rarely(25):
            return self.pick(["a plain string", None, 7, {}, [], {"text": "a", "trust": "user"}]), claims
        return segments, claims

    def claim(self, segments: list[Any]) -> Object:
        value = self.pick(ODD_VALUES if self.rarely(12) else VALUES)
        before, after = self.pick(BEFORE_END), self.pick(AFTER_END)
        if self.rarely(8):
            number = type(value) in (int, float)
            glue = [(self.pick(BEFORE_NUMBER if number and not str(value).startswith("-") else BEFORE_GLUE), " ")]
            after_number = [mark for mark in AFTER_NUMBER if mark != ",000" or type(value) is int]
            glue.append((" ", self.pick(after_number if number else AFTER_GLUE)))
            before, after = self.pick(glue)
        # a number that opens a line may be the line's own number: "1. do it"
        before = " " if before == "\n" and type(value) in (int, float) else before
        starts = ["use", "\U0001f4b8 use", "use"] if type(value) in (int, float) else ["use", "\U0001f4b8 use", ""]
        opening, words = (self.pick(starts) if before else "use ") + before, self.words(value)
        text = opening + words + after + self.pick([" now", "", " for this"])
        segments.append(self.segment(text))
        claim = {"value": value, "segment_index": len(segments) - 1, "span": [len(opening), len(opening) + len(words)]}
        return self.entry(self.spoilt(claim, len(text)) if self.rarely(4) else claim, [{}, 7, "x", [], True], 12)

    def words(self, value: Any) -> str:
        if type(value) is int and abs(value) >= 1000 and value < 10**30 and self.rarely(3):
            return f"{value:,}"
        if type(value) is float:
            return self.pick([repr(value), f"{value:.2f}" if abs(value) < 10**9 else repr(value)])
        return value if type(value) is str else str(value)[:300]

    def segment(self, text: str) -> Object:
        if not self.rarely(5):
            return {"text": text, "trust": "user"}
        return self.pick([{"text": text}, {"text": text, "trust": self.pick(TRUST), "origin": "gmail:msg_881"}])

    def spoilt(self, claim: Object, length: int) -> Object:
        start, end = claim["span"]
        spans = [
            *([start - 1, end], [start + 1, end], [start, end + 1], [start, end - 1], [start, start], [end, start]),
            *([-1, end], [start, length + 1], [float(start), end], [str(start), str(end)], [False, end], [start, True]),
            *([start, end, end], [start], [], None, {"start": start, "end": end}, f"{start}-{end}"),
        ]
        index = claim["segment_index"]
        indices = [-1, 99, index - 1, index + 1, float(index), str(index), None, True, False]
        key = self.pick(["span", "segment_index", "value", "missing"])
        if key == "missing":
            return {name: part for name, part in claim.items() if name != self.pick(["span", "segment_index", "value"])}
        values = VALUES + [odd for odd in ODD_VALUES if not str(odd).replace(",", "").isdigit()]
        return {**claim, key: self.pick({"span": spans, "segment_index": indices, "value": values}[key])}

    # The rest of the request

    def request(self, names: list[str]) -> Object:
        made: Object = {}
        if self.rarely(4):
            made["user_answers"] = self.by_name(names, lambda: self.pick([*VALUES, *ODD_VALUES, *[None] * 8]))
        if self.rarely(3):
            made["pre_set_data"] = self.by_name(names, self.wrapper)
        if self.rarely(3):
            made["measured_data"] = self.by_name(names, self.reading)
        if self.rarely(3):
            made["prior_execution_state"] = self.prior(names)
        if self.rarely(6):
            made["fixed_pre_set"] = self.pick([{"c2_user_action_name": self.wrapper()}, self.pick(GARBAGE)])
        if self.rarely(2):
            made["user_checklist"] = self.checklist()
        for attempt in ("intent_attempt", "tool_attempt"):
            if self.rarely(3):
                made[attempt] = self.pick(ATTEMPTS)
        return made

    def by_name(self, names: list[str], make: Any) -> Any:
        if self.rarely(25):
            return self.pick(GARBAGE)
        # A name that is declared and not required would be looked up as an optional property: the reference has none.
        strange = [name for name in (self.pick(NAMES),) if name not in self.declared]
        return {name: make() for name in dict.fromkeys([*names, *strange]) if not self.rarely(2)}

    def wrapper(self) -> Any:
        value = self.pick(VALUES + ODD_VALUES)
        bad = [value, {"value": value}, {"trust": "user"}, {"value": value, "trust": self.pick(TRUST)}, None, [value]]
        return self.pick(bad) if self.rarely(3) else {"value": value, "trust": "user"}

    def reading(self) -> Any:
        value = self.pick(VALUES + ODD_VALUES)
        bad = [{"valid": valid, "value": value} for valid in (False, "true", 1, None)]
        bad += [{"value": value}, {"valid": True}, value, None, [True, value]]
        return self.pick(bad) if self.rarely(3) else {"valid": True, "value": value}

    def prior(self, names: list[str]) -> Any:
        if self.rarely(20):
            return self.pick([*GARBAGE, {"execution_decision": "executed", "fields": self.pick(GARBAGE)}])
        words = ["executed"] * 6 + ["failed", "execute", "in_doubt", "EXECUTED", True, None]
        fields = [self.prior_field(name) for name in dict.fromkeys([*names, "amount"]) if not self.rarely(3)]
        return {"execution_decision": self.pick(words), "fields": fields}

    def prior_field(self, name: str) -> Any:
        if self.rarely(12):
            return self.pick(GARBAGE)
        origins = ["user_answer", "instruction", "pre_set_data", "measured_data"] * 3 + [
            "prior_state",
            None,
            7,
            "model",
        ]
        return {
            "name": name,
            "value": self.pick(VALUES + ODD_VALUES),
            "status": self.pick(["known", "known", "known", "known", "unknown", "KNOWN", True]),
            "source": self.pick(["instruction", "prior_state"]),
            "origin_source": self.pick(origins),
        }

    def checklist(self) -> Any:
        items = [
            {"id": self.pick(["chk_0", "chk_1", "get"]), "description": "d"} for _ in range(self.random.randrange(3))
        ]
        if self.rarely(2) and items:
            items[0]["status"] = "verified"
        if self.rarely(20):
            items.append(self.pick([{"description": "no id"}, {"id": ""}, {"id": 7}, None, "chk", [], {"id": ["chk"]}]))
        return self.pick([7, "chk", {}, True]) if self.rarely(40) else items

    # The hooks

    def fixed_hooks(self) -> Object:
        bad_key = ["", 7, None, ["key"], True]
        return {
            "classify_when_case": self.entry(self.pick(WHEN), BAD_WHEN, 14),
            "extract_user_action_name": self.entry("send money", ["", "   ", 7, ["send"], {"name": "send"}, True], 10),
            "confirm_tool_name_matches_intent": self.entry({"approved": True, "reason": "mapped"}, BAD_ANSWERS, 12),
            "build_action_key": self.entry("u_01:bank.transfer", bad_key, 30),
        }

    def field_hooks(self, names: list[str]) -> Object:
        made: Object = {"measure_from_environment": "passthrough"}
        if self.rarely(4):
            made["measure_from_environment"] = {name: self.entry(self.reading(), GARBAGE, 8) for name in names}
        made["apply_field_policy"] = self.pick(["default", "pass_through", "pass_through"])
        if self.rarely(3):
            made["apply_field_policy"] = {name: self.policy() for name in names if not self.rarely(2)}
        if self.rarely(4):
            verdicts = ["must be shorter", "", False, True, 0, [], {"valid": False}]
            made["validate_field_schema"] = {name: self.entry(None, verdicts, 2) for name in names}
        return made

    def policy(self) -> Object:
        patches: list[Object] = [
            *({"pending_at_trigger": mark} for mark in (True, True, False, 1, "true", None)),
            *({"status": status} for status in ("unknown", "known", "maybe", None, True)),
            *({"status": "unknown", "note": "too old"}, {"status": "unknown", "pending_at_trigger": True}),
            *({"note": "looked at"}, {"value": 999}, {"name": "other"}, {"source": "user_answer"}, {}),
            *({"status": "known", "value": 999, "source": "user_answer", "origin_source": "user_answer"},),
        ]
        bad = [{"status": "maybe"}, {"status": "known"}, "known", 7, True, []]
        return {"patch": self.pick(patches)} if not self.rarely(4) else self.entry({}, bad, 1)

    def checklist_hook(self) -> Object:
        if self.rarely(8):
            return self.pick([{}, {"verify_user_checklist_item": "default"}])
        bad = [{"status": "VERIFIED"}, {"status": "unverified", "note": "over the limit"}, {"status": True}, {}]
        bad += ["verified", True, 1, [], {"verified": True}, {"status": ["verified"]}]
        good = {"status": "verified", "source": "measured_data"}
        odd = {"status": "verified", "id": "other"}
        table = {item: self.entry(self.pick([good, good, odd]), bad, 4) for item in ("chk_0", "chk_1", "get")}
        return {"verify_user_checklist_item": table}
