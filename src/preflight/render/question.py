"""A question as it is put to a person: what is missing, in which form, and nothing that suggests an answer (R-9)."""

from __future__ import annotations

from msgspec import UNSET

from preflight.model.question import AskedItem, AskedSlot, Question
from preflight.model.record import Record
from preflight.model.slot import FieldState
from preflight.render.phrases import why_unknown
from preflight.render.record import named, tool_words
from preflight.render.schema import described, wanted
from preflight.render.styled import Block, Line, Piece, labelled, line
from preflight.render.visible import quoted, value_text, visible

_LONGEST = 120


def asked(question: Question, runs: int = 1, record: Record | None = None, *, prompted: bool = False) -> list[Block]:
    """Return the question with every slot and item that is open, and how many runs wait for its answer.

    With the `record` of what asked, also what it is about, and the user's own words that come near an open slot.
    Where the slots are `prompted` for, how to answer in the command's arguments is not said.
    """
    lines: list[Block] = [(Piece("?  ", "ask"), Piece(visible(question.message), "strong"))]
    lines += [] if record is None else _about(record)
    states = {} if record is None else {state.name: state for state in record.states}
    for slot in question.slots:
        lines += _slot(slot, states.get(slot.name))
        lines += [] if prompted else _said_by(slot)
    lines += [_item(item) for item in question.items]
    lines.append(labelled("   id", question.question_id, "dim"))
    lines.append(labelled("   for", f"{visible(question.user_id)}, open until {question.expires_at[:16]} UTC", "dim"))
    if (told := runs_words(runs)) is not None:
        lines.append(labelled("   runs", told, "dim"))
    return lines


def runs_words(runs: int) -> str | None:
    """Return for how many runs an answer counts, where it is not one."""
    if runs == 1:
        return None
    return f"the answer goes to {runs} runs that ask the same" if runs else "cancelled; nothing waits for it any more"


def _about(record: Record) -> list[Line]:
    """Return the act in the user's words, and the tool where its gate opened for it (R-25), with what is settled."""
    act = record.fixed.c2_user_action_name if record.fixed is not None else None
    if act is None:
        return []
    lines = [labelled("   about", quoted(act) + (f", by {tool_words(record)}" if named(record) else ""), "dim")]
    settled = settled_words(record)
    return [*lines, labelled("   with", settled, "dim")] if settled else lines


def call_words(record: Record | None) -> str:
    """Return which call a question is about: the tool, and what is settled of it, so that two can be told apart.

    Empty where no value was looked up: then the tool gate did not open, and no tool is named (R-25). What is settled is
    no candidate (R-9); the record masks what is secret (R-78).
    """
    if record is None or record.fields is None or not named(record):
        return ""
    settled = settled_words(record)
    return tool_words(record) + (f" with {settled}" if settled else "")


def settled_words(record: Record) -> str:
    """Return the settled values of a call by name; long ones, which are shown whole or not at all, by their length."""
    return ", ".join(f"{visible(state.name)}: {_settled(state)}" for state in record.states if state.settled)


def _settled(state: FieldState) -> str:
    text = "none" if state.status == "null" else value_text(state.value)
    return text if len(text) <= _LONGEST else f"({len(text)} characters)"


def _slot(slot: AskedSlot, state: FieldState | None) -> list[Line]:
    form = wanted(slot.schema, nullable=slot.nullable)
    lines: list[Line] = [(Piece("   "), Piece(visible(slot.name), "strong"), Piece(f": {form}"))]
    if slot.note is not None:
        lines.append(line(f"      {why_unknown(slot.note)}", "dim"))
    near = state.mentions if state is not None else ()  # the user's own words, never a value made of them
    lines += [line(f"      the user wrote {quoted(mention.matched_text)}", "dim") for mention in near]
    if text := described(slot.schema):
        lines.append(line(f"      {text}", "dim"))
    if slot.choices:  # flat, in the provider's order, none marked
        lines.append(line("      the user's words fit each of these:"))
        lines += [line(f"      - {value_text(choice)}") for choice in slot.choices]
    if slot.confirm is not None:  # approved as it is shown, whole
        lines.append(line(f"      it would be: {value_text(slot.shown)}"))
    return lines


def _said_by(slot: AskedSlot) -> list[Line]:
    """Return which arguments say something else than a value: no word of them is one (R-5, R-46)."""
    lines: list[Line] = []
    if slot.confirm is not None:
        lines.append(line(f"      exactly `{visible(slot.confirm)}=true` approves it; another text replaces it"))
    if slot.nullable:
        lines.append(line(f"      `--none {visible(slot.name)}` says that there is none", "dim"))
    return lines


def _item(item: AskedItem) -> Line:
    what = visible(item.description) or "please confirm"
    shown = "" if item.shown is UNSET else f": {value_text(item.shown)}"
    return (Piece("   "), Piece(visible(item.id), "strong"), Piece(f": {what}{shown} (confirmed by exactly `true`)"))
