"""`preflight learn`, `forget` and `learned`: which tool a user means by which words."""

from __future__ import annotations

from typing import Annotated

import typer

from preflight.cli.opening import AsJson, Conversation, Db, Tenant, User, opened, opened_to_read, scope_of
from preflight.cli.person import Channel, require_person
from preflight.cli.screen import Screen
from preflight.clock import SystemClock, iso
from preflight.errors import InvalidInput
from preflight.hooks.shipped.mappings import words_of
from preflight.model.channel import signed
from preflight.render.styled import Table, line
from preflight.render.visible import quoted, visible

Phrase = Annotated[str, typer.Argument(metavar="PHRASE", help="Words of the act; the first is the one it begins with.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(learn)
    app.command()(forget)
    app.command()(learned)


def learn(
    phrase: Phrase,
    tool: Annotated[str, typer.Argument(metavar="SERVER/TOOL", help="What is meant by it.")],
    user: User,
    tenant: Tenant = "",
    conversation: Conversation = "",
    channel: Channel = "terminal",
    db: Db = None,
) -> None:
    """Confirm what a user means by a phrase.

    The tool gate opens by such meanings, and by nothing else. A phrase speaks for an act that begins with its
    first word and has the others in their order: `send won` speaks for "send 500,000 won to my landlord". Of
    several, the one with the most words decides. Without --conversation the meaning holds in the whole tenant.

    \b
    Example:
      preflight learn "send won" bank/transfer --user minji
    """
    require_person(channel)
    if not words_of(phrase):
        raise InvalidInput("phrase", f"{quoted(phrase)} has no word", "say it as the user would, like `send money`")
    server, slash, name = tool.partition("/")
    if not (server and slash and name):
        raise InvalidInput("tool", f"`{tool}` is no tool", "write SERVER/TOOL, like `bank/transfer`")
    with opened(db) as gate:
        at = iso(SystemClock().now())
        gate.storage.learn(scope_of(tenant, conversation), user, phrase, server, name, signed(user, channel), at)
    Screen().show([line(f"{visible(user)} means {visible(tool)} by {quoted(phrase)}", "good")])


def forget(
    phrase: Phrase,
    user: User,
    tenant: Tenant = "",
    conversation: Conversation = "",
    db: Db = None,
) -> None:
    """Revoke what a user means by a phrase.

    The history stays in the database.
    """
    with opened_to_read(db) as gate:
        scope = scope_of(tenant, conversation)
        if phrase not in [name for name, _, _ in gate.storage.learned(scope, user)]:
            raise InvalidInput(
                "phrase", f"{visible(user)} means nothing by {quoted(phrase)}", "see `preflight learned`"
            )
        gate.storage.forget(scope, user, phrase, iso(SystemClock().now()))
    Screen().show([line(f"{visible(user)} means nothing by {quoted(phrase)} any more")])


def learned(
    user: User,
    tenant: Tenant = "",
    conversation: Conversation = "",
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """List what a user means by which phrase."""
    with opened_to_read(db) as gate:
        rows = gate.storage.learned(scope_of(tenant, conversation), user)
    if as_json:
        Screen().json([{"phrase": phrase, "server": server, "tool": tool} for phrase, server, tool in rows])
    elif rows:
        cells = [(line(quoted(phrase)), line(visible(f"{server}/{tool}"))) for phrase, server, tool in rows]
        Screen().show([Table(("phrase", "means"), tuple(cells))])
    else:
        Screen().show([line(f"no phrase of {visible(user)} is confirmed; see `preflight learn --help`")])
