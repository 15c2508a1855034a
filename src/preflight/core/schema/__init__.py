"""From a tool's `inputSchema` to slots, and from looked-up slots to fields and arguments (SPEC section 5).

`compile_schema` is called once per tool fingerprint; `walk` once per decision. `walk` looks nothing up
itself: it yields each slot, is sent its `FieldState`, and returns what came of the whole.
"""

from __future__ import annotations

from collections.abc import Generator

from preflight.core.schema.deep import walk_deep
from preflight.core.schema.flat import walk_flat
from preflight.core.schema.plan import Plan, compile_schema
from preflight.core.schema.shape import Path, Policy, Shape, Walked
from preflight.model.slot import FieldState, Slot


def walk(plan: Plan, shape: Shape) -> Generator[Slot, FieldState, Walked]:
    """Yield each slot to be looked up once, be sent its state, return what came of it (R-33, R-35, R-36)."""
    return walk_flat(plan, shape) if plan.flat else walk_deep(plan, shape)


__all__ = ["Path", "Plan", "Policy", "Shape", "Walked", "compile_schema", "walk"]
