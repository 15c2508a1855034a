"""Compiled schemas, remembered by fingerprint: a tool is compiled once in a process."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from preflight.core.schema import Plan, compile_schema
from preflight.limits import Limits
from preflight.model.slot import Unsupported
from preflight.model.tool import Tool

_MOST = 4_096
_plans: OrderedDict[tuple[str, bytes, Limits], Plan | Unsupported] = OrderedDict()
_lock = Lock()


def plan_of(tool: Tool, limits: Limits) -> Plan | Unsupported:
    """Return the plan of a tool, or why there is none (R-34); `limits` are those of the gate that asks."""
    key = (tool.fingerprint, tool.order, limits)  # a fingerprint says nothing of order, and the record lists in order
    plan = _plans.get(key)
    if plan is None:
        plan = compile_schema(tool.input_schema, limits)
        with _lock:
            _plans[key] = plan
            if len(_plans) > _MOST:
                _plans.popitem(last=False)
    return plan
