"""`preflight recover`: what became of the calls whose outcome was lost."""

from __future__ import annotations

from typing import Annotated

import typer

from preflight.cli.opening import AsJson, Connections, Db, opened_to_read, reached
from preflight.cli.screen import Screen
from preflight.recovery import GRACE_SECONDS, Recovered
from preflight.render.public import public
from preflight.render.record import tool_words
from preflight.render.styled import Block, Line, Table, line
from preflight.render.visible import visible


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(recover)


def recover(
    grace: Annotated[
        float,
        typer.Option("--grace", metavar="SECONDS", min=0, help="Leave younger starts alone: they may be under way."),
    ] = GRACE_SECONDS,
    connections: Connections = None,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Settle calls in doubt by what the rules measure.

    Nothing is called again. Where the rules name a measure under `settle`, it is read, and exactly true or exactly
    false settles the call. The others are listed: find out at the provider what happened, then `preflight settle` them.

    \b
    Example:
      PREFLIGHT_RULES=rules.yaml preflight recover
    """
    with reached(connections) as read_tool, opened_to_read(db, read_tool) as gate:
        found = gate.recover(grace)
    if as_json:
        Screen().json([_shape(each) for each in found])
        return
    waiting = [each for each in found if each.settled is None]
    blocks: list[Block] = []
    if found:
        blocks += [Table(("decision", "started", "call", "now", "why"), tuple(map(_row, found))), line()]
    blocks.append(line(f"{len(found)} in doubt, {len(found) - len(waiting)} settled, {len(waiting)} left"))
    if waiting:
        example = waiting[0].record.decision_id
        blocks.append(line(f"found out? preflight settle {example} executed --by NAME --evidence TEXT", "dim"))
    Screen().show(blocks)


def _shape(each: Recovered) -> dict[str, object]:
    settled = None if each.settled is None else public(each.settled)
    return {"record": public(each.record), "settled": settled, "why": each.why}


def _row(each: Recovered) -> tuple[Line, ...]:
    outcome = each.settled.outcome.settled_as if each.settled is not None and each.settled.outcome is not None else None
    now = line(f"settled as {outcome}", "good") if outcome else line("in doubt", "ask")
    record = each.record
    return line(record.decision_id), line(record.timestamp[:19]), line(tool_words(record)), now, line(visible(each.why))
