"""What all SQL stores have in common: everything but the writing of records and the audit's search.

A driver says how statements are run; the statements stand in `statements`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from preflight import codec
from preflight.core import lifecycle
from preflight.errors import InvalidInput, StorageError
from preflight.model.question import Answer, NoAnswer, Question
from preflight.model.record import Outcome, Record, RecordState, ToolRef
from preflight.model.request import Scope
from preflight.ports import Admission, LogHead, RawRecord, Seal, Stored
from preflight.storage import burial, statements
from preflight.storage.deferrals import Rows, SqlDeferrals
from preflight.storage.entry import encode, instant
from preflight.storage.folding import SqlFolding, question_row

Durability = Literal["effects", "always"]
"""What waits for the disk: what stands before or after a side effect (claims, outcomes, answers, learned
names), or every write."""

PAGE = 500  # records a scan reads at a time
FOUND_PAGE = 100  # and a search
NEWEST = 1 << 62  # above every place in the log
Wanted = Mapping[str, Any]


class _Settlement(msgspec.Struct):
    outcome: Outcome | None = None


_SETTLEMENT = msgspec.json.Decoder(_Settlement)


class SqlStorage(SqlDeferrals, SqlFolding):
    """Look-ups, scans, questions and learned names over the shared statements. See `Storage` for every method."""

    name: str
    """The database, as error texts name it."""

    # records

    def get(self, record_id: str) -> Stored | None:
        """Return the record with this id."""
        return self._one(statements.BY_ID, {"record_id": record_id})

    def steps(self, decision_id: str) -> list[Stored]:
        """Return a decision and the steps of its execution, oldest first."""
        return self._all(statements.STEPS, {"decision_id": decision_id})

    def latest_for_call(self, scope: Scope, call_id: str) -> Stored | None:
        """Return the newest decision that was made for this call."""
        return self._one(statements.FOR_CALL, _of(scope, call_id=call_id))

    def started_as(self, record: Record) -> str | None:
        """Return the id of another decision as which the same call was started, or None."""
        return started_as(self._read, record)

    def started_on(self, tenant: str, instruction: str) -> list[Record]:
        """Return the starts on an instruction, oldest first, without those known to have failed."""
        return list(started_on(self._read, tenant, instruction))

    def latest_executed(self, scope: Scope, user_id: str, action_key: str, fingerprint: str) -> Stored | None:
        """Return the newest `executed` record of this scope, user, key and tool (R-42)."""
        wanted = _of(scope, user_id=user_id, action_key=action_key, fingerprint=fingerprint)
        return self._one(statements.EXECUTED, wanted)

    def unfinished(self) -> list[Stored]:
        """Return the records that wait for an outcome or a settlement, oldest first."""
        return self._all(statements.UNFINISHED, {})

    def scan(self, after: int = 0) -> Iterator[Stored]:
        """Yield every record after a place, in the order of the log; no lock is held between pages."""
        while True:
            page = self._all(statements.SCAN, {"after": after, "page": PAGE})
            yield from page
            if len(page) < PAGE:
                return
            after = page[-1].seq

    def raw_scan(self, after: int = 0) -> Iterator[RawRecord]:
        """Yield what `scan` yields, undecoded and unchecked."""
        while True:
            rows = self._read(statements.RAW_SCAN, {"after": after, "page": PAGE})
            for row in rows:
                yield RawRecord._make((*row[:-2], _seal(*row[-2:])))
            if len(rows) < PAGE:
                return
            after = rows[-1][0]

    def tombstones(self) -> list[bytes]:
        """Return every tombstone, oldest first."""
        return [body for (body,) in self._read(burial.TOMBSTONES, {})]

    def head(self) -> LogHead:
        """Return where the log ends."""
        return LogHead(*self._read(statements.HEAD, {})[0])

    # questions

    def ask(self, question: Question) -> None:
        """Store a question; the same `question_id` again is harmless."""
        self._run(statements.ASK, question_row(question), durable=False)

    def question(self, question_id: str) -> Question | None:
        """Return a question, answered or not."""
        return next(iter(self._questions(statements.QUESTION, {"question_id": question_id})), None)

    def open_questions(self, scope: Scope | None, now: str) -> list[Question]:
        """Return the questions without an answer that have not expired at `now`, oldest first."""
        place = {"tenant": None, "conversation": None} if scope is None else _of(scope)
        return self._questions(statements.OPEN_QUESTIONS, {**place, "now": instant(now, "now")})

    def asked(self, scope: Scope, call_id: str) -> list[Question]:
        """Return every question asked about this call, oldest first (R-94)."""
        return self._questions(statements.ASKED, _of(scope, call_id=call_id))

    def answer(self, answer: Answer) -> bool:
        """Store an answer durably; False when the question was answered before (first write wins, R-91)."""
        row = {"question_id": answer.question_id, "body": encode(answer)}
        if self._run(statements.ANSWER, row, durable=True):
            return True
        if not self._read(statements.QUESTION, {"question_id": answer.question_id}):
            raise InvalidInput("question_id", f"no question `{answer.question_id}` was asked")
        return False

    def answer_to(self, question_id: str) -> Answer | None:
        """Return the answer of a question, if one was given."""
        return next(iter(self._answers(statements.ANSWER_TO, {"question_id": question_id})), None)

    def answers_for_call(self, scope: Scope, call_id: str) -> list[Answer]:
        """Return the answers given to questions about this call, oldest first."""
        return self._answers(statements.ANSWERS_FOR_CALL, _of(scope, call_id=call_id))

    def no_answer(self, note: NoAnswer) -> None:
        """Note that a question was put and nobody answered (R-92)."""
        row = {"question_id": note.question_id, "body": encode(note)}
        if not self._run(statements.NO_ANSWER, row, durable=False):
            raise InvalidInput("question_id", f"no question `{note.question_id}` was asked")

    def no_answers(self, question_id: str) -> list[NoAnswer]:
        """Return how often a question was put in vain, oldest first."""
        rows = self._read(statements.NO_ANSWERS, {"question_id": question_id})
        return [codec.decode_no_answer(body) for (body,) in rows]

    # learned names

    def learn(self, scope: Scope, user_id: str, name: str, server: str, tool: str, by: str, at: str) -> None:
        """Remember durably that this user means this tool by `name`; the same again is harmless."""
        row = _of(scope, user_id=user_id, name=name, server=server, tool=tool, by=by, at=at)
        self._run(statements.LEARN, row, durable=True)

    def forget(self, scope: Scope, user_id: str, name: str, at: str) -> None:
        """Revoke durably what this user means by `name`; the history stays."""
        self._run(statements.FORGET, _of(scope, user_id=user_id, name=name, at=at), durable=True)

    def learned(self, scope: Scope, user_id: str) -> list[tuple[str, str, str]]:
        """Return `(name, server, tool)` of every mapping of this user that is in force, oldest first."""
        return self._read(statements.MEANINGS, _of(scope, user_id=user_id))

    # reading

    def _one(self, statement: str, wanted: Wanted) -> Stored | None:
        return next(iter(self._all(statement, wanted)), None)

    def _all(self, statement: str, wanted: Wanted) -> list[Stored]:
        return [self._stored(*row) for row in self._read(statement, wanted)]

    def _pages(self, statement: str, wanted: Wanted, before: int, limit: int) -> Iterator[Stored]:
        """Yield what a search finds, newest first, a page at a time: nothing is locked in between."""
        left = limit
        while left > 0:
            page = self._all(statement, {**wanted, "before": before, "page": min(left, FOUND_PAGE)})
            yield from page
            if len(page) < FOUND_PAGE:
                return
            before, left = page[-1].seq, left - len(page)

    def _questions(self, statement: str, wanted: Wanted) -> list[Question]:
        return [codec.decode_question(body) for (body,) in self._read(statement, wanted)]

    def _answers(self, statement: str, wanted: Wanted) -> list[Answer]:
        return [codec.decode_answer(body) for (body,) in self._read(statement, wanted)]

    def _stored(self, seq: int, digest: str, body: bytes, key_id: str | None, signature: bytes | None) -> Stored:
        if codec.digest(body) != digest:
            raise StorageError(
                f"record {seq} of `{self.name}` is damaged: its bytes do not match their digest; see a backup"
            )
        return Stored(seq, codec.decode_record(body), body, digest, _seal(key_id, signature))

    def _before(self, record: Record) -> Stored | None:
        """Return what is stored under a record's id, if it is the same step of the same decision."""
        stored = self.get(record.record_id)
        if stored is None or stored.record.decision_id != record.decision_id:
            return None
        return stored if stored.record.execution_decision == record.execution_decision else None


