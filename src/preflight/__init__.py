"""A verification layer that runs before an MCP tool call.

Start with `create_preflight`: give it hooks (`ShippedHooks` are ready to use) and a place for the records.
`check` decides a proposed call from what the user said, `answer` fills what was missing, and
`execute_if_ready` calls the tool once, from the record.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from preflight.api import AsyncPreflight, Preflight, create_async_preflight, create_preflight
    from preflight.errors import (
        AnswerRefused,
        ConstructionError,
        InvalidInput,
        NotExecutable,
        PreflightError,
        ProviderError,
        StorageError,
    )
    from preflight.hooks import Measure, ShippedHooks, inline
    from preflight.model.decision import Decision
    from preflight.model.record import Record
    from preflight.model.request import Request, Scope
    from preflight.model.rules import FieldRules, ToolRules
    from preflight.model.tool import Tool
    from preflight.results import (
        Asking,
        Checked,
        Claimed,
        Deferred,
        Executable,
        Executed,
        Failed,
        Held,
        InDoubt,
        Refused,
        ToolCall,
    )

__all__ = [
    "AnswerRefused",
    "Asking",
    "AsyncPreflight",
    "Checked",
    "Claimed",
    "ConstructionError",
    "Decision",
    "Deferred",
    "Executable",
    "Executed",
    "Failed",
    "FieldRules",
    "Held",
    "InDoubt",
    "InvalidInput",
    "Measure",
    "NotExecutable",
    "Preflight",
    "PreflightError",
    "ProviderError",
    "Record",
    "Refused",
    "Request",
    "Scope",
    "ShippedHooks",
    "StorageError",
    "Tool",
    "ToolCall",
    "ToolRules",
    "create_async_preflight",
    "create_preflight",
    "inline",
]

_HOMES = {
    "preflight.api": (
        "AsyncPreflight",
        "Preflight",
        "create_async_preflight",
        "create_preflight",
    ),
    "preflight.errors": (
        "AnswerRefused",
        "ConstructionError",
        "InvalidInput",
        "NotExecutable",
        "PreflightError",
        "ProviderError",
        "StorageError",
    ),
    "preflight.hooks": (
        "Measure",
        "ShippedHooks",
        "inline",
    ),
    "preflight.model.decision": ("Decision",),
    "preflight.model.record": ("Record",),
    "preflight.model.request": (
        "Request",
        "Scope",
    ),
    "preflight.model.rules": (
        "FieldRules",
        "ToolRules",
    ),
    "preflight.model.tool": ("Tool",),
    "preflight.results": (
        "Asking",
        "Checked",
        "Claimed",
        "Deferred",
        "Executable",
        "Executed",
        "Failed",
        "Held",
        "InDoubt",
        "Refused",
        "ToolCall",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

if not TYPE_CHECKING:  # type checkers read the imports above, and still refuse a name that is not there

    def __getattr__(name: str) -> object:
        """Import what is asked for: a program that uses a part of this package does not load the whole of it."""
        home = _HOME_OF.get(name)
        if home is None:
            raise AttributeError(f"module `preflight` has no attribute `{name}`", name=name)
        value = globals()[name] = getattr(import_module(home), name)
        return value


def __dir__() -> list[str]:
    """Return the public names beside what is loaded."""
    return sorted({*globals(), *__all__})
