"""Small closed tables that grounding reads: calendar words, units, codes and their usual names."""

TABLE_VERSION = 1
