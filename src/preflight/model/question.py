"""Questions to a person and their answers (specification, section 11)."""

from __future__ import annotations

from typing import Final, Literal

import msgspec
from msgspec import UNSET

from preflight.model.request import Scope
from preflight.model.sealed import Sealed

QuestionKind = Literal["value", "confirmation", "permission", "restatement"]
RESTATEMENT: Final = "restatement"
"""The kind of a question that asks what should be done, and the name under which it is answered."""


class AskedSlot(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One slot that is asked for, with the schema an answer must fit; never with a candidate (R-9).

    `choices` are the rows that the user's own words select, where they select several (R-58). For text that
    the model may write, `shown` is what it wrote and `confirm` the key under which the user approves it (R-57).
    """

    name: str
    schema: object
    note: str | None = None
    nullable: bool = False
    choices: tuple[object, ...] = ()
    shown: object = UNSET
    confirm: str | None = None


class AskedItem(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One thing a person is asked to confirm; `shown` is the value that is approved, where it is one (R-57)."""

    id: str
    description: str
    note: str | None = None
    shown: object = UNSET


class Question(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """All open slots of one run, in one question (R-90).

    `restatement` questions have no slots: the act itself is to be said again. `request` is the request
    as JSON bytes, kept only where the adopter chose to store instructions, so that an answer can repeat the run.
    A `private` one is about a tool with secret slots: what is secret in it stands encrypted in `sealed`, by
    the JSON Pointer of its place, and its answer is encrypted as a whole (R-78).
    """

    question_id: str
    kind: QuestionKind
    decision_id: str
    scope: Scope
    user_id: str
    message: str
    created_at: str
    expires_at: str
    call_id: str | None = None
    slots: tuple[AskedSlot, ...] = ()
    items: tuple[AskedItem, ...] = ()
    request: bytes | None = None
    private: bool = False
    sealed: dict[str, Sealed] = {}


class Attachment(msgspec.Struct, frozen=True, gc=False):
    """A run that asked what a question asks: its answer is this run's, too. `decision_id` is the run's own decision."""

    question_id: str
    scope: Scope
    decision_id: str
    call_id: str | None = None


Silent = Literal["decline", "cancel", "time_out", "empty", "failed"]
"""What came in place of an answer. `empty`: a form in which nothing stood; `failed`: the channel did not work."""


class NoAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """That a question was put and nobody answered. It stays open, and nothing is read from this (R-92).

    `seconds` is how long that took. One that came `at_once` was not given by a person: a client did it by itself.
    `client` is what the client calls itself.
    """

    question_id: str
    channel: str
    how: Silent
    at: str
    seconds: float
    at_once: bool = False
    client: str = ""


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What a person answered, once (R-91). A value of None says that there is none (R-46).

    The answer to a private question is encrypted in `sealed`; the names of what was answered stand (R-78).
    """

    question_id: str
    person: str
    channel: str
    answered_at: str
    values: dict[str, object] = {}
    items: dict[str, object] = {}
    restatement: str | None = None
    sealed: dict[str, Sealed] = {}
