"""`preflight ground`: try by hand whether a value stands in somebody's words, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, get_args

import typer

from preflight.cli.clocks import Locale, Zone, zone_named
from preflight.cli.codes import ASK_USER, DONE
from preflight.cli.opening import AsJson
from preflight.cli.screen import Screen
from preflight.errors import InvalidInput
from preflight.grounding import Context, Finding, Role, Target, ground_call
from preflight.model.evidence import Evidence
from preflight.model.instruction import UNTRUSTED, USER, Segment
from preflight.model.json_value import thaw
from preflight.render.phrases import why_unknown
from preflight.render.reading import near, readings
from preflight.render.styled import Block, Line, Piece, Style, indented, labelled
from preflight.render.words import marked, places

_STYLES: dict[str, Style] = {"known": "good", "unknown": "ask", "confirm": "ask"}
_MEANINGS = {
    "known": "the user's words say it",
    "confirm": "a model may write this text; every address in it is the user's own, and the user confirms the whole",
}


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command()(ground)


def ground(
    texts: Annotated[list[str], typer.Argument(metavar="TEXT...", help="What the user said, message by message.")],
    schema: Annotated[str, typer.Option("--schema", metavar="JSON", help="The slot's JSON Schema.")],
    claim: Annotated[str, typer.Option("--claim", metavar="JSON", help="The value that a model proposes.")],
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="The slot's name.")] = "value",
    role: Annotated[str | None, typer.Option("--role", metavar="ROLE", help=", ".join(get_args(Role)))] = None,
    now: Annotated[str | None, typer.Option("--now", metavar="TIME", help="The clock, ISO 8601 with offset.")] = None,
    zone: Zone = None,
    locale: Locale = "en",
    untrusted: Annotated[
        list[str] | None, typer.Option("--untrusted", metavar="TEXT", help="Text the user did not write; repeatable.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say whether a value is in the user's own words, and where.

    No rules, records or tools take part: this is the check that every proposed argument goes through.

    \b
    Examples:
      preflight ground "send 1,200 to Ana" --name amount --schema '{"type": "number"}' --claim 1200
      preflight ground "lunch tomorrow" --schema '{"format": "date"}' --claim '"2026-12-01"' --now 2026-11-30T09:00Z

    Exit code: 0 known, 10 unknown or to be confirmed; 2 a malformed option.
    """
    segments = [*(Segment(text, USER) for text in texts), *(Segment(text, UNTRUSTED) for text in untrusted or ())]
    target = Target(name, _object("schema", schema), _json("claim", claim), _role(role))
    finding = ground_call(segments, [target], _context(now, zone, locale))[name]
    if as_json:
        Screen().json(_shape(finding))
    else:
        Screen().show(_told(finding, segments, name))
    raise typer.Exit(DONE if finding.state == "known" else ASK_USER)


def _json(option: str, text: str) -> Any:
    from preflight.core import strict_json

    try:
        return thaw(strict_json.parse(text, option))
    except InvalidInput as fault:
        if not fault.what.startswith("not JSON"):
            raise
        raise InvalidInput(fault.where, fault.what, f"a string wants quotes of its own: '\"{text}\"'") from None


def _object(option: str, text: str) -> Mapping[str, object]:
    value = _json(option, text)
    if not isinstance(value, Mapping):
        raise InvalidInput(option, "not a JSON object", 'send the schema of one slot, such as {"type": "number"}')
    return value


def _role(given: str | None) -> Role | None:
    if given is not None and given not in get_args(Role):
        raise InvalidInput("role", f"`{given}` is no role", f"use one of {', '.join(get_args(Role))}")
    return given  # type: ignore[return-value]  # checked above


def _context(now: str | None, zone: str | None, locale: str) -> Context:
    try:
        offset = now is None or datetime.fromisoformat(now).utcoffset() is not None
    except ValueError:
        offset = False
    if not offset:
        raise InvalidInput("now", f"`{now}` is no time with an offset", "write it as 2026-11-30T09:00:00+01:00")
    return Context(now, zone and zone_named(zone), locale)


def _shape(finding: Finding) -> dict[str, Any]:
    import msgspec

    shape: dict[str, Any] = msgspec.to_builtins(finding)
    return shape


def _told(finding: Finding, segments: Sequence[Segment], name: str) -> list[Block]:
    meaning = _MEANINGS.get(finding.state) or why_unknown(finding.reason)
    told: list[Block] = [(Piece(f"{finding.state:<11}", _STYLES[finding.state]), Piece(meaning))]
    if finding.evidence is not None:
        told += [*_sentences(finding.evidence, segments, name)]
        told += [labelled("read", text) for text in readings(finding.evidence)]
    for mention in finding.mentions:
        told += [labelled("near" if finding.state == "unknown" else "has", near(mention))]
        told += [*_sentences(mention, segments, "")]
    return told


def _sentences(evidence: Evidence, segments: Sequence[Segment], name: str) -> list[Line]:
    """The user's words with every place marked, segment by segment."""
    lines: list[Line] = []
    for at, segment in enumerate(segments):
        if marks := places(evidence, name, at):
            lines += [indented(shown) for shown in marked(segment.text, marks)]
    return lines
