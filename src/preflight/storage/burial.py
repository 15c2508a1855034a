"""What the SQL of retention has in common: records leave the log, and what stands of them stays (R-71)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from preflight.ports import Grave

_TOMBSTONE: Final = "INSERT INTO tombstone (body) VALUES (:body)"
_BURY: Final = """
INSERT INTO buried (seq, record_id, decision_id, state, tenant, conversation, action_key, digest, previous_digest,
                    question_id)
SELECT seq, record_id, decision_id, state, tenant, conversation, action_key, digest, previous_digest,
       CAST(:question_id AS TEXT)
FROM record WHERE seq = :seq
"""
_REMOVE: Final = "DELETE FROM record WHERE seq = :seq"
_ANSWER: Final = "DELETE FROM answer WHERE question_id = :question_id"
_ATTACHED: Final = "DELETE FROM attachment WHERE question_id = :question_id"
_NO_ANSWERS: Final = "DELETE FROM no_answer WHERE question_id = :question_id"
_QUESTION: Final = "DELETE FROM question WHERE question_id = :question_id"
TOMBSTONES: Final = "SELECT body FROM tombstone ORDER BY seq"
Step = tuple[str, Mapping[str, Any]]


def burying(graves: Sequence[Grave], tombstone: bytes, derived: Sequence[str]) -> Iterator[Step]:
    """Yield the statements of one burial, in their order; `derived` are tables with rows made of a record."""
    yield _TOMBSTONE, {"body": tombstone}
    for grave in graves:
        yield _BURY, {"seq": grave.seq, "question_id": grave.question_id}
    for grave in graves:
        for table in derived:
            yield f"DELETE FROM {table} WHERE seq = :seq", {"seq": grave.seq}  # noqa: S608  a fixed name
        yield _REMOVE, {"seq": grave.seq}
        if grave.question_id is not None:
            yield _ANSWER, {"question_id": grave.question_id}
            yield _ATTACHED, {"question_id": grave.question_id}
            yield _NO_ANSWERS, {"question_id": grave.question_id}
            yield _QUESTION, {"question_id": grave.question_id}
