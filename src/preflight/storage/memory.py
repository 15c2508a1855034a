"""Records in memory, for tests: the same contract as the other stores, and nothing that outlives the process."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from heapq import merge
from itertools import islice

from preflight import codec
from preflight.core import lifecycle
from preflight.errors import InvalidInput, StorageError
from preflight.model.question import Answer, Attachment, NoAnswer, Question
from preflight.model.record import Record, RecordState
from preflight.model.request import Scope
from preflight.ports import Admission, Grave, LogHead, Query, RawRecord, Signer, Stored
from preflight.storage.entry import check_way, encode, instant, make_entry
from preflight.storage.matching import matcher
from preflight.storage.memory_deferrals import MemoryDeferrals

_Key = tuple[Scope, str, str]


_LED_TO = ("executing", "deferred")


class MemoryStorage(MemoryDeferrals):
    """The `Storage` protocol on lists and dictionaries, behind one lock. See the protocol for every method.

    Values are kept as bytes and read back from them, so that what a test sees has been through the codec.
    """

    def __init__(self) -> None:
        """Start empty."""
        super().__init__()
        self._lock = threading.RLock()
        self._closed = False
        self._log: list[Stored] = []
        self._by_id: dict[str, Stored] = {}
        self._chains: dict[str, list[Stored]] = {}
        self._running: dict[str, tuple[Scope, str]] = {}
        self._begun: dict[tuple[Scope, str | None], list[Record]] = {}
        self._heads: dict[tuple[Scope, str], str] = {}
        self._buried: list[RawRecord] = []
        self._tombstones: list[bytes] = []
        self._questions: dict[str, bytes] = {}
        self._answers: dict[str, bytes] = {}
        self._attached: dict[tuple[str, str | None, str], Attachment] = {}
        self._no_answers: dict[str, list[bytes]] = {}
        self._meanings: dict[_Key, tuple[str, str]] = {}

    def append(self, record: Record, *, durable: bool = False, signer: Signer | None = None) -> Stored:  # noqa: ARG002  nothing here is durable
        """Append a decision; the same `record_id` again returns the stored one."""
        check_way(record, "append")
        with self._opened():
            return self._by_id.get(record.record_id) or self._store(record, signer)

    def claim(self, record: Record, *, signer: Signer | None = None, admit: Admission | None = None) -> Stored | None:
        """Append an `executing` record, or return None when it may not start; permission is given once."""
        check_way(record, "claim")
        with self._opened():
            if record.record_id in self._by_id or (record.scope, record.key) in self._running.values():
                return None
            if not self._may_follow(record) or not self._may_start(record) or self._started_as(record):
                return None
            if record.instructed and any(
                map(record.repeats, self._started_on(record.scope.tenant, record.instructed.by))
            ):
                return None
            if admit is not None and admit.judge(self._started(record, admit)) is not True:
                return None
            stored = self._store(record, signer)
            self._note_start(record)
            if record.call_id is not None:
                self._begun.setdefault((record.scope, record.call_id), []).append(record)
            return stored

    def started_as(self, record: Record) -> str | None:
        """Return the id of another decision as which the same call was started, or None."""
        with self._opened():
            return self._started_as(record)

    def _started_as(self, record: Record) -> str | None:
        others = self._begun.get((record.scope, record.call_id), ())
        same = (o.decision_id for o in others if o.decision_id != record.decision_id and o.is_same_call(record))
        return next(same, None)

    def started_on(self, tenant: str, instruction: str) -> list[Record]:
        """Return the starts on an instruction, oldest first, without those known to have failed."""
        with self._opened():
            return self._started_on(tenant, instruction)

    def _started_on(self, tenant: str, instruction: str) -> list[Record]:
        chains = [chain for chain in self._chains.values() if not _failed(chain[-1].record)]
        starts = [step for chain in chains for step in chain[:2] if step.record.execution_decision in _LED_TO]
        starts.sort(key=lambda start: start.seq)
        same = (start.record for start in starts if start.record.scope.tenant == tenant)
        return [record for record in same if record.instructed is not None and record.instructed.by == instruction]

    def finish(self, record: Record, *, signer: Signer | None = None) -> Stored | None:
        """Append an outcome; the same `record_id` again returns the stored one."""
        check_way(record, "finish")
        with self._opened():
            before = self._by_id.get(record.record_id)
            if before is not None:
                return before if _same_step(before.record, record) else None
            return self._store(record, signer) if self._may_follow(record) else None

    def get(self, record_id: str) -> Stored | None:
        """Return the record with this id."""
        with self._opened():
            return self._by_id.get(record_id)

    def steps(self, decision_id: str) -> list[Stored]:
        """Return a decision and the steps of its execution, oldest first."""
        with self._opened():
            return list(self._chains.get(decision_id, ()))

    def latest_for_call(self, scope: Scope, call_id: str) -> Stored | None:
        """Return the newest decision that was made for this call."""
        return self._latest(
            lambda record: (
                record.scope == scope
                and record.call_id == call_id
                and lifecycle.may_follow(None, record.execution_decision)
            )
        )

    def latest_executed(self, scope: Scope, user_id: str, action_key: str, fingerprint: str) -> Stored | None:
        """Return the newest `executed` record of this scope, user, key and tool (R-42)."""
        wanted = ("executed", scope, user_id, action_key, fingerprint)
        return self._latest(
            lambda record: (
                record.tool is not None
                and wanted
                == (record.execution_decision, record.scope, record.user_id, record.key, record.tool.fingerprint)
            )
        )

    def find(self, query: Query) -> Iterator[Stored]:
        """Yield the records that match, newest first, at most `query.limit`."""
        wanted = matcher(query)
        with self._opened():
            log = reversed(self._log[:])
        return islice((stored for stored in log if wanted(stored.record)), max(query.limit, 0))

    def scan(self, after: int = 0) -> Iterator[Stored]:
        """Yield every record after a place, in the order of the log."""
        while True:
            with self._opened():
                at = bisect_right(self._log, after, key=lambda stored: stored.seq)
                if at >= len(self._log):
                    return
                stored = self._log[at]
            yield stored
            after = stored.seq

    def raw_scan(self, after: int = 0) -> Iterator[RawRecord]:
        """Yield what `scan` yields, undecoded and unchecked."""
        buried = iter(sorted(raw for raw in self._buried if raw.seq > after))
        yield from merge(buried, map(_raw, self.scan(after)), key=lambda raw: raw.seq)

    def bury(self, graves: Sequence[Grave], tombstone: bytes) -> None:
        """Remove records with their questions and answers, and keep the tombstone."""
        seqs = {grave.seq for grave in graves}
        with self._opened():
            gone = [stored for stored in self._log if stored.seq in seqs]
            if len(gone) != len(seqs) or any(s.digest in self._heads.values() for s in gone):
                raise StorageError("only a record that others follow under its key is buried")
            self._tombstones.append(tombstone)
            self._buried += [_raw(stored)._replace(body=b"", seal=None) for stored in gone]
            self._log = [stored for stored in self._log if stored.seq not in seqs]
            for stored in gone:
                del self._by_id[stored.record.record_id]
                self._chains.pop(stored.record.decision_id, None)
            for grave in graves:
                self._questions.pop(grave.question_id or "", None)
                self._answers.pop(grave.question_id or "", None)
                self._attached = {key: run for key, run in self._attached.items() if key[0] != grave.question_id}
                self._no_answers.pop(grave.question_id or "", None)

    def compact(self) -> None:
        """Do nothing: what is removed is gone at once."""

    def tombstones(self) -> list[bytes]:
        """Return every tombstone, oldest first."""
        with self._opened():
            return list(self._tombstones)

    def head(self) -> LogHead:
        """Return where the log ends."""
        with self._opened():
            last = self._log[-1] if self._log else None  # the newest record is never removed
            return LogHead(last.seq, last.seq, last.digest) if last else LogHead(0, 0, None)

    def unfinished(self) -> list[Stored]:
        """Return the records that wait for an outcome or a settlement, oldest first."""
        with self._opened():
            last = [chain[-1] for chain in self._chains.values()]
        waiting = [stored for stored in last if lifecycle.unfinished(stored.record.execution_decision)]
        return sorted(waiting, key=lambda stored: stored.seq)

    def ask(self, question: Question) -> None:
        """Store a question; the same `question_id` again is harmless."""
        instant(question.expires_at, "expires_at")
        with self._opened():
            self._questions.setdefault(question.question_id, encode(question))

    def question(self, question_id: str) -> Question | None:
        """Return a question, answered or not."""
        with self._opened():
            body = self._questions.get(question_id)
        return None if body is None else codec.decode_question(body)

    def open_questions(self, scope: Scope | None, now: str) -> list[Question]:
        """Return the questions without an answer that have not expired at `now`, oldest first."""
        moment = instant(now, "now")
        with self._opened():
            unanswered = [body for key, body in self._questions.items() if key not in self._answers]
        return [
            question
            for question in map(codec.decode_question, unanswered)
            if scope in (None, question.scope) and instant(question.expires_at, "expires_at") > moment
        ]

    def asked(self, scope: Scope, call_id: str) -> list[Question]:
        """Return every question asked about this call, oldest first (R-94)."""
        with self._opened():
            bodies = list(self._questions.values())
            joined = {
                each.question_id for each in self._attached.values() if (each.scope, each.call_id) == (scope, call_id)
            }
        questions = map(codec.decode_question, bodies)
        return [q for q in questions if (q.scope, q.call_id) == (scope, call_id) or q.question_id in joined]

    def ask_once(self, question: Question, folds: Sequence[str], until: str) -> Question:
        """Store a question, or attach its run to an open one that is the same; return the one that stands."""
        with self._opened():
            still = {q.question_id: q for q in self.open_questions(question.scope, until)}
            alike = (key[0] for fold in folds for key in self._attached if key[2] == fold and key[0] in still)
            stands = still.get(next(alike, ""), question)
            self.ask(stands)
            for fold in folds:
                run = Attachment(stands.question_id, question.scope, question.decision_id, question.call_id)
                self._attached.setdefault((stands.question_id, question.call_id, fold), run)
            return stands

    def attached(self, question_id: str) -> list[Attachment]:
        """Return the runs that are attached to a question, the one that asked first."""
        with self._opened():
            runs = {key[1]: run for key, run in reversed(self._attached.items()) if key[0] == question_id}
        return list(reversed(runs.values()))

    def answer(self, answer: Answer) -> bool:
        """Store an answer; False when the question was answered before (first write wins, R-91)."""
        body = encode(answer)
        with self._opened():
            if answer.question_id not in self._questions:
                raise InvalidInput("question_id", f"no question `{answer.question_id}` was asked")
            if answer.question_id in self._answers:
                return False
            self._answers[answer.question_id] = body
            return True

    def answer_to(self, question_id: str) -> Answer | None:
        """Return the answer of a question, if one was given."""
        with self._opened():
            body = self._answers.get(question_id)
        return None if body is None else codec.decode_answer(body)

    def answers_for_call(self, scope: Scope, call_id: str) -> list[Answer]:
        """Return the answers given to questions about this call, oldest first."""
        asked = {question.question_id for question in self.asked(scope, call_id)}
        with self._opened():
            bodies = [body for question_id, body in self._answers.items() if question_id in asked]
        return [codec.decode_answer(body) for body in bodies]

    def no_answer(self, note: NoAnswer) -> None:
        """Note that a question was put and nobody answered (R-92)."""
        body = encode(note)
        with self._opened():
            if note.question_id not in self._questions:
                raise InvalidInput("question_id", f"no question `{note.question_id}` was asked")
            self._no_answers.setdefault(note.question_id, []).append(body)

    def no_answers(self, question_id: str) -> list[NoAnswer]:
        """Return how often a question was put in vain, oldest first."""
        with self._opened():
            return [codec.decode_no_answer(body) for body in self._no_answers.get(question_id, ())]

    def learn(self, scope: Scope, user_id: str, name: str, server: str, tool: str, by: str, at: str) -> None:  # noqa: ARG002  who and when are for the stores that last
        """Remember that this user means this tool by `name`; the same again is harmless."""
        key = (scope, user_id, name)
        with self._opened():
            if self._meanings.get(key) != (server, tool):
                self._meanings.pop(key, None)  # what is learned anew is the newest
                self._meanings[key] = (server, tool)

    def forget(self, scope: Scope, user_id: str, name: str, at: str) -> None:  # noqa: ARG002  same
        """Revoke what this user means by `name`."""
        with self._opened():
            self._meanings.pop((scope, user_id, name), None)

    def learned(self, scope: Scope, user_id: str) -> list[tuple[str, str, str]]:
        """Return `(name, server, tool)` of every mapping of this user that is in force, oldest first."""
        with self._opened():
            return [(key[2], *meant) for key, meant in self._meanings.items() if key[:2] == (scope, user_id)]

    def close(self) -> None:
        """End it; further calls raise StorageError, a second close does nothing."""
        self._closed = True

    @contextmanager
    def _opened(self) -> Iterator[None]:
        with self._lock:
            if self._closed:
                raise StorageError("the record store in memory is closed; make another one")
            yield

    def _may_follow(self, record: Record) -> bool:
        chain = self._chains.get(record.decision_id)
        state: RecordState | None = chain[-1].record.execution_decision if chain else None
        return lifecycle.may_follow(state, record.execution_decision)

    def _started(self, record: Record, admit: Admission) -> Iterator[Record]:
        since, tool = instant(admit.since, "since"), record.tool
        starts = [
            step.record
            for chain in self._chains.values()
            for step in chain[1:2]
            if not _failed(chain[-1].record) and instant(step.record.timestamp, "timestamp") >= since
        ]
        starts.sort(key=lambda start: instant(start.timestamp, "timestamp"))
        for start in starts:
            same_tool = start.tool and tool and (start.tool.server, start.tool.name) == (tool.server, tool.name)
            if same_tool and start.scope.tenant == record.scope.tenant and admit.user_id in (None, start.user_id):
                yield start

    def _store(self, record: Record, signer: Signer | None) -> Stored:
        instant(record.timestamp, "timestamp")
        entry = make_entry(record, self._heads.get((record.scope, record.key)), signer)
        place = self._log[-1].seq + 1 if self._log else 1
        stored = Stored(place, codec.decode_record(entry.body), entry.body, entry.digest, entry.seal)
        self._log.append(stored)
        self._by_id[record.record_id] = stored
        self._chains.setdefault(record.decision_id, []).append(stored)
        self._heads[record.scope, record.key] = entry.digest
        match lifecycle.stage(record.execution_decision):
            case 1:
                self._running[record.decision_id] = (record.scope, record.key)
            case 2:
                del self._running[record.decision_id]
        return stored

    def _latest(self, wanted: Callable[[Record], bool]) -> Stored | None:
        with self._opened():
            return next((stored for stored in reversed(self._log) if wanted(stored.record)), None)


def _raw(stored: Stored) -> RawRecord:
    record = stored.record
    return RawRecord(
        stored.seq, record.record_id, record.decision_id, record.execution_decision, record.scope.tenant,
        record.scope.conversation, record.key, stored.body, stored.digest, record.previous_digest, stored.seal,
    )  # fmt: skip


def _same_step(one: Record, other: Record) -> bool:
    return (one.decision_id, one.execution_decision) == (other.decision_id, other.execution_decision)


def _failed(last: Record) -> bool:
    """Whether an execution that ended so is known to have had no effect."""
    outcome = last.outcome
    return last.execution_decision == "failed" or (outcome is not None and outcome.settled_as == "failed")
