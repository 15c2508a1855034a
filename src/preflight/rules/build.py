"""From sections of files to the values the core reads (`preflight.model.rules`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from preflight.model.channel import AskBy
from preflight.model.rules import (
    FIELD,
    ConditionRule,
    DeclaredBy,
    FieldRules,
    LimitRule,
    MeasureRule,
    MembersRule,
    ReferenceRule,
    ToolRules,
    UnattendedRules,
)
from preflight.model.slot import SOURCES
from preflight.rules.cel import CelFault, bad_pattern, compile_code, constant
from preflight.rules.conditions import measures_read
from preflight.rules.deferring import deferral as deferral_rules
from preflight.rules.expression import Complaint, Expression, scan
from preflight.rules.faults import Fault, nearest
from preflight.rules.kinds import Faults, Section
from preflight.rules.layout import CONDITION, MEASURE
from preflight.rules.node import Node
from preflight.rules.unwatched import DEFAULT

Measures = Mapping[str, MeasureRule]
_ASK_BY = AskBy()
_HINTS = {"synonyms": "x-synonyms", "labels": "x-enum-labels", "unit": "x-unit", "locale": "x-locale"}


_AS_GIVEN = (
    "effect", "forbidden", "intents", "changes", "notices", "pin", "constants_are_known", "unattended", "ask_by"
)  # fmt: skip
"""The settings of a tool that mean in its rules what they say."""


def tool(
    section: Section,
    *,
    trust_labels: bool,
    measures: Measures,
    declared_by: DeclaredBy,
    faults: Faults,
    unattended: UnattendedRules = DEFAULT,
    ask_by: AskBy = _ASK_BY,
) -> ToolRules:
    """Build the rules of a tool; `measures` are those that it may use beyond its own. It keeps what it uses."""
    own = measures_of(section, faults)
    scope = {**measures, **own}
    limits = tuple(limit(row, faults) for row in _sections(section, "limits"))
    fields = _fields(section, scope, faults)
    rules = conditions(section, {*scope, *(rule.id for rule in limits)}, scope, declared_by, faults)
    asks = section.get("value_asks")
    lifetime = section.get("decision_lifetime")
    rest: dict[str, Any] = {name: value for name in _AS_GIVEN if (value := section.get(name)) is not None}
    rest |= {} if asks is None else {"value_asks": asks}
    rest |= {} if lifetime is None else {"decision_seconds": lifetime}
    if (settle := section.get("settle")) is not None:
        faults += _unknown_measure(str(settle), scope, section.at("settle"))
        rest["settle"] = settle
    return ToolRules(
        **rest,
        fields=MappingProxyType(fields),
        measures=MappingProxyType(
            {**used(rules, scope), **_used_by(fields.values(), scope), **_named(settle, scope), **own}
        ),
        conditions=rules,
        limits=_distinct(limits, section.at("limits"), faults),
        trust_labels=bool(section.get("trust_labels", trust_labels)),
        deferral=deferral_rules(section.get("deferral")),
        unattended_by_effect=unattended,
        ask_by_effect=ask_by,
        place=section.place,
    )


def used(rules: Iterable[ConditionRule], scope: Measures) -> dict[str, MeasureRule]:
    """Return the measures that conditions read."""
    read = {name for rule in rules for name in measures_read(rule)}
    return {name: rule for name, rule in scope.items() if name in read}


def _named(name: object, scope: Measures) -> dict[str, MeasureRule]:
    return {known: rule for known, rule in scope.items() if known == name}


def _used_by(fields: Iterable[FieldRules], scope: Measures) -> dict[str, MeasureRule]:
    named = frozenset[str]().union(*(rules.measures_of() for rules in fields))
    return {name: rule for name, rule in scope.items() if name in named}


def measures_of(section: Section, faults: Faults) -> dict[str, MeasureRule]:
    """Build the measures that a section declares."""
    rows: Mapping[str, Section] = section.get("measures", {})  # type: ignore[assignment]
    return {name: measure(name, row, faults) for name, row in rows.items()}


def measure(name: str, section: Section, faults: Faults) -> MeasureRule:
    """Build one measure."""
    via = next((word for word in MEASURE.one_of if word in section.values), "given")
    read = section.get(via)
    rest: dict[str, Any] = dict(read.values) if isinstance(read, Section) else {}
    rest |= {"http": {"url": read}, "python": {"entry": read}}.get(via, {})
    if via == "given":
        faults += [
            section.at(key).fault(f"`{key}` of a measure that is given", "leave it out")
            for key in ("arguments", "pointer", "timeout")
            if key in section.values
        ]
    return MeasureRule(
        name,
        via,  # type: ignore[arg-type]  # one of `MEASURE.one_of`
        **rest,
        arguments=MappingProxyType(section.get("arguments", {})),  # type: ignore[arg-type]
        pointer=str(section.get("pointer", "")),
        max_age_seconds=section.get("max_age"),  # type: ignore[arg-type]
        timeout_seconds=section.get("timeout", 10.0),  # type: ignore[arg-type]
        value_type=section.get("type"),  # type: ignore[arg-type]
        place=section.place,
    )


def _fields(section: Section, measures: Measures, faults: Faults) -> dict[str, FieldRules]:
    rows: Mapping[str, Section] = section.get("fields", {})  # type: ignore[assignment]
    fields = {name: field(row, measures, faults) for name, row in rows.items()}
    for name in section.get("confirm", ()):  # type: ignore[attr-defined]
        fields[name] = msgspec.structs.replace(fields.get(name, FIELD), confirm=True)
    return fields


def field(section: Section, measures: Measures, faults: Faults) -> FieldRules:
    """Build the rules of one field."""
    given = section.values
    hints = {hint: given[key] for key, hint in _HINTS.items() if key in given}
    hints |= {"x-may-share": True} if given.get("may_share") is True else {}
    if given.get("derivations") == ():
        hints["x-grounding"] = "stated"  # no rule may derive it: only what the user wrote counts
    name = given.get("measure")
    if name is not None:
        faults += _unknown_measure(str(name), measures, section.at("measure"))
    reference = given.get("reference")
    order = given.get("sources", SOURCES)
    return FieldRules(
        sources=tuple(source for source in SOURCES if source in order),  # type: ignore[operator]  # R-40: one order
        role=given.get("role"),  # type: ignore[arg-type]
        unconfirmed=given.get("unconfirmed"),  # type: ignore[arg-type]
        derivations=given.get("derivations"),  # type: ignore[arg-type]
        hints=MappingProxyType(hints),
        carry_seconds=given.get("carry"),  # type: ignore[arg-type]
        pending_at_trigger=given.get("pending_at_trigger") is True,
        confirm=given.get("confirm") is True,
        secret=given.get("secret") is True,
        measure=name,  # type: ignore[arg-type]
        reference=_reference(reference, measures, faults) if isinstance(reference, Section) else None,
        members=tuple(_members(row, measures, faults) for row in _sections(section, "members")),
        place=section.place,
    )


def _reference(section: Section, measures: Measures, faults: Faults) -> ReferenceRule:
    faults += _unknown_measure(str(section.get("measure", "")), measures, section.at("measure"))
    values: dict[str, Any] = dict(section.values)
    return ReferenceRule(**{"measure": "", **values}, place=section.place)


def _members(section: Section, measures: Measures, faults: Faults) -> MembersRule:
    faults += _unknown_measure(str(section.get("measure", "")), measures, section.at("measure"))
    values: dict[str, Any] = dict(section.values)
    return MembersRule(**{"measure": "", **values}, place=section.place)


def conditions(
    section: Section, names: Iterable[str], measures: Measures, declared_by: DeclaredBy, faults: Faults
) -> tuple[ConditionRule, ...]:
    """Build the conditions of a section; `names` may be read under `measured`."""
    known = set(names)
    rows = [condition(row, known, measures, declared_by, faults) for row in _sections(section, "conditions")]
    return _distinct(rows, section.at("conditions"), faults)


def condition(
    section: Section, names: set[str], measures: Measures, declared_by: DeclaredBy, faults: Faults
) -> ConditionRule:
    """Build one condition and check what can be checked without the tool's schema."""
    check = next((word for word in CONDITION.one_of if word in section.values), "confirmation")
    text = str(section.get(check, ""))
    node = section.at(check)
    if check == "measure":
        faults += _unknown_measure(text, measures, node)
    elif check == "expression":
        faults += expression_faults(text, node, names)
    return ConditionRule(
        id=str(section.get("id", "")),
        declared_by=section.get("declared_by", declared_by),  # type: ignore[arg-type]
        check=check,  # type: ignore[arg-type]  # one of `CONDITION.one_of`
        text=text,
        description=str(section.get("description", "")),
        message=str(section.get("message", "")),
        max_age_seconds=section.get("max_age"),  # type: ignore[arg-type]
        place=node.place,
    )


