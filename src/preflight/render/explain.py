"""Why did it run, or why not: the whole story of one decision."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UnsetType

from preflight.model.deferral import Deferral
from preflight.model.evidence import Evidence
from preflight.model.instruction import Segment
from preflight.model.question import Answer, NoAnswer, Question
from preflight.model.record import Record
from preflight.model.slot import FieldState
from preflight.render.changes import would_have_changed
from preflight.render.phrases import DECISIONS, ROUTES, SILENCES, source_words, why_unknown
from preflight.render.reading import near, readings
from preflight.render.record import (
    checklist_lines,
    condition_lines,
    headline,
    left_out,
    tool_words,
    words_lines,
)
from preflight.render.styled import Block, Line, Piece, Table, indented, labelled, line
from preflight.render.visible import quoted, value_text, visible
from preflight.render.words import marked, places


def explanation(
    steps: Sequence[Record],
    question: Question | None = None,
    answers: Sequence[Answer] = (),
    silences: Sequence[NoAnswer] = (),
    row: Deferral | None = None,
) -> list[Block]:
    """Explain a decision: `steps` are its record and those of its execution, oldest first.

    `question` is what it asked; `answers` are those that were given about the same call, `silences` how often the
    question was put in vain. `row` is what waits for the trigger of a deferred run.
    """
    record = steps[0]
    blocks: list[Block] = [_verdict(steps, row), headline(record), line(), *_path(record), *words_lines(record)]
    if fields := record.states:
        blocks += [line(), Table(("slot", "state", "value", "source", "evidence"), tuple(map(_row, fields)))]
        blocks += [line_ for field in fields for line_ in _mentions(field, record)]
    blocks += [
        *checklist_lines(record.user_checklist or ()),
        *condition_lines(record.conditions, places=True),
        *left_out(record),
        *_asked(record, question, answers, silences),
    ]
    if len(steps) > 1:
        blocks += [line(), line("what happened", "strong"), *map(_step, steps)]
    return [*blocks, line(), line("what would have changed the outcome", "strong"), *would_have_changed(steps)]


def _verdict(steps: Sequence[Record], row: Deferral | None) -> Line:
    last = steps[-1]
    if row is not None and row.state != "waiting":
        told = f"`preflight deferred show {row.deferral_id}` tells what became of it"
        return line(f"It was deferred, and is {row.state} now: {told}.", "strong")
    ran = {
        "execute": "It may run, and has not been started.",
        "ask_user": "It did not run: something was asked first.",
        "hold": "It did not run: it was held.",
        "deferred": "It has not run: it waits for its trigger.",
        "executing": "It was started, and no outcome is recorded: whether it took effect is not known.",
        "executed": "It ran once.",
        "failed": "It was called, and the provider refused it.",
        "in_doubt": "It was called once, and whether it took effect is not known. It is never called again.",
    }
    if last.execution_decision == "settled" and last.outcome is not None:
        found = "ran" if last.outcome.settled_as == "executed" else "did not take effect"
        return line(f"It was in doubt, and settled: it {found}, says {visible(last.outcome.by or '?')}.", "strong")
    return line(ran[last.execution_decision], "strong")


def _path(record: Record) -> list[Line]:
    lines = [labelled("decision", record.decision_id), labelled("at", _moment(record.timestamp))]
    if record.tool is not None:
        lines.append(labelled("call", tool_words(record)))
    if record.user_id:
        lines.append(labelled("for", visible(record.user_id)))
    fixed = record.fixed
    if fixed is None:
        return lines
    lines.append(labelled("when", fixed.c1_when_case or "not settled"))
    act = quoted(fixed.c2_user_action_name) if fixed.c2_user_action_name else "not settled"
    lines.append(labelled("act", act + (f" ({source_words(fixed.c2_source)})" if fixed.c2_source else "")))
    match = getattr(fixed.c3_match, "approved", None)
    if match is not None:
        lines.append(labelled("tool gate", "opened" if match else "shut", "good" if match else "ask"))
    return lines


def _row(field: FieldState) -> tuple[Line, ...]:
    name = line(visible(field.name), "strong")
    if field.status == "unknown":
        route = ROUTES.get(field.route or "", "")
        return name, line("unknown", "ask"), line(), line(), line(f"{why_unknown(field.note)}; {route}".rstrip("; "))
    value = line("none" if field.status == "null" else value_text(field.value), "good")
    where = source_words(field.source, field.origin)
    if field.origin_source not in (None, field.source):
        where += f", first from {source_words(field.origin_source)}"
    return name, line(field.status), value, line(where), line(_evidence(field))


def _evidence(field: FieldState) -> str:
    return ", ".join(readings(field.evidence)) if field.evidence is not None else ""


def _mentions(field: FieldState, record: Record) -> list[Line]:
    """Return the user's own words that came near, where they stand; never what the model proposed."""
    lines: list[Line] = []
    for mention in field.mentions:
        lines.append(line(f"  near {visible(field.name)}: the user wrote {near(mention)}", "dim"))
        if segment := _segment(mention, record):
            lines += [indented(shown, 4) for shown in marked(segment.text, places(mention))]
    return lines


def _segment(mention: Evidence, record: Record) -> Segment | None:
    """Return the user's segment where the words stand, if the record keeps it (R-71)."""
    segments = record.instruction
    if isinstance(segments, UnsetType) or mention.segment_index >= len(segments):
        return None
    segment = segments[mention.segment_index]
    return segment if segment.grounds and 0 <= mention.start < mention.end <= len(segment.text) else None


def _asked(
    record: Record, question: Question | None, answers: Sequence[Answer], silences: Sequence[NoAnswer]
) -> list[Line]:
    lines: list[Line] = []
    if question is not None:
        lines.append(labelled("question", f"{question.question_id}: {visible(question.message)}"))
    elif record.question_id:
        lines.append(labelled("question", record.question_id))
    lines += [labelled("no answer", silence_words(silence)) for silence in silences]
    for answer in answers:
        names = ", ".join(map(visible, [*answer.values, *answer.items] or ["the act, said again"]))
        who = f"{visible(answer.person)} by {visible(answer.channel)} at {_moment(answer.answered_at)}"
        lines.append(labelled("answered", f"{names}: {who}"))
    return lines


def silence_words(silence: NoAnswer) -> str:
    """Return in words that a question was put in vain, by what, and whether a person was there (R-92)."""
    client = f" ({visible(silence.client)})" if silence.client else ""
    whom = "at once, so by no person" if silence.at_once else f"after {silence.seconds:.1f} s"
    return f"{SILENCES[silence.how]} by {visible(silence.channel)}{client}, {whom}, at {_moment(silence.at)}"


def _step(record: Record) -> Line:
    outcome = record.outcome
    said = ""
    if outcome is not None:
        told = (outcome.error, outcome.settled_as, outcome.by and f"by {outcome.by}", outcome.evidence)
        said = "; ".join(visible(text) for text in told if text)
    return (
        Piece(f"  {_moment(record.timestamp)}  "),
        Piece(f"{DECISIONS[record.execution_decision]:<22}", "strong"),
        Piece(said),
    )


def _moment(text: str) -> str:
    return text[:19].replace("T", " ") + " UTC" if text.endswith("+00:00") else text
