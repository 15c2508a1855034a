"""What the rules measure at servers to which no connections were given: then a verdict is not what it would be."""

from __future__ import annotations

from preflight.api import Preflight
from preflight.model.record import Record
from preflight.model.rules import ToolRules
from preflight.render.hints import sent_again


def unreached(gate: Preflight, record: Record) -> list[str]:
    """Return what to do where a record lacks what is measured at a server; nothing where it lacks none.

    The `gate` is one that was given no connections.
    """
    if record.tool is None or record.execution_decision == "execute":
        return []
    rules = gate.rules().for_tool(record.tool.server, record.tool.name, record.user_id, record.scope.tenant)
    lacking = _lacking(record, rules)
    servers = sorted({rule.server for name, rule in rules.measures.items() if name in lacking and rule.via == "mcp"})
    if not servers:
        return []
    named = ", ".join(f"`{server}`" for server in servers)
    if sent_again(record.call_id):
        kept = "what was answered is kept: have its client send exactly the same call again"
        return [f"{kept}, since the rules measure at {named}, and no connections are given here (--connections FILE)"]
    return [f"the rules measure at {named}, and no connections are given here: add --connections FILE"]


def _lacking(record: Record, rules: ToolRules) -> set[str]:
    """Return the measures that what is unknown in a record is read from."""
    names = {name.removeprefix("measured.") for condition in record.conditions for name in condition.missing}
    for state in record.states:
        if state.status == "unknown":
            names |= rules.field(state.name).measures_of()
    return names