def _in_effect(rows: list[Any]) -> Iterator[Record]:
    """Yield the starts that were found, without what was settled as failed."""
    for body, settled in rows:
        outcome = None if settled is None else _SETTLEMENT.decode(settled).outcome
        if outcome is None or outcome.settled_as != "failed":
            yield codec.decode_record(body)


def started(rows: list[Any], tool: ToolRef | None) -> Iterator[Record]:
    """Yield what `statements.STARTED` found for exactly this tool."""
    for record in _in_effect(rows):
        if tool is not None and record.tool is not None and record.tool.server == tool.server:
            yield record


def started_as(rows: Rows, record: Record) -> str | None:
    """Return the id of another decision as which the same call was started, or None (decision 0055)."""
    if record.call_id is None:
        return None
    wanted = _of(record.scope, call_id=record.call_id, decision_id=record.decision_id)
    for decision_id, body in rows(statements.STARTED_AS, wanted):
        if codec.decode_record(body).is_same_call(record):
            return str(decision_id)
    return None


def started_on(rows: Rows, tenant: str, instruction: str) -> Iterator[Record]:
    """Yield the starts on an instruction, oldest first."""
    return _in_effect(rows(statements.STARTED_ON, {"tenant": tenant, "instruction": instruction}))


def repeats(rows: Rows, record: Record) -> bool:
    """Whether a start does again what its instruction led to before (R-79)."""
    by = None if record.instructed is None else record.instructed.by
    return by is not None and any(map(record.repeats, started_on(rows, record.scope.tenant, by)))


def asked(record: Record, admit: Admission) -> dict[str, Any]:
    """Return what `statements.STARTED` wants, to find the starts by which a claim is judged."""
    return {
        "tenant": record.scope.tenant,
        "tool": None if record.tool is None else record.tool.name,
        "since": instant(admit.since, "since"),
        "user_id": admit.user_id,
    }


def may_follow(rows: list[Any], state: RecordState) -> bool:
    """Whether `state` may follow what `statements.STATE` found."""
    return lifecycle.may_follow(rows[0][0] if rows else None, state)


def place(record: Record) -> dict[str, Any]:
    """Return the scope and the key of a record, as `statements.RUNNING` wants them."""
    return _of(record.scope, action_key=record.key)


def _of(scope: Scope, **more: Any) -> dict[str, Any]:
    return {"tenant": scope.tenant, "conversation": scope.conversation, **more}


def _seal(key_id: str | None, signature: bytes | None) -> Seal | None:
    return None if key_id is None or signature is None else Seal(key_id, signature)
