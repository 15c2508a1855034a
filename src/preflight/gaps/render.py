"""A gap report as text, as JSON, and as a page for one provider."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from preflight.gaps.report import PROVIDERS, DefinitionGap, GapReport, InstructionGap
from preflight.lint.places import values
from preflight.model.tool import Tool
from preflight.render.visible import visible

_LEFT = {"value": "", "branch": "which alternative at ", "act": "what to do, or when"}
_REPAIR = {
    "schema_unsupported": "Declare the arguments in plain JSON Schema 2020-12 with local references.",
    "declarations_unreadable": "Write labels at the start of a line, or the checklist as its schema says.",
    "field_undeclared": "Declare the type, and the format or the closed set where there is one.",
    "undeclared_claim": "Declare the argument, or say in the description that there is none.",
    "payload_invalid": "Declare for each argument what its combinations with others must be.",
    "tool_undetermined": "Name and describe the tool by what users call the act.",
}
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,39}")
_FEW = 2  # users who must have met an undeclared name before a provider reads it: a lone one may be personal


def as_json(report: GapReport) -> str:
    """Return the report as one JSON object."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode() + "\n"


def text(report: GapReport) -> str:
    """Return the report as lines for the adopter. It has names of fields, and no values."""
    span = f" from {report.since} to {report.until}" if report.decisions else ""
    lines = [f"{report.decisions} decision{'' if report.decisions == 1 else 's'}{span}", ""]
    lines.append("instruction gaps: what users leave out")
    lines += [_instruction_line(gap) for gap in report.instruction] or ["  none"]
    lines += ["", "action definition gaps: what is not declared"]
    lines += [_definition_line(gap) for gap in report.definition] or ["  none"]
    return "\n".join(lines) + "\n"


def _instruction_line(gap: InstructionGap) -> str:
    named = f"`{visible(gap.field)}`" if gap.left != "act" else ""
    counts = f"asked {gap.asked} in {gap.calls} calls, answered in {gap.answered}, exhausted in {gap.exhausted}"
    return f"  {_place(gap)}: {_LEFT[gap.left]}{named}: {counts}"


def _definition_line(gap: DefinitionGap) -> str:
    at = f" `{visible(gap.at)}`" if gap.at else ""
    whose = "provider" if gap.kind in PROVIDERS else "adopter"
    return f"  {_place(gap)}: {gap.kind}{at} ({whose}): {visible(gap.what)}: {gap.decisions} decisions"


def _place(gap: InstructionGap | DefinitionGap) -> str:
    return visible(f"{gap.server}/{gap.tool}") if gap.server else visible(gap.tool) or "(no tool)"


def provider_page(report: GapReport, server: str, tools: Iterable[Tool] = ()) -> str:
    """Return a Markdown page for the provider of `server`: what its tools leave undeclared, and what helps.

    The page has no value, no name of a user and no word of one. Below the root of the arguments a name is
    written only where `tools`, the server's present definitions, declare it: keys of free objects are data. A
    name that no schema declares is written only when calls of two users had it.
    """
    declared = {tool.name: frozenset(value.name for value in values(tool.input_schema)) for tool in tools}
    found = [gap for gap in report.definition if gap.server == server and gap.kind in PROVIDERS]
    left = [gap for gap in report.instruction if gap.server == server and gap.left != "act"]
    names = {gap.tool for gap in found} | {gap.tool for gap in left}
    head = [
        f"# What calls to {_cell(server)} were missing",
        "",
        f"From {report.decisions} recorded decisions. Each call was checked before it was made; the points below made",
        "it ask its user or hold. There are no values in this page.",
        "",
    ]
    parts = [_tool_part(name, found, left, declared) for name in sorted(names)]
    return "\n".join(
        [*head, *(line for part in parts for line in part)] if parts else [*head, "Nothing was missing.", ""]
    )


def _tool_part(
    tool: str,
    found: Sequence[DefinitionGap],
    left: Sequence[InstructionGap],
    declared: Mapping[str, frozenset[str]],
) -> list[str]:
    known = declared.get(tool, frozenset())
    lines = [f"## {_cell(tool)}", ""]
    points = _merged([(gap, _safe(gap, known)) for gap in found if gap.tool == tool])
    if points:
        lines += ["| what is not declared | where | decisions | what helps |", "|---|---|--:|---|"]
        lines += [
            f"| {_cell(what)} | {_code(at)} | {count} | {_REPAIR[kind]} |" for (kind, what, at), count in points.items()
        ]
        lines.append("")
    asked: dict[str, list[InstructionGap]] = {}
    for gap in left:
        if gap.tool == tool:
            asked.setdefault(_path(gap.field, known), []).append(gap)
    if asked:
        lines += [
            "Users had to be asked for these; a clearer description or a read tool may spare them the question.",
            "",
        ]
        lines += ["| argument | calls | asked | answered |", "|---|--:|--:|--:|"]
        lines += [f"| {_code(at)} | {_sums(gaps)} |" for at, gaps in asked.items()]
        lines.append("")
    return lines


def _sums(gaps: Sequence[InstructionGap]) -> str:
    return " | ".join(str(sum(getattr(gap, name) for gap in gaps)) for name in ("calls", "asked", "answered"))


def _merged(points: Sequence[tuple[DefinitionGap, str]]) -> dict[tuple[str, str, str], int]:
    """Points that read the same once their names are made safe count together."""
    counts: dict[tuple[str, str, str], int] = {}
    for gap, at in points:
        key = (gap.kind, gap.what, at)
        counts[key] = counts.get(key, 0) + gap.decisions
    return counts


def _safe(gap: DefinitionGap, known: frozenset[str]) -> str:
    """Return where a gap stands, as its provider may read it."""
    if gap.kind == "schema_unsupported":
        return gap.at  # a pointer into the provider's own schema
    if gap.kind == "undeclared_claim":
        named = gap.users >= _FEW and all(map(_IDENTIFIER.fullmatch, gap.at.split("/")))
        return gap.at if named else "*"
    return _path(gap.at, known)


def _path(name: str, known: frozenset[str]) -> str:
    """Return a slot's name or a pointer with every token that may be data written `*`."""
    rooted = name.startswith("/")
    first, *below = name.removeprefix("/").split("/")
    tokens = [first, *(token if token == "*" or token in known else "*" for token in below)]  # noqa: S105  no secret
    return "/" * rooted + "/".join(tokens)


def _cell(words: str) -> str:
    return "".join(f"\\{char}" if char in "\\|<>*_[]#`" else char for char in visible(words))


def _code(words: str) -> str:
    return f"`{visible(words).replace('`', '').replace('|', '')}`" if words else ""


__all__ = ["as_json", "provider_page", "text"]
