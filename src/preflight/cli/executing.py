"""`preflight execute`, `in-doubt` and `settle`: from a record to the call, and what to do when its outcome is lost."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import typer

from preflight.api import Preflight
from preflight.cli.codes import BY_STATUS
from preflight.cli.opening import AsJson, Connections, Db, opened_to_read, reached
from preflight.cli.person import Channel, require_person
from preflight.cli.screen import Screen
from preflight.deferral.connections import stdio_server
from preflight.errors import InvalidInput
from preflight.model.channel import signed
from preflight.model.record import Record
from preflight.model.tool import Tool
from preflight.render.public import public
from preflight.render.record import summary, tool_words
from preflight.render.styled import Block, Table, labelled, line
from preflight.render.visible import value_text, visible
from preflight.results import Executed, Execution, Failed, Refused


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(execute)
    app.command("in-doubt")(in_doubt)
    app.command()(settle)


def execute(
    decision: Annotated[str, typer.Argument(metavar="ID", help="The id of an `execute` decision.")],
    server: Annotated[str, typer.Option("--server", metavar="COMMAND", help="The command that starts the MCP server.")],
    seconds: Annotated[
        float, typer.Option("--timeout", min=0.1, help="How long the server may take, in seconds.")
    ] = 60,
    connections: Connections = None,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Call the tool of a recorded decision, at most once.

    The arguments come from the record; there is no way to pass others. The server is started over standard
    input and output, and the tool must be listed exactly as it was when the call was decided.

    \b
    Example:
      preflight execute 01a22e3e-6870-75e6-8d17-0b057af97550 --server 'python bank.py --db bank.db'

    Exit code: 0 executed, 11 refused and nothing called, 20 the provider refused, 21 in doubt.
    """
    with reached(connections) as read_tool, opened_to_read(db, read_tool) as gate:
        execution = _executed(gate, decision, _command(server), seconds)
    if as_json:
        Screen().json(_shape(execution))
    else:
        Screen().show(_told(execution))
    raise typer.Exit(BY_STATUS[execution.status])


def _executed(gate: Preflight, decision: str, command: list[str], seconds: float) -> Execution:
    steps = [step.record for step in gate.storage.steps(decision)]
    name = steps[0].tool if steps else None
    if name is None or steps[-1].execution_decision != "execute":
        return gate.execute_if_ready(decision, _never)  # refused by the executor, in its own words
    with stdio_server()(command, seconds=seconds) as server:
        listed = next((tool for tool in server.tools() if tool.get("name") == name.name), None)
        if listed is None:
            return Refused("tool_changed", f"the server lists no tool `{name.name}`", steps[0])
        return gate.execute_if_ready(decision, server.call, tool=Tool.from_mcp(listed, server=name.server))


def _never(call: object) -> object:
    message = f"a decision that is not `execute` was started: {call}"
    raise AssertionError(message)


def _command(server: str) -> list[str]:
    try:
        return shlex.split(server)
    except ValueError as fault:
        raise InvalidInput("server", f"`{server}` is no command: {fault}", "quote it as a shell would") from None


def _shape(execution: Execution) -> dict[str, Any]:
    shape: dict[str, Any] = {"status": execution.status}
    if isinstance(execution, Refused):
        shape |= {"code": execution.code, "why": execution.why}
    elif not isinstance(execution, Executed):
        shape["error"] = execution.error
    if isinstance(execution, Executed | Failed):
        shape["result"] = execution.shown
    if execution.record is not None:
        shape["record"] = public(execution.record)
    return shape


def _told(execution: Execution) -> list[Block]:
    if isinstance(execution, Refused):
        return [line(f"not started ({execution.code}): {visible(execution.why)}", "bad")]
    blocks = summary(execution.record)
    if isinstance(execution, Executed | Failed) and execution.shown is not None:
        blocks += [line(), labelled("result", said_by_tool(execution.shown))]
    if execution.status == "in_doubt":
        blocks += [
            line(),
            line(f"find out what happened there, then: preflight settle {execution.record.decision_id} …", "dim"),
        ]
    return blocks


def said_by_tool(result: object) -> str:
    """Return what an MCP result says, in one line."""
    if not isinstance(result, Mapping):
        return value_text(result)
    if (structured := result.get("structuredContent")) is not None:
        return visible(json.dumps(structured, ensure_ascii=False))
    parts = result.get("content")
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []
    return " ".join(visible(text) for text in texts if isinstance(text, str)) or value_text(result)


def in_doubt(as_json: AsJson = False, db: Db = None) -> None:
    """List started calls without a known outcome.

    They are never called again. Find out at the provider what happened, then `preflight settle` them.
    A call that is under way right now is listed too.
    """
    with opened_to_read(db) as gate:
        records = gate.in_doubt()
    if as_json:
        Screen().json([public(record) for record in records])
    elif not records:
        Screen().show([line("nothing is in doubt")])
    else:
        Screen().show([Table(("decision", "started", "user", "call", "what is known"), tuple(map(_row, records)))])


def _row(record: Record) -> tuple[Any, ...]:
    known = record.outcome.error if record.outcome is not None and record.outcome.error else "no outcome recorded"
    texts = (record.decision_id, record.timestamp[:19], record.user_id, tool_words(record), known)
    return tuple(line(visible(text)) for text in texts)


def settle(
    decision: Annotated[str, typer.Argument(metavar="ID", help="The id of the decision in doubt.")],
    outcome: Annotated[Literal["executed", "failed"], typer.Argument(help="What happened at the provider.")],
    by: Annotated[str, typer.Option("--by", metavar="NAME", help="Who found out.")],
    evidence: Annotated[str, typer.Option("--evidence", metavar="TEXT", help="What shows it.")],
    channel: Channel = "terminal",
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Record what became of a call in doubt.

    A person found it out at the provider. Nothing is called, now or later.

    \b
    Example:
      preflight settle 01a22e3e-… executed --by minji --evidence 'ledger entry 17'
    """
    require_person(channel)
    with opened_to_read(db) as gate:
        record = gate.resolve(decision, outcome, by=signed(by, channel), evidence=evidence)
    if as_json:
        Screen().json(public(record))
    else:
        Screen().show([line(f"settled as {outcome}; it is never called again", "good")])
