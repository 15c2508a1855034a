"""The hooks: their names, their defaults, and working ones that ship with the package."""

from __future__ import annotations

from preflight.hooks.protocol import inline
from preflight.hooks.shipped import Measure, ShippedHooks

__all__ = ["Measure", "ShippedHooks", "inline"]
