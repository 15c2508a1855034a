"""A verification layer that runs before an MCP tool call.

Start with `create_preflight`: give it hooks (`ShippedHooks` are ready to use) and a place for the records.
`check` decides a proposed call from what the user said, `answer` fills what was missing, and
`execute_if_ready` calls the tool once, from the record.
"""

from __future__ import annotations

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
