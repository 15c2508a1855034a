"""`preflight check`: decide a proposed call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from preflight.api import Preflight
from preflight.cli.codes import BY_DECISION
from preflight.cli.opening import AsJson, Connections, Db, hints_as_given, opened, reached
from preflight.cli.reading import read_bytes, read_object
from preflight.cli.screen import Screen
from preflight.cli.unreached import unreached
from preflight.errors import InvalidInput, StorageError
from preflight.ids import new_id
from preflight.model.record import Record
from preflight.render.hints import Hints, sent_again
from preflight.render.public import public, public_question
from preflight.render.question import asked
from preflight.render.record import summary
from preflight.render.styled import Block, line
from preflight.results import Asking, Checked, Deferred, Executable, Held


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(check)


def check(
    request: Annotated[str, typer.Argument(metavar="REQUEST.json", help="A file with the request, `-` for input.")],
    connections: Connections = None,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Decide a proposed tool call, and record the verdict.

    The request says who asks (user_id), in which words (instruction), and which MCP tool with which arguments
    a model proposes (tool, claims). Nothing is called: `preflight execute` does that, from the record.

    \b
    Examples:
      preflight check request.json
      preflight check --json - < request.json
      preflight --rules rules check request.json --connections servers.json

    Exit code: 0 execute, 10 ask_user, 11 hold, 12 deferred; 2 a malformed request, 3 the records failed.
    """
    body = read_bytes(request)
    with reached(connections) as read_tool, opened(db, read_tool) as gate:
        checked = decide(gate, request, body)
        steps = unreached(gate, checked.record) if read_tool is None else []
    show(checked, as_json=as_json, steps=[*steps, *next_steps(checked, hints_as_given(db, connections))])


def decide(gate: Preflight, name: str, body: bytes) -> Checked:
    """Check the request in a file's bytes; raises InvalidInput after a malformed one was recorded."""
    try:
        given = read_object(name, body)
    except InvalidInput as fault:
        gate.refuse(body, fault)  # what was refused before it could be read is recorded too
        raise
    # Without an id of its own the call gets one: answers and earlier asks are found again by it.
    checked = gate.check(given if given.get("call_id") is not None else {**given, "call_id": new_id()})
    if isinstance(checked, Held):
        if not checked.recorded:
            raise StorageError("the verdict could not be recorded, so nothing can be executed; see the logs")
        gate_kind = checked.record.gate.kind if checked.record.gate else None
        if gate_kind == "request_invalid":
            raise RequestRefused(checked)
    return checked


class RequestRefused(InvalidInput):
    """The recorded refusal of a malformed request."""

    def __init__(self, held: Held) -> None:
        """Say what the record says."""
        gate = held.record.gate
        Exception.__init__(self, "; ".join(gate.payload_errors) if gate else held.record.reason)


def show(checked: Checked, *, as_json: bool, steps: Sequence[str] = ()) -> None:
    """Print a verdict, with what can be done now in `steps`, and end with its exit code."""
    question = checked.question if isinstance(checked, Asking) else None
    if as_json:
        shape = {"decision": checked.decision, "record": public(checked.record)}
        if question is not None:
            shape["question"] = public_question(question)
        Screen().json(shape)
    else:
        blocks: list[Block] = summary(checked.record)
        if question is not None:
            blocks += [line(), *asked(question)]
        Screen().show([*blocks, line(), *(line(text, "dim") for text in steps)])
    raise typer.Exit(BY_DECISION[checked.decision])


def next_steps(checked: Checked, hints: Hints) -> list[str]:
    """Return what can be done now, without a candidate in it (R-9)."""
    record = checked.record
    match checked:
        case Executable():
            until = (record.not_after or "")[11:19]
            if record.trigger is not None:  # its occurrence was held, and is tried again from the beginning
                return ["a worker runs it: preflight worker --connections FILE"]
            if sent_again(record.call_id):
                return ["it goes on when its client sends exactly the same call again"]
            command = f"{hints.command('execute', checked.decision_id)} --server 'COMMAND'"
            return [f"run it: {command}   (until {until} UTC)"]
        case Asking():
            steps = [f"answer it at a terminal: {hints.answer(checked.question.question_id)}"]
            if checked.question.kind == "restatement":
                steps.append(f"or say once what your words mean: {_learn(record, hints)}")
            return steps
        case Deferred():
            return [f"what it waits for: {hints.command('explain', record.decision_id)}"]
        case Held():
            return [f"why, and what would help: {hints.command('explain', record.decision_id)}"]


def _learn(record: Record, hints: Hints) -> str:
    """Return the command that says what a user's words mean; the tool stands in it for the person to name (R-25)."""
    tenant = ("--tenant", record.scope.tenant) if record.scope.tenant else ()
    return hints.command("learn", "PHRASE", "SERVER/TOOL", "--user", record.user_id, *tenant)
