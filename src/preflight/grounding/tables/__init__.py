"""Small closed tables that grounding reads: calendar words, units, codes and their usual names."""

from __future__ import annotations

TABLE_VERSION = 1
