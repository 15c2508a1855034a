"""Rules against the tool they are for: names that its schema has, expressions that fit its types (R-60)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from preflight.model.json_value import is_object
from preflight.model.pointer import tokens
from preflight.model.rules import DECISION, ConditionRule, LimitRule, MeasureRule, Place, ToolRules
from preflight.rules.build import fault_at
from preflight.rules.cel import CelFault, compile_code
from preflight.rules.expression import Complaint, Expression, Read, scan
from preflight.rules.faults import Fault, nearest
from preflight.rules.inputs import ANY
from preflight.rules.node import Node
from preflight.rules.types import CODES, Undeclared, type_at

_NUMBERS = ("i", "d", ANY)
Spots = Mapping[tuple[Place, str], Node]
"""The nodes of expressions, by the place and id of their rule: for faults inside them."""


def check_tool(rules: ToolRules, schema: object, spots: Spots) -> list[Fault]:
    """Return what does not fit between the rules of a tool and its input schema."""
    faults = list(_names(rules, schema))
    for limit in rules.limits:
        faults += _summed(limit, schema)
    for condition in rules.conditions:
        if condition.check == "expression":
            faults += _expression(condition, rules, schema, spots)
    return faults


def _names(rules: ToolRules, schema: object) -> Iterator[Fault]:
    """Yield the names of fields that the schema does not have."""
    for name, field in rules.fields.items():
        yield from _unknown(name, schema, field.place or rules.place, "field")
    for measure in rules.measures.values():
        for name in _slots(measure):
            yield from _unknown(name, schema, measure.place, "slot of an argument")


def _slots(measure: MeasureRule) -> Iterator[str]:
    for value in measure.arguments.values():
        if not (is_object(value) and len(value) == 1):
            continue
        if isinstance(slot := value.get("slot"), str) and slot != DECISION:
            yield slot


def _unknown(name: str, schema: object, place: Place | None, what: str) -> Iterator[Fault]:
    found = _type_of(name, schema)
    if isinstance(found, Undeclared):
        yield _fault(place, f"the tool has no {what} `{name}`", nearest(found.name, found.known))


def _type_of(name: str, schema: object) -> str | Undeclared:
    """Return the type of a slot: a property of the root by its name, else by its JSON Pointer (R-33)."""
    whole = type_at(schema, (name,))
    if "/" not in name or isinstance(whole, str):
        return whole
    return type_at(schema, tokens(f"/{name}"))


def _summed(limit: LimitRule, schema: object) -> Iterator[Fault]:
    if limit.field is None:
        return
    found = _type_of(limit.field, schema)
    if isinstance(found, Undeclared):
        yield from _unknown(limit.field, schema, limit.place, "field")
    elif found not in _NUMBERS:
        yield _fault(
            limit.place, f"the limit `{limit.id}` adds up `{limit.field}`, which is no number", "count instead"
        )


def _expression(rule: ConditionRule, rules: ToolRules, schema: object, spots: Spots) -> Iterable[Fault]:
    expression, _ = scan(rule.text)
    if expression is None:
        return ()  # refused when it was loaded
    complaints: list[Complaint] = []
    codes = []
    for read in expression.reads:
        code = _code(read, rules, schema)
        if isinstance(code, Undeclared):
            hint = nearest(code.name, code.known)
            complaints.append(Complaint(_offset(expression, code), f"the tool has no argument `{code.name}`", hint))
            code = ANY
        codes.append(code)
    complaints += _types(expression, tuple(codes))
    return [_placed(rule, complaint, spots) for complaint in complaints]


def _types(expression: Expression, codes: tuple[str, ...]) -> Iterable[Complaint]:
    program = compile_code(expression, codes)
    if isinstance(program, CelFault):
        return program.complaints
    if program.returns not in ("BOOL", "DYN"):
        what = f"an expression that is a `{program.returns.lower()}`"
        return [Complaint(0, what, "compare it with something")]
    return ()


def _code(read: Read, rules: ToolRules, schema: object) -> str | Undeclared:
    if read.root == "args":
        return type_at(schema, read.steps)
    measure = rules.measures.get(read.steps[0]) if read.root == "measured" else None
    if read.root == "measured" and measure is None:  # a limit: what was used up of it
        return "d"
    if measure is None or measure.value_type is None:
        return ANY
    code = CODES[measure.value_type]
    return code if len(read.steps) == 1 else ANY


def _offset(expression: Expression, code: Undeclared) -> int:
    return max(0, expression.text.find(code.name))


def _placed(rule: ConditionRule, complaint: Complaint, spots: Spots) -> Fault:
    node = spots.get((rule.place, rule.id)) if rule.place else None
    if node is not None:
        return fault_at(node, rule.text, complaint)
    return _fault(rule.place, f"the condition `{rule.id}`: {complaint.what}", complaint.do)


def _fault(place: Place | None, what: str, do: str) -> Fault:
    place = place or Place("rules", 1)
    return Fault(place.file, place.line, 1, what, do)