def limit(section: Section, faults: Faults) -> LimitRule:
    """Build one limit; a rate is a count."""
    kind = section.get("kind", "count")
    field_given = "field" in section.values
    if kind == "sum" and not field_given:
        faults.append(section.node.fault("a limit of kind `sum` has no `field`", "name the field that is added up"))
    if kind != "sum" and field_given:
        faults.append(section.at("field").fault(f"a limit of kind `{kind}` has a `field`", "leave it out"))
    return LimitRule(
        id=str(section.get("id", "")),
        kind="sum" if kind == "sum" else "count",
        at_most=section.get("at_most", 0),  # type: ignore[arg-type]
        window_seconds=section.get("window", 1.0),  # type: ignore[arg-type]
        field=section.get("field"),  # type: ignore[arg-type]
        per=section.get("per", "user"),  # type: ignore[arg-type]
        declared_by=section.get("declared_by", "organisation"),  # type: ignore[arg-type]
        message=str(section.get("message", "")),
        place=section.place,
    )


def expression_faults(text: str, node: Node, names: set[str]) -> list[Fault]:
    """Say what is wrong with an expression whatever the tool's schema is."""
    expression, complaints = scan(text)
    if expression is None:
        return [fault_at(node, text, complaint) for complaint in complaints]
    found = list(_unknown_inputs(expression, names))
    program = compile_code(expression, ("-",) * len(expression.reads))
    if isinstance(program, CelFault):
        found += program.complaints
    elif program.returns not in ("BOOL", "DYN"):
        found.append(Complaint(0, f"an expression that is a `{program.returns.lower()}`", "compare it with something"))
    elif (always := constant(program)) is not None:
        holds = "always" if always else "never"
        found.append(Complaint(0, f"an expression that {holds} holds", "let it depend on what it checks"))
    found += [
        Complaint(offset, "a regular expression that RE2 does not take", "mend it: it has no look-around")
        for offset, literal in expression.patterns
        if bad_pattern(literal)
    ]
    return [fault_at(node, text, complaint) for complaint in found]


