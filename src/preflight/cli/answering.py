"""`preflight pending` and `answer`: the questions that wait for a person."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from preflight.api import Preflight
from preflight.cli.checking import next_steps, show
from preflight.cli.codes import ASK_USER
from preflight.cli.given import given_values, prompted_values
from preflight.cli.opening import RULES, AsJson, Connections, Db, hints_as_given, opened_to_read, reached
from preflight.cli.person import Channel, require_person
from preflight.cli.screen import Screen
from preflight.cli.unreached import unreached
from preflight.errors import AnswerRefused
from preflight.folding import runs_for
from preflight.model.question import Question
from preflight.model.record import Record
from preflight.render.hints import Hints, sent_again
from preflight.render.public import public_question
from preflight.render.question import asked
from preflight.render.styled import Block, Line, labelled, line
from preflight.results import Accepted


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(pending)
    app.command()(answer)


def pending(
    user: Annotated[str | None, typer.Option("--user", metavar="ID", help="Only the questions for this user.")] = None,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """List the open questions, oldest first.

    A question that several runs ask stands once, with their number.
    """
    with opened_to_read(db) as gate:
        questions = [question for question in gate.pending() if user in (None, question.user_id)]
        runs = [runs_for(gate.storage, question) for question in questions]
        records = [_record(gate, question) for question in questions]
    if as_json:
        Screen().json([{**public_question(question), "runs": n} for question, n in zip(questions, runs, strict=True)])
        return
    blocks: list[Block] = [line("no question is open")] if not questions else []
    for question, number, record in zip(questions, runs, records, strict=True):
        blocks += [*asked(question, number, record), _command(question, record, db), line()]
    Screen().show(blocks)


def answer(
    question: Annotated[str, typer.Argument(metavar="ID", help="The question's id.")],
    values: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FIELD=VALUE...", help="What is said; `FIELD:=JSON` for a JSON value.", show_default=False
        ),
    ] = None,
    none: Annotated[
        list[str] | None, typer.Option("--none", metavar="FIELD", help="Say that there is none.", show_default=False)
    ] = None,
    person: Annotated[str | None, typer.Option("--person", metavar="NAME", help="Who answers.")] = None,
    channel: Channel = "terminal",
    connections: Connections = None,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Answer a question once, and decide the call again.

    Without values, each open slot is asked for in turn; what may be absent, or is shown to be approved, is answered by
    a number first. A value is read as its slot's type wants it; --none says that there is none, checklist items are
    confirmed by exactly `ITEM=true`, shown text by `confirm/…=true`; where the act is asked for again, say
    `restatement=WORDS`.

    A person answers, at a terminal; no tool that a model can call does. Who answers there is taken to be the
    user who was asked, unless --person names another.

    \b
    Examples:
      preflight answer 01a22e3e-686f-72d5-a86a-38bf938193bc
      preflight answer 01a22e3e-686f-72d5-a86a-38bf938193bc to_account=3520198845
      preflight answer 01a22e3e-686f-72d5-a86a-38bf938193bc 'recipients:=["ana","bo"]' --none memo

    Exit code: that of `preflight check` for the new decision; 2 when the answer does not fit.
    """
    require_person(channel)
    if channel == "script" and not person:
        message = "a script has to say who answers; add --person NAME"
        raise AnswerRefused(message)
    with reached(connections) as read_tool, opened_to_read(db, read_tool) as gate:
        stored = gate.answerable(question)  # refused before somebody types in vain
        said = given_values(stored, values or [], none or [])
        if not said and channel == "terminal":
            Screen().show(asked(stored, runs_for(gate.storage, stored), _record(gate, stored), prompted=True))
            said = prompted_values(stored)
        answered = gate.answer(question, said, person=person or stored.user_id, channel=channel)
        steps = [] if read_tool or isinstance(answered, Accepted) else unreached(gate, answered.record)
    if isinstance(answered, Accepted):
        again = "have its client send exactly the same call again" if sent_again(answered.call_id) else _CHECK_AGAIN
        Screen().show([line(f"the answer is stored; its request is not at hand here: {again}", "ask")])
        raise typer.Exit(ASK_USER)
    show(answered, as_json=as_json, steps=[*steps, *next_steps(answered, hints_as_given(db, connections))])


_CHECK_AGAIN = "check the same call again"


def _command(question: Question, record: Record | None, db: str | None) -> Line:
    """Return the command that answers a question; under rules it is answered only where they are given."""
    under_rules = record is not None and record.rules_digest is not None
    hints = Hints(os.environ.get(RULES) or ("PATH" if under_rules else None), db)
    return labelled("   answer", hints.answer(question.question_id), "dim")


def _record(gate: Preflight, question: Question) -> Record | None:
    stored = gate.storage.get(question.decision_id)
    return None if stored is None else stored.record
