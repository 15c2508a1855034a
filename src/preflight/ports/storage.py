"""The store: the record log, the questions, the learned names; and the parts that a store may have beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

from preflight.model.deferral import Deferral, DeferralNote, DeferralState
from preflight.model.question import Answer, Attachment, NoAnswer, Question
from preflight.model.record import Record
from preflight.model.request import Scope
from preflight.ports.log import Admission, Grave, LogHead, Query, RawRecord, Stored
from preflight.ports.outside import Signer


class Storage(Protocol):
    """The append-only record log, the questions, and the learned mappings.

    Every method is safe to call from any thread. Each raises StorageError when the store cannot do it,
    and then nothing of it happened, or a repetition with the same ids is harmless. There is no way to
    change or remove a record (R-71).

    The three that write records set `previous_digest` to the digest of the record before it under the same
    tenant, conversation and action key (None for the first), encode the record once, have a `signer` sign
    those bytes, and store them, all in one transaction (R-72, R-73).
    """

    def append(self, record: Record, *, durable: bool = False, signer: Signer | None = None) -> Stored:
        """Append a record. `durable` waits until it survives a loss of power.

        Appending the same `record_id` again returns the stored one.
        """
        ...

    def claim(self, record: Record, *, signer: Signer | None = None, admit: Admission | None = None) -> Stored | None:
        """Append an `executing` record durably, or return None when it may not start.

        One transaction: None when its decision already has an `executing` record, or another decision of the same
        call has (R-75, `started_as`), one that did the same on the same instruction (R-79, `started_on`), another
        decision of the same scope and action key is executing without an outcome (R-77), or `admit` does not admit
        it (R-66). What `admit` raises goes through, and nothing was stored.
        """
        ...

    def started_as(self, record: Record) -> str | None:
        """Return the id of another decision as which the same call was started, or None (decision 0055).

        A call is what scope and `call_id` name; the same user, tool and trigger are meant. None without a `call_id`.
        """
        ...

    def started_on(self, tenant: str, instruction: str) -> list[Record]:
        """Return what an instruction (`instructed.by`) led to: starts, and decisions to start later; oldest first.

        Those that are known to have failed are left out.
        """
        ...

    def finish(self, record: Record, *, signer: Signer | None = None) -> Stored | None:
        """Append an outcome (`executed`, `failed`, `in_doubt`, `settled`) durably.

        None when the lifecycle forbids it: no `executing` record, or an outcome already stands. After
        `in_doubt` only `settled` may follow.
        """
        ...

    def scan(self, after: int = 0) -> Iterator[Stored]:
        """Yield every record whose `seq` is greater than `after`, in the order of the log, in constant memory."""
        ...

    def raw_scan(self, after: int = 0) -> Iterator[RawRecord]:
        """Yield what `scan` yields, undecoded and unchecked: for verification (R-72)."""
        ...

    def head(self) -> LogHead:
        """Return where the log ends: `seq` counts from 1 without gaps, in the order of commits."""
        ...

    def get(self, record_id: str) -> Stored | None:
        """Return the record with this id."""
        ...

    def steps(self, decision_id: str) -> list[Stored]:
        """Return a decision and the steps of its execution, oldest first."""
        ...

    def latest_for_call(self, scope: Scope, call_id: str) -> Stored | None:
        """Return the newest decision that was made for this call."""
        ...

    def latest_executed(self, scope: Scope, user_id: str, action_key: str, fingerprint: str) -> Stored | None:
        """Return the newest `executed` record of this scope, user, key and tool (R-42)."""
        ...

    def find(self, query: Query) -> Iterator[Stored]:
        """Yield the records that match, newest first, at most `query.limit`."""
        ...

    def unfinished(self) -> list[Stored]:
        """Return the `executing` records that have no outcome, and `in_doubt` ones not settled, oldest first."""
        ...

    def ask(self, question: Question) -> None:
        """Store a question; the same `question_id` again is harmless."""
        ...

    def question(self, question_id: str) -> Question | None:
        """Return a question, answered or not."""
        ...

    def open_questions(self, scope: Scope | None, now: str) -> list[Question]:
        """Return the questions without an answer that have not expired at `now`, oldest first."""
        ...

    def answer(self, answer: Answer) -> bool:
        """Store an answer durably; False when the question was answered before (first write wins, R-91)."""
        ...

    def answers_for_call(self, scope: Scope, call_id: str) -> list[Answer]:
        """Return the answers given to questions about this call, oldest first."""
        ...

    def answer_to(self, question_id: str) -> Answer | None:
        """Return the answer of a question, if one was given."""
        ...

    def no_answer(self, note: NoAnswer) -> None:
        """Note that a question was put and nobody answered; the question stays as open as it was (R-92)."""
        ...

    def no_answers(self, question_id: str) -> list[NoAnswer]:
        """Return how often a question was put in vain, oldest first."""
        ...

    def asked(self, scope: Scope, call_id: str) -> list[Question]:
        """Return every question asked about this call, oldest first (R-94)."""
        ...

    def learn(self, scope: Scope, user_id: str, name: str, server: str, tool: str, by: str, at: str) -> None:
        """Remember that this user means this tool by `name`; the same again is harmless."""
        ...

    def forget(self, scope: Scope, user_id: str, name: str, at: str) -> None:
        """Revoke what this user means by `name`; the history stays."""
        ...

    def learned(self, scope: Scope, user_id: str) -> list[tuple[str, str, str]]:
        """Return `(name, server, tool)` of every mapping of this user that is in force, oldest first."""
        ...

    def close(self) -> None:
        """Release what is held; further calls raise StorageError."""
        ...


@runtime_checkable
class Scheduling(Protocol):
    """What a store does for deferred runs, beside `Storage`: rows that are due, and the one start of an occurrence.

    A start (`Storage.claim`) of a record with a `trigger` is let in only when no other of the same deferred record
    and occurrence was (R-83), and, where a row of it stands, only while it waits for exactly this occurrence: so a
    run that was cancelled or moved does not start, and one that started can be neither.
    """

    def defer(self, record: Record, row: Deferral, *, signer: Signer | None = None) -> Stored:
        """Append a `deferred` record and its row durably, in one transaction.

        Rows of the same call that still wait are superseded. The same `record_id` again returns the stored one.
        """
        ...

    def deferral(self, deferral_id: str) -> Deferral | None:
        """Return a row."""
        ...

    def deferrals(self, scope: Scope | None = None, states: Sequence[DeferralState] = ()) -> list[Deferral]:
        """Return the rows of a scope, or of all, in these states, or in any, the next due first."""
        ...

    def awaiting(self, event: str) -> list[Deferral]:
        """Return the rows that wait for an event of this name, oldest first."""
        ...

    def lease(
        self, now: str, until: str, limit: int, only: str | None = None, tenant: str | None = None
    ) -> list[Deferral]:
        """Hold waiting rows that are due and that nobody holds until `until`; return them, the longest due first.

        `only` names one row, `tenant` those of one tenant.
        """
        ...

    def release(self, deferral_id: str, until: str) -> None:
        """Let go of a row that was leased; it is looked at again from `until` on."""
        ...

    def change(
        self, row: Deferral, note: DeferralNote, *, apart: Deferral | None = None, unless_started: bool = False
    ) -> bool:
        """Replace a row by its next version durably, and add a note; `apart` is an occurrence held for itself.

        False, and nothing is written, when the row was changed meanwhile, or, with `unless_started`, when the
        occurrence that it waited for has started.
        """
        ...

    def note(self, note: DeferralNote) -> None:
        """Add a note."""
        ...

    def notes(self, deferral_id: str) -> list[DeferralNote]:
        """Return the notes about a row, oldest first."""
        ...

    def answered(self) -> list[Deferral]:
        """Return the held rows whose question was answered, oldest first."""
        ...

    def over(self, record: Record) -> bool:
        """Whether a record with a `trigger` cannot start: its occurrence has started, or is not waited for any more."""
        ...

    def started(self, decision_id: str, occurrence: str) -> str | None:
        """Return the id of the decision that an occurrence of a deferred record started, or None."""
        ...


@runtime_checkable
class Folding(Protocol):
    """What a store does so that runs which ask the same share one question, beside `Storage`.

    `Storage.asked` and `answers_for_call` return a question and its answer for each call that is attached to it.
    """

    def ask_once(self, question: Question, folds: Sequence[str], until: str) -> Question:
        """Store a question durably, or attach its run to an open one that is the same; return the one that stands.

        The same is one of the question's scope that was asked with one of these digests, has no answer and stays open
        beyond `until` (ISO 8601); of several, the oldest of the first digest. Of two that come at once, one attaches.
        """
        ...

    def attached(self, question_id: str) -> list[Attachment]:
        """Return the runs that are attached to a question, the one that asked first."""
        ...


@runtime_checkable
class Burying(Protocol):
    """What a store does for retention, beside `Storage`: the only way in which a record leaves the log (R-71)."""

    def bury(self, graves: Sequence[Grave], tombstone: bytes) -> None:
        """Remove records with their questions and answers, durably and all at once, and keep the tombstone.

        What stands of them is yielded by `raw_scan` with an empty body. The newest record under a key cannot be
        removed: StorageError, and nothing is.
        """
        ...

    def compact(self) -> None:
        """Overwrite where removed records stood, as far as the store can: after the last of several burials."""
        ...

    def tombstones(self) -> list[bytes]:
        """Return every tombstone, oldest first."""
        ...
