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
SILENCES = {
    "decline": "declined",
    "cancel": "cancelled",
    "time_out": "nobody answered in time",
    "empty": "came back empty",
    "failed": "could not be put",
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
    "several_match": "the user's words select several rows",
    "another_selected": "the user's words select another value than the one proposed",
    "needs_confirmation": "a model wrote this text; the user has not approved it",
    "alternative": "part of one of several alternatives: answer one of them, and leave the others open",
    "empty": "an empty value proves nothing",
    "none_given": "the user said that there is none, and the tool requires it",
    "model_written": "the user has not confirmed this text",
    "when_not_said": "it is not said when",
    "time_unused": "the words name a time that no value takes up: it may be the time to act",
    "when_said_twice": "more than one time is said",
    "when_unlike_said": "the time that is said does not agree with how it is said",
    "when_unreadable": "it cannot be read as a time, a recurrence, an event or a condition",
    "when_is_past": "the time has passed",
    "when_never_comes": "the time never comes",
    "when_not_declared": "the rules declare no such event or condition",
    "time_of_day_not_said": "the time of day is not said beside the day",
    "time_twice": "the clock change of that day makes the time come twice",
    "time_skipped": "the clock change of that day skips the time",
    "zone_not_said": "the time zone is not known",
    "zone_unknown": "there is no such time zone",
    "end_not_said": "it is not said until when it recurs",
    "end_unreadable": "its end cannot be read as a time",
    "end_is_past": "its end has passed",
    "ungrounded_content": "the text has an address, link or number that is not the user's",
}

_DEFERRAL = {
    "missed": "its time passed while nobody looked",
    "unknown_at_trigger": "something is not known; see its question",
    "condition_unmet": "a condition does not hold",
    "limit_reached": "a limit is reached",
    "tool_removed": "the server does not list the tool any more",
    "rules_missing": "it was deferred under rules, and the worker was given none",
    "no_connection": "the server could not be reached",
    "key_busy": "another run of the same kind is under way",
    "record_not_believed": "its record is gone, or is not as it was signed",
    "erased": "what it needs was erased",
    "trigger_not_verified": "its record does not fit the tool any more",
    "answered": "its question was answered",
    "superseded": "the same call was deferred anew",
    "deadline_passed": "what it waited for did not come in time",
}


_CHANGES = {
    "happened": "what it waited for came",
    "resumed": "to be tried again",
    "hastened": "to run at once",
    "expired": "waited for in vain",
}


def change_words(what: str) -> str:
    """Return what happened to a deferred run; what is a plain word already is said as it is."""
    return _CHANGES.get(what, what)


def deferral_words(reason: str) -> str:
    """Return why a deferred run is held, skipped or over; other reasons are said as they are."""
    return _DEFERRAL.get(reason) or visible(reason.replace("_", " ") if reason.isidentifier() else reason)


def why_unknown(note: str | None) -> str:
    """Return why a slot is not confirmed."""
    return _WHY["not_found"] if note is None else _WHY.get(note) or visible(note)


def source_words(source: str | None, origin: str | None = None) -> str:
    """Return where a value comes from."""
    words = SOURCES.get(source or "", "")
    if not words or not origin:
        return words
    return f"{words} by {visible(origin)}" if source == "measured_data" else f"{words} ({visible(origin)})"
