"""Is the value in the user's own words? Pure code decides, and says where.

`ground_call` grounds the arguments of one call together; `support` checks a place that somebody names; `holds_time`
says whether a slot is for a time.
"""

from __future__ import annotations

from preflight.grounding.call import ground_call
from preflight.grounding.field import holds_time
from preflight.grounding.findings import Context, Finding, Role, Target
from preflight.grounding.locate import support

__all__ = ["Context", "Finding", "Role", "Target", "ground_call", "holds_time", "support"]
