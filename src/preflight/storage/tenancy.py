"""A store seen by one tenant: nothing of it reaches another tenant's rows, whatever id is asked for.

It works over every driver. In PostgreSQL row-level security draws the same line a second time, in the database.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import msgspec

from preflight.errors import InvalidInput
from preflight.model.question import Answer, Attachment, NoAnswer, Question
from preflight.model.record import Record
from preflight.model.request import Scope
from preflight.ports import Admission, Folding, LogHead, Query, RawRecord, Signer, Storage, Stored
from preflight.storage.tenant_deferrals import TenantDeferrals


class TenantStorage(TenantDeferrals):
    """The `Storage` protocol over another store, cut down to one tenant. See the protocol for every method.

    What belongs to another tenant is as if it were not there; what would be written for one, or asked with
    another's scope, is refused with InvalidInput.
    """

    def __init__(self, store: Storage, tenant: str) -> None:
        """Show `tenant`'s part of `store`."""
        self._store = store
        self._tenant = tenant

    @property
    def whole(self) -> Storage:
        """The store of which this one shows a part; its keys are in one place for all tenants."""
        return self._store

    def append(self, record: Record, *, durable: bool = False, signer: Signer | None = None) -> Stored:
        """Append a decision of this tenant."""
        self._check(record.scope)
        stored = self._store.append(record, durable=durable, signer=signer)
        if self._own(stored) is None:
            raise InvalidInput("record_id", f"`{record.record_id}` is taken", "give every record an id of its own")
        return stored

    def claim(self, record: Record, *, signer: Signer | None = None, admit: Admission | None = None) -> Stored | None:
        """Append a start of this tenant, or return None when it may not start."""
        self._check(record.scope)
        return self._store.claim(record, signer=signer, admit=admit) if self._own_decision(record) else None

    def finish(self, record: Record, *, signer: Signer | None = None) -> Stored | None:
        """Append an outcome of this tenant."""
        self._check(record.scope)
        return self._store.finish(record, signer=signer) if self._own_decision(record) else None

    def get(self, record_id: str) -> Stored | None:
        """Return the record with this id, if it is this tenant's."""
        return self._own(self._store.get(record_id))

    def steps(self, decision_id: str) -> list[Stored]:
        """Return a decision of this tenant and the steps of its execution."""
        return [stored for stored in self._store.steps(decision_id) if self._own(stored)]

    def latest_for_call(self, scope: Scope, call_id: str) -> Stored | None:
        """Return the newest decision that was made for this call."""
        return self._store.latest_for_call(self._check(scope), call_id)

    def started_as(self, record: Record) -> str | None:
        """Return the id of another decision as which the same call was started, or None."""
        self._check(record.scope)
        return self._store.started_as(record)

    def started_on(self, tenant: str, instruction: str) -> list[Record]:
        """Return the starts on an instruction of this tenant."""
        self._check(Scope(tenant))
        return self._store.started_on(tenant, instruction)

    def latest_executed(self, scope: Scope, user_id: str, action_key: str, fingerprint: str) -> Stored | None:
        """Return the newest `executed` record of this scope, user, key and tool (R-42)."""
        return self._store.latest_executed(self._check(scope), user_id, action_key, fingerprint)

    def find(self, query: Query) -> Iterator[Stored]:
        """Yield this tenant's records that match, newest first."""
        if query.scope is not None:
            self._check(query.scope)
        if query.tenant not in (None, self._tenant):
            raise self._foreign(query.tenant)
        return self._store.find(msgspec.structs.replace(query, tenant=self._tenant))

    def unfinished(self) -> list[Stored]:
        """Return this tenant's records that wait for an outcome or a settlement."""
        return [stored for stored in self._store.unfinished() if self._own(stored)]

    def scan(self, after: int = 0) -> Iterator[Stored]:
        """Yield this tenant's records in the order of the log."""
        return (stored for stored in self._store.scan(after) if self._own(stored))

    def raw_scan(self, after: int = 0) -> Iterator[RawRecord]:
        """Yield this tenant's records undecoded; their places in the log have gaps, each key's chain has none."""
        return (row for row in self._store.raw_scan(after) if row.tenant == self._tenant)

    def head(self) -> LogHead:
        """Return where this tenant's part of the log ends."""
        count, last = 0, None
        for row in self.raw_scan():
            count, last = count + 1, row
        return LogHead(count, last.seq if last else 0, last.digest if last else None)

    def ask(self, question: Question) -> None:
        """Store a question of this tenant."""
        self._check(question.scope)
        self._store.ask(question)

    def question(self, question_id: str) -> Question | None:
        """Return a question, if it is this tenant's."""
        found = self._store.question(question_id)
        return found if found is not None and found.scope.tenant == self._tenant else None

    def open_questions(self, scope: Scope | None, now: str) -> list[Question]:
        """Return this tenant's questions without an answer that have not expired at `now`."""
        found = self._store.open_questions(scope and self._check(scope), now)
        return [question for question in found if question.scope.tenant == self._tenant]

    def answer(self, answer: Answer) -> bool:
        """Store the answer to a question of this tenant."""
        if self.question(answer.question_id) is None:
            raise InvalidInput("question_id", f"no question `{answer.question_id}` was asked")
        return self._store.answer(answer)

    def answers_for_call(self, scope: Scope, call_id: str) -> list[Answer]:
        """Return the answers given to questions about this call."""
        return self._store.answers_for_call(self._check(scope), call_id)

    def answer_to(self, question_id: str) -> Answer | None:
        """Return the answer of a question of this tenant, if one was given."""
        return None if self.question(question_id) is None else self._store.answer_to(question_id)

    def no_answer(self, note: NoAnswer) -> None:
        """Note that a question of this tenant was put and nobody answered."""
        if self.question(note.question_id) is None:
            raise InvalidInput("question_id", f"no question `{note.question_id}` was asked")
        self._store.no_answer(note)

    def no_answers(self, question_id: str) -> list[NoAnswer]:
        """Return how often a question of this tenant was put in vain."""
        return [] if self.question(question_id) is None else self._store.no_answers(question_id)

    def asked(self, scope: Scope, call_id: str) -> list[Question]:
        """Return every question asked about this call."""
        return self._store.asked(self._check(scope), call_id)

    def ask_once(self, question: Question, folds: Sequence[str], until: str) -> Question:
        """Store a question of this tenant, or attach its run to one that is the same."""
        self._check(question.scope)
        return cast("Folding", self._store).ask_once(question, folds, until)

    def attached(self, question_id: str) -> list[Attachment]:
        """Return the runs that are attached to a question of this tenant."""
        return [] if self.question(question_id) is None else cast("Folding", self._store).attached(question_id)

    def learn(self, scope: Scope, user_id: str, name: str, server: str, tool: str, by: str, at: str) -> None:
        """Remember that this user means this tool by `name`."""
        self._store.learn(self._check(scope), user_id, name, server, tool, by, at)

    def forget(self, scope: Scope, user_id: str, name: str, at: str) -> None:
        """Revoke what this user means by `name`."""
        self._store.forget(self._check(scope), user_id, name, at)

    def learned(self, scope: Scope, user_id: str) -> list[tuple[str, str, str]]:
        """Return the mappings of this user that are in force."""
        return self._store.learned(self._check(scope), user_id)

    def close(self) -> None:
        """Close the store beneath."""
        self._store.close()

    def _check(self, scope: Scope) -> Scope:
        if scope.tenant != self._tenant:
            raise self._foreign(scope.tenant)
        return scope

    def _foreign(self, tenant: object) -> InvalidInput:
        return InvalidInput("scope", f"tenant `{tenant}` has no place in the store of `{self._tenant}`")

    def _own(self, stored: Stored | None) -> Stored | None:
        return stored if stored is not None and stored.record.scope.tenant == self._tenant else None

    def _own_decision(self, record: Record) -> bool:
        return self.get(record.decision_id) is not None