def _unknown_inputs(expression: Expression, names: set[str]) -> Iterable[Complaint]:
    for read in expression.reads:
        name = read.steps[0]
        if read.root == "measured" and name not in names:
            at = max(0, expression.text.find(name))
            hint = nearest(name, names) or "declare it under `measures`"
            yield Complaint(at, f"no measure or limit is called `{name}`", hint)


def fault_at(node: Node, text: str, complaint: Complaint) -> Fault:
    """Place a complaint: exactly for a text on one line as it stands, else by line and column of the expression."""
    if node.plain:
        return Fault(node.file, node.line, node.column + complaint.offset, complaint.what, complaint.do)
    before = text[: complaint.offset]
    row, column = before.count("\n") + 1, complaint.offset - before.rfind("\n")
    return node.fault(f"{complaint.what} (expression {row}:{column})", complaint.do)


def _unknown_measure(name: str, measures: Measures, node: Node) -> list[Fault]:
    if name in measures:
        return []
    return [node.fault(f"no measure is called `{name}`", nearest(name, measures) or "declare it under `measures`")]


def _sections(section: Section, key: str) -> list[Section]:
    return [row for row in section.get(key, ()) if isinstance(row, Section)]  # type: ignore[attr-defined]


def _distinct(rules: Iterable[Any], node: Node, faults: Faults) -> tuple[Any, ...]:
    """Refuse ids that stand twice: a record could not tell which of the two spoke."""
    found = tuple(rules)
    seen: set[str] = set()
    for rule in found:
        if rule.id in seen:
            line = rule.place.line if rule.place else node.line
            faults.append(Fault(node.file, line, node.column, f"the id `{rule.id}` stands twice", "rename one"))
        seen.add(rule.id)
    return found
