"""`preflight pending` and `answer`: the questions that wait for a person."""

from __future__ import annotations

from typing import Annotated

import typer

from preflight.api import Preflight
from preflight.cli.checking import show
from preflight.cli.codes import ASK_USER
from preflight.cli.given import given_values, prompted_values
from preflight.cli.opening import AsJson, Connections, Db, opened_to_read, reached
from preflight.cli.person import Channel, require_person
from preflight.cli.screen import Screen
from preflight.cli.unreached import unreached
from preflight.errors import AnswerRefused
from preflight.folding import runs_for
from preflight.model.question import Question
from preflight.model.record import Record
from preflight.render.public import public_question
from preflight.render.question import asked
from preflight.render.styled import Block, line
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
        blocks += [*asked(question, number, record), line()]
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
        stored = _stored(gate, question)
        said = given_values(stored, values or [], none or [])
        if not said and channel == "terminal":
            Screen().show(asked(stored, runs_for(gate.storage, stored), _record(gate, stored), prompted=True))
            said = prompted_values(stored)
        answered = gate.answer(question, said, person=person or stored.user_id, channel=channel)
        steps = [] if read_tool or isinstance(answered, Accepted) else unreached(gate, answered.record)
    if isinstance(answered, Accepted):
        Screen().show([line("the answer is stored; its request is not at hand here: check the same call again", "ask")])
        raise typer.Exit(ASK_USER)
    show(answered, as_json=as_json, steps=steps)


def _record(gate: Preflight, question: Question) -> Record | None:
    stored = gate.storage.get(question.decision_id)
    return None if stored is None else stored.record


def _stored(gate: Preflight, question_id: str) -> Question:
    found = gate.storage.question(question_id)
    if found is None:
        message = f"no question has the id `{question_id}`; `preflight pending` lists the open ones"
        raise AnswerRefused(message)
    return found
