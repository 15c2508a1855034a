"""`preflight audit verify`, `audit head` and `audit export`: whether the records are those that were written."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from preflight.api import Preflight
from preflight.audit import Finding, Head, Report, head_of, read_head, signed_head, verify
from preflight.audit.export import Silences, as_csv, as_json_lines
from preflight.audit.prov import as_prov
from preflight.cli.codes import DONE, ERROR
from preflight.cli.opening import AsJson, Db, opened_to_read
from preflight.cli.screen import Screen
from preflight.clock import SystemClock, iso
from preflight.errors import InvalidInput, SignatureInvalid
from preflight.ports import Stored
from preflight.render.styled import Block, Line, Table, line
from preflight.render.visible import visible, visible_json
from preflight.retention import graves
from preflight.secrecy.safekeeping import default_signer
from preflight.signing.filed import FiledKeyring, ring_of
from preflight.signing.keyfile import KeyFile
from preflight.signing.keyring import Keyring

Format = Literal["jsonl", "csv", "prov"]
Keys = Annotated[
    Path | None,
    typer.Option("--keys", metavar="FILE", help="Verify with the keys of this file.", show_default=False),
]


def register(group: typer.Typer) -> None:
    """Add the commands of this file."""
    group.command("verify")(verify_log)
    group.command("head")(head)
    group.command("export")(export)


def verify_log(
    head: Annotated[
        Path | None,
        typer.Option("--head", metavar="FILE", help="A head that was exported before.", show_default=False),
    ] = None,
    keys: Keys = None,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Look for signs of tampering in the whole log.

    Checks each record's digest and signature, the chain under each key, and the order of the log. Edits, removals
    and reorderings are found by that; that the end was cut off, or an old copy put back, is found only with a head
    that was exported before and kept elsewhere.

    \b
    Example:
      preflight audit verify --head head.json

    Exit code: 0 when nothing was found, 1 when something was, 2 when the head itself is not to be believed.
    """
    with opened_to_read(db) as gate:
        ring = _ring(gate, keys)
        seen = None if head is None else _seen(head, ring)
        buried, faults = graves(gate.storage, ring)
        report = verify(gate.storage.raw_scan, ring, seen, buried)
    if faults:
        found = tuple(Finding("bad_tombstone", fault) for fault in faults)
        report = msgspec.structs.replace(report, findings=(*found, *report.findings))
    if as_json:
        Screen().json(msgspec.to_builtins(report))
    else:
        Screen().show(_told(report, with_head=seen is not None))
    raise typer.Exit(DONE if report.intact else ERROR)


def head(db: Db = None) -> None:
    """Print the signed head of the log.

    Keep it where the owner of the records cannot change it: with it, a log whose end was cut off is found out.

    \b
    Example:
      preflight audit head > head.json
    """
    with opened_to_read(db) as gate:
        ring = default_signer(gate.storage, SystemClock())
        text = signed_head(head_of(gate.storage.raw_scan(), iso(SystemClock().now())), ring)
    Screen().json(json.loads(text))


def export(
    form: Annotated[Format, typer.Option("--format", help="jsonl, csv, or prov (W3C PROV-JSON).")] = "jsonl",
    db: Db = None,
) -> None:
    """Print every record, oldest first; what is secret stays masked.

    \b
    Example:
      preflight audit export --format csv > records.csv
    """
    with opened_to_read(db) as gate:
        for text in _exported(gate.storage.scan(), gate.storage.no_answers, form):
            sys.stdout.write(text)
    sys.stdout.flush()


def _exported(records: Iterable[Stored], silences: Silences, form: Format) -> Iterable[str]:
    match form:
        case "jsonl":
            return map(visible_json, as_json_lines(records, silences))
        case "csv":
            return as_csv(records, silences)
        case "prov":
            return [visible_json(json.dumps(as_prov(records, silences), ensure_ascii=False, indent=2)), "\n"]


def _ring(gate: Preflight, keys: Path | None) -> Keyring | FiledKeyring:
    if keys is None:
        return default_signer(gate.storage, SystemClock())
    if not keys.is_file():
        raise InvalidInput("keys", f"there is no file `{keys}`", "`preflight keys public` writes one")
    return ring_of(KeyFile(keys, public=True).table())


def _seen(path: Path, ring: Keyring | FiledKeyring) -> Head:
    try:
        return read_head(_read(path), ring)
    except SignatureInvalid as fault:
        raise InvalidInput("head", f"`{path}` is not to be believed: {fault}") from fault


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as fault:
        raise InvalidInput("head", f"cannot read `{path}`: {fault.strerror}", "name an exported head") from None


def _told(report: Report, *, with_head: bool) -> list[Block]:
    blocks: list[Block] = []
    if report.findings:
        rows = tuple(_row(finding) for finding in report.findings)
        blocks += [Table(("place", "found", "record", "what"), rows), line()]
    if report.more:
        blocks.append(line(f"and {report.more} more", "bad"))
    read = f"{report.records} records read, {report.vouched} of them under the head"
    blocks.append(line(read + (f", {report.removed} removed by retention" if report.removed else ""), "dim"))
    if report.findings:
        blocks.append(line("the log was tampered with, or its keys are not at hand", "bad"))
        return blocks
    blocks.append(line("no sign of tampering", "good"))
    if not with_head:
        blocks.append(line("whether the end was cut off can only be told with --head", "dim"))
    return blocks


def _row(finding: Finding) -> tuple[Line, ...]:
    place = "" if finding.seq is None else f"{finding.seq}"
    place += f"-{finding.last}" if finding.last not in (None, finding.seq) else ""
    texts = (place, finding.kind, finding.record_id or "", finding.what)
    return tuple(line(visible(text)) for text in texts)
