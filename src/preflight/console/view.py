"""What a page shows of questions and deferred runs: foreign text made visible, times said with their zone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import quote

import msgspec

from preflight.deferral import triggers
from preflight.deferral.changes import OPEN
from preflight.deferral.triggers import RECURRING, Spec
from preflight.model.deferral import Deferral, DeferralNote
from preflight.model.question import Question
from preflight.model.record import Record
from preflight.render.phrases import change_words, deferral_words
from preflight.render.question import call_words
from preflight.render.record import tool_words
from preflight.render.visible import quoted, value_text, visible
from preflight.scheduling import when_of

Progress = Literal["ahead", "due", "started"]
"""How far the occurrence is that a row waits for: still to come, due and taken by no worker yet, started."""
_UTC = "UTC"


@dataclass(frozen=True)
class Asked:
    """An open question in a list."""

    to: str
    title: str
    call: str
    open: str
    until: str


@dataclass(frozen=True)
class Change:
    """One note of what happened to a run."""

    at: str
    what: str
    why: str
    by: str


@dataclass(frozen=True)
class Run:
    """A deferred run. `state` is the word that is shown, `why` its reason in words; `due` is empty where no time is."""

    id: str
    to: str
    act: str
    tool: str
    state: str
    why: str
    due: str
    said: str
    recurs: bool
    version: int
    can: frozenset[str]
    question: str = ""
    due_at: str = ""
    values: list[tuple[str, str]] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)


def path_of(deferral_id: str) -> str:
    """Return where a run is shown."""
    return f"/d/{quote(deferral_id, safe='')}"


def asked(question: Question, record: Record | None) -> Asked:
    """Return an open question as it is listed: by the user's own words for the act, and by its call."""
    names = [visible(slot.name) for slot in question.slots]
    names += [visible(item.description) or visible(item.id) for item in question.items]
    return Asked(
        to=f"/q/{quote(question.question_id, safe='')}",
        title=act_of(record) or visible(question.message),
        call=call_words(record),
        open=", ".join(names) or visible(question.message),
        until=question.expires_at[:16].replace("T", " "),
    )


def run(row: Deferral, record: Record | None, progress: Progress, notes: Sequence[DeferralNote] = ()) -> Run:
    """Return a run as it is shown; `record` is its `deferred` record, None where that is gone."""
    progress = progress if row.state == "waiting" and row.occurrence is not None else "ahead"
    spec = _spec(record)
    zone = _UTC if spec is None else spec.zone
    timed = row.occurrence is not None and row.state in ("waiting", "held")
    due = triggers.instant_of(row.due)
    recurs = isinstance(spec, RECURRING) and row.deferral_id == row.decision_id
    return Run(
        id=row.deferral_id,
        to=path_of(row.deferral_id),
        act=act_of(record) or "an act whose record is gone",
        tool="" if record is None else tool_words(record),
        state="under way" if progress == "started" else row.state,
        why=deferral_words(row.reason) if row.reason else "no worker has taken it yet" if progress == "due" else "",
        due=triggers.said_at(due, zone) if timed else "",
        said=visible(row.said),
        recurs=recurs,
        version=row.version,
        can=_can(row, progress, known=spec is not None, recurs=recurs),
        question="" if row.question_id is None else f"/q/{quote(row.question_id, safe='')}",
        due_at=due.astimezone(triggers.place_of(zone)).isoformat(timespec="minutes") if timed else "",
        values=_values(record),
        changes=[_change(note, zone) for note in reversed(notes)],
    )


def _can(row: Deferral, progress: Progress, *, known: bool, recurs: bool) -> frozenset[str]:
    """Return what can be asked for now; the last word has the store."""
    if row.state not in OPEN or (progress == "started" and not recurs):
        return frozenset()
    if row.state == "held":
        return frozenset({"resume", "cancel"})
    if progress == "started" or not known:
        return frozenset({"cancel"})
    more = {"move"} if row.occurrence is not None else set()
    return frozenset({"cancel", *more, *({"run-now"} if progress == "ahead" else ())})


def _spec(record: Record | None) -> Spec | None:
    try:
        return None if record is None else triggers.spec_of(when_of(record).trigger)
    except msgspec.ValidationError:
        return None


def act_of(record: Record | None) -> str:
    """Return the user's own words for the act, quoted; empty where there are none."""
    words = None if record is None or record.fixed is None else record.fixed.c2_user_action_name
    return quoted(words) if words else ""


def _values(record: Record | None) -> list[tuple[str, str]]:
    """Return what is settled so far; the record masks what is secret (R-78)."""
    states = () if record is None else record.states
    return [
        (visible(state.name), "none" if state.status == "null" else value_text(state.value))
        for state in states
        if state.settled
    ]


def _change(note: DeferralNote, zone: str) -> Change:
    why = deferral_words(note.reason) if note.reason else ""
    why = f"to {why}" if note.what == "moved" else why
    why += f" ({note.missed} passed)" if note.missed else ""
    what = change_words(note.what) + (f": {visible(note.status)}" if note.status else "")
    return Change(triggers.said_at(triggers.instant_of(note.at), zone), what, why, visible(note.by or ""))
