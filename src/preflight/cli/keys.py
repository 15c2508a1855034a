"""`preflight keys` and `reveal`: the keys that sign and encrypt, and what they keep shut."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from preflight.api import Preflight
from preflight.cli.opening import AsJson, Db, Tenant, User, opened, opened_to_read
from preflight.cli.person import Channel, require_person
from preflight.cli.screen import Screen
from preflight.clock import SystemClock, iso
from preflight.errors import ConstructionError, InvalidInput
from preflight.render.public import public
from preflight.render.record import summary
from preflight.render.styled import Line, Table, line
from preflight.render.visible import visible
from preflight.secrecy.safekeeping import Places, default_vault
from preflight.secrecy.vault.wrapping import with_new_master
from preflight.signing.filed import public_table, with_new_key, with_revoked
from preflight.signing.keyfile import KeyEntry, KeyFile

Algorithm = Literal["ed25519", "hs256"]
_STYLES = {"active": "good", "revoked": "bad"}


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    group = typer.Typer(
        help="The keys that sign records and encrypt secret values.", no_args_is_help=True, rich_markup_mode=None
    )
    for command in (listed, rotate, revoke, published, erase):
        group.command(_NAMES.get(command.__name__, command.__name__))(command)
    app.add_typer(group, name="keys")
    app.command()(reveal)


_NAMES = {"listed": "list", "published": "public"}


def listed(as_json: AsJson = False, db: Db = None) -> None:
    """List the keys, without the keys themselves."""
    with opened_to_read(db) as gate:
        table = _file(gate).table()
    entries = [*table.signing, *table.master]
    if as_json:
        Screen().json([_shape(entry) for entry in entries])
    elif entries:
        Screen().show([Table(("key", "kind", "state", "made at", "why"), tuple(map(_row, entries)))])
    else:
        Screen().show([line("no key was needed yet; the first record makes one")])


def rotate(
    algorithm: Annotated[
        Algorithm, typer.Option("--algorithm", help="ed25519: others can verify; hs256: this account alone can.")
    ] = "ed25519",
    master: Annotated[bool, typer.Option("--master", help="The master key of the encryption instead.")] = False,
    db: Db = None,
) -> None:
    """Make a new key and use it from now on.

    The old signing key goes on verifying; under a new master key all data keys are wrapped anew. Programs that run
    take the new key up by themselves.
    """
    now = iso(SystemClock().now())
    with opened(db) as gate:
        file = _file(gate)
        if master:
            table = file.change(lambda table: with_new_master(table, now))
            wrapped = default_vault(gate.storage, SystemClock())().rewrap()
            said = f"master key {table.master[-1].id} is active; {wrapped} data keys wrapped anew"
        else:
            table = file.change(lambda table: with_new_key(table, algorithm, now))
            said = f"signing key {table.signing[-1].id} is active"
    Screen().show([line(said, "good")])


def revoke(
    key: Annotated[str, typer.Argument(metavar="ID", help="The id of a signing key that others may know.")],
    why: Annotated[str, typer.Option("--why", metavar="TEXT", help="What happened; it is kept with the key.")],
    channel: Channel = "terminal",
    db: Db = None,
) -> None:
    """Let a signing key count no more.

    What it signed is believed no longer, whenever that was, unless a head that was exported before vouches for it.
    Rotate first: without an active key nothing can be recorded.
    """
    require_person(channel)
    with opened_to_read(db) as gate:
        _file(gate).change(lambda table: with_revoked(table, key, why))
    Screen().show([line(f"{visible(key)} counts no more", "good")])


def published(db: Db = None) -> None:
    """Print the public keys: with them others can verify, and sign nothing.

    \b
    Example:
      preflight keys public > keys.json
      preflight audit verify --db copy.db --keys keys.json
    """
    with opened_to_read(db) as gate:
        table = public_table(_file(gate).table())
    if not table.signing:
        raise InvalidInput("keys", "no key has a public half", "`preflight keys rotate --algorithm ed25519` makes one")
    Screen().json(msgspec.to_builtins(table))


def erase(
    user: User,
    tenant: Tenant = "",
    channel: Channel = "terminal",
    db: Db = None,
) -> None:
    """Make a person's secret values unreadable for good.

    Destroys the key under which they are encrypted, in every record and question. The records stay, with what is
    not secret in them, and so do chain and signatures. A backup of the vault still holds the key.
    """
    require_person(channel)
    with opened_to_read(db) as gate:
        done = gate.erase(user, tenant)
    said = f"the secret values of {visible(user)} cannot be read any more" if done else f"{visible(user)} has none"
    Screen().show([line(said, "good" if done else "")])


def reveal(
    decision: Annotated[str, typer.Argument(metavar="ID", help="The id of a record.")],
    channel: Channel = "terminal",
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Show a record with its secret values.

    For a person at a terminal: what is printed here is not masked.
    """
    require_person(channel)
    with opened_to_read(db) as gate:
        record = gate.reveal(decision)
    if as_json:
        Screen().json(public(record))
    else:
        Screen().show(summary(record))


def _file(gate: Preflight) -> KeyFile:
    places = Places(gate.storage)
    if places.keys is None:
        message = "the keys of records in memory die with the process; name a database with --db"
        raise ConstructionError(message)
    if not Path(places.keys).parent.is_dir():
        message = f"there is no folder `{places.keys.parent}`"
        raise ConstructionError(message)
    return KeyFile(places.keys)


def _shape(entry: KeyEntry) -> dict[str, str]:
    shape = {"id": entry.id, "algorithm": entry.algorithm, "state": entry.state, "made_at": entry.made_at}
    return shape | ({"why": entry.why} if entry.why else {})


def _row(entry: KeyEntry) -> tuple[Line, ...]:
    kind = "master key, aes256gcm" if entry.algorithm == "aes256gcm" else entry.algorithm
    style = _STYLES.get(entry.state, "dim")
    return (
        line(entry.id), line(kind), line(entry.state, style), line(entry.made_at[:19]), line(visible(entry.why)),  # type: ignore[arg-type]
    )  # fmt: skip
