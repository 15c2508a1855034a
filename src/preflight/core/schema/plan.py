"""A tool's schema, compiled once: what the walker needs, and the validators (R-28, R-33, R-34)."""

from __future__ import annotations

from typing import Any

import msgspec

from preflight.core.schema.checks import Checks
from preflight.core.schema.document import Document
from preflight.core.schema.keywords import Raw
from preflight.core.schema.node import Node, Nodes
from preflight.core.schema.refusal import Refusal, refuse
from preflight.core.schema.structure import check_structure
from preflight.core.schema.survey import Survey
from preflight.core.schema.view import View
from preflight.limits import DEFAULT, Limits
from preflight.model.slot import Slot, Unsupported


class Plan(msgspec.Struct, frozen=True, eq=False):
    """The slots of one tool, ready to be walked. Immutable for its users; it keeps what it has derived.

    `flat` says that the root is a plain object and every property one slot. `declared` holds the root's
    property names. `required` and `optional` are the ready-made slots of a flat plan, in the schema's order.
    """

    flat: bool
    declared: frozenset[str]
    required: tuple[Slot, ...]
    optional: tuple[Slot, ...]
    limits: Limits
    nodes: Nodes
    checks: Checks
    root: Node
    parts: dict[int, tuple[dict[str, object], tuple[Raw, ...]]]

    def validate(self, arguments: dict[str, Any]) -> tuple[str, ...]:
        """R-28: what is wrong with the whole payload; `()` when it is valid.

        Each message names the pointer and the keyword. No message holds the text of a value.
        """
        return self.checks.messages(arguments)

    def validate_slot(self, slot: Slot, value: object) -> str | None:
        """R-44: None when `value` fits the slot's own schema, else why not, without the value's text."""
        known = self.parts.get(id(slot.schema))
        if known is None or known[0] is not slot.schema:
            return self.checks.foreign(slot.schema, value)
        return self.checks.reason(known[1], value)

    def slot(self, node: Node, path: tuple[str | int, ...], claim: object, *, required: bool) -> Slot:
        """The slot for `node` at `path`, registered so that `validate_slot` knows its schema."""
        slot = node.slot(path, claim, required=required)
        self.parts.setdefault(id(node.schema), (node.schema, node.raws))
        return slot


def compile_schema(input_schema: object, limits: Limits = DEFAULT) -> Plan | Unsupported:
    """Compile `inputSchema`, or say where and why it cannot be turned into slots (R-34).

    Total: any value is accepted, nothing is raised, nothing is fetched.
    """
    try:
        return _compile(input_schema, limits)
    except Refusal as refusal:
        return refusal.unsupported


def _compile(input_schema: object, limits: Limits) -> Plan:
    document = Document(input_schema, limits)
    survey = Survey(document)
    checks = Checks(document, survey)
    nodes = Nodes(document)
    root = nodes.of((document.root,))
    if root.kinds != {"object"}:
        refuse("/type", "the root must be declared as `object`")
    check_structure(nodes, root)
    view = root.view or nodes.views.of_object(root.raws)
    members = {name: nodes.of(raws) for name, raws in view.properties.items()}
    flat = not view.groups and not view.conditions and all(node.leaf for node in members.values())
    plan = Plan(
        flat=flat,
        declared=view.declared,
        required=tuple(members[name].slot((name,)) for name in view.required) if flat else (),
        optional=_optional(view, members) if flat else (),
        limits=limits,
        nodes=nodes,
        checks=checks,
        root=root,
        parts={},
    )
    if flat:
        plan.parts.update({id(node.schema): (node.schema, node.raws) for node in members.values()})
    return plan


def _optional(view: View, members: dict[str, Node]) -> tuple[Slot, ...]:
    required = set(view.required)
    return tuple(node.slot((name,), required=False) for name, node in members.items() if name not in required)


__all__ = ["Plan", "compile_schema"]
