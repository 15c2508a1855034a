"""Questions of several runs in SQL: the statements, and what both databases do with them alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from preflight import codec
from preflight.model.question import Attachment, Question
from preflight.model.request import Scope
from preflight.storage import statements
from preflight.storage.deferrals import Rows, T
from preflight.storage.entry import encode, instant

_SAME = """
SELECT question.body FROM attachment JOIN question ON question.question_id = attachment.question_id
WHERE attachment.tenant = :tenant AND attachment.conversation = :conversation AND attachment.fold = :fold
  AND question.expires_at > :until
  AND NOT EXISTS (SELECT 1 FROM answer WHERE answer.question_id = question.question_id)
ORDER BY question.seq LIMIT 1
"""
_ATTACH = """
INSERT INTO attachment (question_id, fold, tenant, conversation, call_id, decision_id)
VALUES (:question_id, :fold, :tenant, :conversation, :call_id, :decision_id) ON CONFLICT DO NOTHING
"""
_ATTACHED = """
SELECT tenant, conversation, call_id, min(decision_id) FROM attachment
WHERE question_id = :question_id GROUP BY tenant, conversation, call_id ORDER BY min(seq)
"""


class SqlFolding(ABC):
    """The `Folding` protocol over shared statements. See the protocol for every method."""

    @abstractmethod
    def _read(self, statement: str, wanted: Any) -> list[Any]:
        """Return the rows of a statement that reads."""

    @abstractmethod
    def _together(self, work: Callable[[Rows], T]) -> T | None:
        """Run `work` in one durable transaction."""

    @abstractmethod
    def _one_by_one(self, rows: Rows, scope: Scope) -> None:
        """Let nobody else attach anything of this scope until the transaction ends."""

    def ask_once(self, question: Question, folds: Sequence[str], until: str) -> Question:
        """Store a question, or attach its run to an open one that is the same; return the one that stands."""
        row, moment = question_row(question), instant(until, "until")

        def work(rows: Rows) -> Question:
            self._one_by_one(rows, question.scope)
            stands = next(_same(rows, row, folds, moment), None)
            if stands is None:
                rows(statements.ASK, row)
                stands = question
            for fold in folds:
                attached = {"question_id": stands.question_id, "call_id": question.call_id or "", "fold": fold}
                rows(_ATTACH, {**row, "decision_id": question.decision_id, **attached})
            return stands

        stands = self._together(work)
        assert stands is not None  # noqa: S101  nothing in it takes the transaction back
        return stands

    def attached(self, question_id: str) -> list[Attachment]:
        """Return the runs that are attached to a question, the one that asked first."""
        found = self._read(_ATTACHED, {"question_id": question_id})
        return [Attachment(question_id, Scope(*row[:2]), row[3], row[2] or None) for row in found]


def question_row(question: Question) -> dict[str, Any]:
    """Return the columns of a question."""
    return {
        "tenant": question.scope.tenant,
        "conversation": question.scope.conversation,
        "question_id": question.question_id,
        "call_id": question.call_id,
        "expires_at": instant(question.expires_at, "expires_at"),
        "body": encode(question),
    }


def _same(rows: Rows, row: dict[str, Any], folds: Sequence[str], until: int) -> Iterator[Question]:
    for fold in folds:
        for (body,) in rows(_SAME, {**row, "fold": fold, "until": until}):
            yield codec.decode_question(body)
