"""Every limit of the program in one frozen value, each with its unit and its reason."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True, gc=False):
    """What the program accepts at most, and how long it waits."""

    request_bytes: int = 4_000_000
    """Size of one request as JSON, in bytes: beyond it nothing is parsed."""
    json_depth: int = 64
    """Nesting of any JSON value: keeps recursion far from the interpreter's own limit."""
    number_digits: int = 400
    """Digits of one number, exponent applied: turning a longer one into an integer costs seconds."""
    schema_bytes: int = 2_000_000
    """Size of one `inputSchema`, in bytes; the largest of 465 measured tools has 60 kB."""
    schema_nodes: int = 20_000
    """Subschemas visited while one schema is compiled: bounds doubling `$ref` and `allOf` bombs."""
    slots: int = 2_000
    """Slots of one call, array elements counted."""
    tool_name_length: int = 256
    """Code points in a tool's name."""
    segments: int = 10_000
    """Segments of one instruction."""
    hook_seconds: float = 10.0
    """How long one hook may take before its result is dropped (R-101)."""
    hook_result_bytes: int = 1_000_000
    """Size of what one hook returns: larger results count as garbage."""
    hook_threads: int = 32
    """Worker threads for hooks that may block; hung ones are not reused, so their number is bounded."""
    intent_attempts: int = 2
    """Asks at the intent gate before it holds (R-22)."""
    tool_attempts: int = 2
    """Asks at the tool gate before it holds (R-25)."""
    question_seconds: int = 7 * 24 * 3600
    """How long a question stays open (R-90)."""
    clock_skew_seconds: int = 5
    """How far a decision may lie in the future of the clock that starts it."""


DEFAULT = Limits()
