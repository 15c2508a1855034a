"""Codes of the record in plain words."""

from __future__ import annotations

from preflight.render.visible import visible

DECISIONS = {
    "execute": "may run",
    "ask_user": "asks",
    "hold": "held",
    "deferred": "waits for its trigger",
    "executing": "started",
    "executed": "ran",
    "failed": "failed",
    "in_doubt": "in doubt",
    "settled": "settled",
}
SOURCES = {
    "user_answer": "the user's answer",
    "instruction": "the user's words",
    "pre_set_data": "settings the user approved",
    "measured_data": "measured",
    "prior_state": "carried from a prior run",
}
ROUTES = {
    "ask_user": "the user can say",
    "system_lookup": "a system must tell",
    "definition_repair": "the tool's definition, the rules or a hook need repair",
}
_WHY = {
    "not_found": "no source has it",
    "untrusted_only": "it stands only in text the user did not write",
    "quoted": "it stands only in a passage the user quoted",
    "confusable": "it is written in look-alike or invisible characters",
    "negated": "the user's words turn it down",
    "superseded": "the user corrected it",
    "ambiguous": "the user's words leave more than one reading",
    "swapped": "the user's words point to another slot",
    "shared_span": "the same words already stand for another slot",
    "derived": "it can only be worked out from the user's words, not read there",
    "carried": "the user said it only in an earlier request",
    "weak": "the user's words only come near",
    "needs_confirmation": "a model wrote this text; the user has not approved it",
    "empty": "an empty value proves nothing",
    "none_given": "the user said that there is none, and the tool requires it",
    "model_written": "the user has not confirmed this text",
    "ungrounded_content": "the text has an address, link or number that is not the user's",
}


def why_unknown(note: str | None) -> str:
    """Return why a slot is not confirmed."""
    return _WHY["not_found"] if note is None else _WHY.get(note) or visible(note)


def source_words(source: str | None, origin: str | None = None) -> str:
    """Return where a value comes from."""
    words = SOURCES.get(source or "", "")
    if not words or not origin:
        return words
    return f"{words} by {visible(origin)}" if source == "measured_data" else f"{words} ({visible(origin)})"
