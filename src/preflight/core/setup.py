"""What stays the same from one decision to the next."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from preflight.core.schema import Plan, compile_schema
from preflight.limits import DEFAULT, Limits
from preflight.model.slot import Unsupported
from preflight.model.tool import Tool


class Setup(msgspec.Struct, frozen=True):
    """Limits, and the optional hooks and services that are there.

    `plan_for` compiles a tool's schema; the shell passes one that remembers plans by fingerprint.
    """

    limits: Limits = DEFAULT
    hooks: frozenset[str] = frozenset()
    plan_for: Callable[[Tool], Plan | Unsupported] = lambda tool: compile_schema(tool.input_schema)


PLAIN = Setup()
