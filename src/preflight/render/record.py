"""One record, short: the verdict, the call, the user's words with what was read from them, the slots."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from preflight.model.checklist import ItemState
from preflight.model.condition import ConditionState
from preflight.model.record import Record
from preflight.model.slot import FieldState
from preflight.render.phrases import DECISIONS, source_words, why_unknown
from preflight.render.styled import Block, Line, Piece, Style, Table, indented, labelled, line
from preflight.render.visible import quoted, value_text, visible
from preflight.render.words import said

_STYLES: dict[str, Style] = {
    "execute": "good", "executed": "good", "ask_user": "ask", "deferred": "ask", "executing": "ask", "in_doubt": "bad",
}  # fmt: skip
UNNAMED = ": it is not settled that it does what the user meant"
_UNNAMED = ("tool_undetermined", "tool_undetermined_exhausted")


def summary(record: Record) -> list[Block]:
    """Return a record as people want to read it; of a tool that was not confirmed, not even the name (R-25)."""
    lines: list[Block] = [headline(record), *call_lines(record)]
    lines += words_lines(record)
    fields = record.states
    if fields:
        lines += [line(), slot_table(fields)]
    lines += checklist_lines(record.user_checklist or ())
    lines += condition_lines(record.conditions)
    lines += left_out(record)
    return lines


def headline(record: Record) -> Line:
    """Return the verdict in one line."""
    state = record.execution_decision
    outcome = record.outcome.error if record.outcome is not None else None
    why = outcome if state in ("failed", "in_doubt") and outcome else record.reason
    style = _STYLES.get(state, "bad")
    return (Piece(state, style), Piece(f" ({DECISIONS[state]}): {visible(why)}", "strong"))


def call_lines(record: Record) -> list[Line]:
    """Return which call it was, for whom, and when."""
    lines = []
    if record.tool is not None:
        lines.append(labelled("call", tool_words(record) + ("" if named(record) else UNNAMED)))
    if record.user_id:
        lines.append(labelled("for", visible(record.user_id)))
    if record.fixed is not None and record.fixed.c1_when_case is not None:
        lines.append(labelled("when", record.fixed.c1_when_case))
    if record.unattended:
        lines.append(labelled("attended", "by nobody"))
    lines.append(labelled("decision", record.decision_id, "dim"))
    return lines


def named(record: Record) -> bool:
    """Whether the tool's name may be shown: not when the tool gate stayed shut (R-25)."""
    return record.gate is None or record.gate.kind not in _UNNAMED


def tool_words(record: Record) -> str:
    """Return the tool's name, unless the tool gate did not open for it."""
    if record.tool is None:
        return "none"
    if not named(record):
        return "(not named)"
    server = f"{visible(record.tool.server)}/" if record.tool.server else ""
    return server + visible(record.tool.name)


def words_lines(record: Record) -> list[Line]:
    """Return the user's words, marked; the matched pieces alone where the words were not stored."""
    fields = record.states
    if isinstance(record.instruction, msgspec.UnsetType):
        found = [(field.name, field.evidence.matched_text) for field in fields if field.evidence is not None]
        return [labelled("said", f"… {quoted(text)} … for {visible(name)}") for name, text in found]
    lines = said(record.instruction, fields)
    return [(Piece(f"{'said':<11}", "dim"), *lines[0]), *map(indented, lines[1:])] if lines else []


def slot_table(fields: Sequence[FieldState]) -> Table:
    """Return one row a slot: name, value, where it comes from or why it is open."""
    return Table(("slot", "value", "source"), tuple(_row(field) for field in fields))


def _row(field: FieldState) -> tuple[Line, Line, Line]:
    name = line(visible(field.name), "strong")
    if field.status == "unknown":
        waits = "; waits for the trigger" if field.pending_at_trigger else ""
        return name, line("unknown", "ask"), line(why_unknown(field.note) + waits)
    value = "none" if field.status == "null" else value_text(field.value)
    where = source_words(field.source, field.origin)
    if field.source == "prior_state" and field.origin_source:
        where += f", first from {source_words(field.origin_source)}"
    return name, line(value, "good"), line(where)


def checklist_lines(items: Sequence[ItemState]) -> list[Line]:
    """Return the user's checklist, item by item."""
    lines = []
    for item in items:
        done = item.status == "verified"
        how = source_words(item.source) if done else visible(item.note or "not verified in this run")
        text = visible(item.description or item.id)
        lines.append((Piece("  [x] " if done else "  [ ] ", "good" if done else "ask"), Piece(f"{text}: {how}")))
    return [line(), *lines] if lines else []


def condition_lines(conditions: Sequence[ConditionState], *, places: bool = False) -> list[Line]:
    """Return the conditions and what came of checking them, with who declared them (R-62).

    With `places`, each rule is named by its file and line, and what is missing is listed.
    """
    marks: dict[str, tuple[str, Style]] = {"met": ("[x]", "good"), "unmet": ("[!]", "bad"), "unknown": ("[ ]", "ask")}
    lines: list[Line] = []
    for condition in conditions:
        mark, style = marks[condition.status]
        note = f": {visible(condition.note)}" if condition.note else ""
        text = f"{visible(condition.description or condition.id)} ({condition.declared_by}): {condition.status}{note}"
        lines.append((Piece(f"  {mark} ", style), Piece(text)))
        if places and condition.missing:
            lines.append(line(f"      missing: {', '.join(map(visible, condition.missing))}", "dim"))
        if places and condition.place is not None:
            lines.append(line(f"      {visible(condition.place.file)}:{condition.place.line}", "dim"))
    return [line(), *lines] if lines else []


def left_out(record: Record) -> list[Line]:
    """Return which proposed values are not sent, by name."""
    return [
        labelled("not sent", f"{visible(claim.name)}: {visible(claim.reason)}", "dim")
        for claim in record.dropped_claims
    ]
