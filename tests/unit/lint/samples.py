"""Made-up tools of a bank, for the linter's tests."""

from __future__ import annotations

from collections.abc import Sequence

from preflight.lint import Finding
from preflight.lint.places import Value, values
from preflight.lint.subject import Subject
from preflight.model.tool import Tool

PLAIN = {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}


def tool(name: str = "settle_bill", server: str = "bank", **parts: object) -> Tool:
    """Return a tool without fault, but for the parts that are given; `schema` is its input schema."""
    declared = {
        "name": name,
        "description": "Settles one bill of a customer.",
        "inputSchema": parts.pop("schema", PLAIN),
        "annotations": {"readOnlyHint": False, "destructiveHint": True},
        **parts,
    }
    return Tool.from_mcp(declared, server=server)


def taking(required: Sequence[str] = ("amount",), **properties: object) -> dict[str, object]:
    """Return a schema that takes an amount and these properties."""
    return {
        "type": "object",
        "properties": {"amount": {"type": "number"}, **properties},
        "required": list(required),
    }


def subject(name: str = "settle_bill", **parts: object) -> Subject:
    """Return the tool as the rules look at it."""
    return Subject(tool(name, **parts))


def value(name: str, schema: object) -> Value:
    """Return one property as the rules look at it."""
    (found,) = values({"type": "object", "properties": {name: schema}})
    return found


def told(findings: Sequence[Finding], rule: str) -> list[Finding]:
    """Return the findings of one rule."""
    return [finding for finding in findings if finding.rule == rule]
