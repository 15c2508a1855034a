"""`preflight audit` and `explain`: what was decided, and why."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
import typer

from preflight.api import Preflight
from preflight.cli import auditing_heads
from preflight.cli.ages import age_of
from preflight.cli.opening import AsJson, Db, opened_to_read
from preflight.cli.screen import Screen
from preflight.errors import InvalidInput
from preflight.model.question import Answer
from preflight.model.record import Record
from preflight.ports import Query, Scheduling
from preflight.render.explain import explanation
from preflight.render.public import public, public_question
from preflight.render.record import tool_words
from preflight.render.styled import Line, Table, line
from preflight.render.visible import visible

State = Literal["execute", "ask_user", "hold", "deferred", "executing", "executed", "failed", "in_doubt", "settled"]
Source = Literal["user_answer", "instruction", "pre_set_data", "measured_data", "prior_state"]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    group = typer.Typer(invoke_without_command=True, rich_markup_mode=None, pretty_exceptions_enable=False)
    group.callback()(audit)
    auditing_heads.register(group)
    app.add_typer(group, name="audit")
    app.command()(explain)


def audit(
    context: typer.Context,
    key: Annotated[str | None, typer.Option("--key", help="Only records under this action key.")] = None,
    tool: Annotated[str | None, typer.Option("--tool", help="Only records about this tool.")] = None,
    field: Annotated[str | None, typer.Option("--field", help="Only decisions with this slot.")] = None,
    source: Annotated[Source | None, typer.Option("--source", help="Only where a slot came from this source.")] = None,
    decision: Annotated[State | None, typer.Option("--decision", help="Only records in this state.")] = None,
    since: Annotated[str | None, typer.Option("--since", help="An ISO 8601 time, or an age: 90m, 24h, 7d.")] = None,
    user: Annotated[str | None, typer.Option("--user", help="Only records of this user.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many.")] = 100,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """List records, newest first.

    Every option given must hold. `--json` prints one record a line.

    \b
    Examples:
      preflight audit --decision executed --since 24h
      preflight audit --field to_account --source user_answer --user minji
    """
    if context.invoked_subcommand is not None:
        return
    query = Query(
        action_key=key, tool=tool, field=field, source=source, decision=decision, user_id=user,
        since=None if since is None else moment(since), limit=limit,
    )  # fmt: skip
    screen = Screen()
    with opened_to_read(db) as gate:
        records = [stored.record for stored in gate.storage.find(query)]
    if as_json:
        for record in records:
            screen.json(public(record), indent=None)
    elif records:
        screen.show([Table(("at (UTC)", "state", "user", "call", "reason", "id"), tuple(map(_row, records)))])
    else:
        screen.show([line("no record fits")])


def moment(text: str) -> str:
    """Return what `--since` takes: an ISO 8601 time as it is, an age (`90m`, `24h`, `7d`) as the time it began."""
    ago = age_of(text)
    if ago is None:
        return text  # the store reads ISO 8601, and says so when this is none
    try:
        return (datetime.now(UTC) - ago).isoformat()
    except OverflowError:
        raise InvalidInput("since", f"`{text}` lies before the calendar begins", "give a time or an age") from None


def _row(record: Record) -> tuple[Line, ...]:
    error = record.outcome.error if record.outcome is not None else None
    texts = (
        record.timestamp[:19].replace("T", " "), record.execution_decision, record.user_id, tool_words(record),
        error or record.reason, record.record_id,
    )  # fmt: skip
    return tuple(line(visible(text)) for text in texts)


def explain(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="The id of a decision, a record or a question.")],
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Tell why a call ran, or why not.

    Shows every slot with its source and evidence, what happened afterwards, and what would have led elsewhere.
    """
    with opened_to_read(db) as gate:
        steps = _steps(gate, identifier)
        record = steps[0]
        question = gate.storage.question(record.question_id) if record.question_id else None
        answers = _answers(gate, record)
        silences = gate.storage.no_answers(record.question_id) if record.question_id else []
        row = gate.storage.deferral(record.record_id) if isinstance(gate.storage, Scheduling) else None
    if as_json:
        shape: dict[str, Any] = {"steps": [public(step) for step in steps]}
        if question is not None:
            shape["question"] = public_question(question)
        if silences:
            shape["no_answers"] = msgspec.to_builtins(silences)
        Screen().json(shape)
    else:
        Screen().show(explanation(steps, question, answers, silences, row))


def _steps(gate: Preflight, identifier: str) -> list[Record]:
    stored = gate.storage.get(identifier)
    if stored is None:
        question = gate.storage.question(identifier)
        stored = gate.storage.get(question.decision_id) if question is not None else None
    if stored is None:
        raise InvalidInput("id", f"no record or question has the id `{identifier}`", "`preflight audit` lists them")
    return [step.record for step in gate.storage.steps(stored.record.decision_id)]


def _answers(gate: Preflight, record: Record) -> list[Answer]:
    """Return the answers that the decision could see; those given later belong to a later decision."""
    if record.call_id is not None:
        answers = gate.storage.answers_for_call(record.scope, record.call_id)
        return [answer for answer in answers if answer.answered_at <= record.timestamp] or _own(gate, record)
    return _own(gate, record)


def _own(gate: Preflight, record: Record) -> list[Answer]:
    answer = gate.storage.answer_to(record.question_id) if record.question_id else None
    return [] if answer is None else [answer]
