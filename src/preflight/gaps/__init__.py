"""The gap report: what users leave out, and what providers do not declare, from stored records."""

from __future__ import annotations

from preflight.gaps.render import as_json, provider_page, text
from preflight.gaps.report import PROVIDERS, DefinitionGap, GapReport, InstructionGap, gaps

__all__ = ["PROVIDERS", "DefinitionGap", "GapReport", "InstructionGap", "as_json", "gaps", "provider_page", "text"]
