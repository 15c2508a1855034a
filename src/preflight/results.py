"""What the public calls return: one type for each outcome, so that forgetting one does not type-check (R-32)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec
from msgspec import UNSET

from preflight.model.pointer import Path
from preflight.model.question import Question
from preflight.model.record import Record
from preflight.secrecy.masking import hidden


class _Outcome(msgspec.Struct, frozen=True):
    """A recorded verdict. It has no truth value: branch on its type or on `decision`."""

    record: Record

    @property
    def decision(self) -> str:
        """The verdict: `execute`, `ask_user`, `hold` or `deferred`."""
        return self.record.execution_decision

    def __bool__(self) -> bool:
        message = "an outcome has no truth value; branch on its type or its `decision`"
        raise TypeError(message)


class Executable(_Outcome, frozen=True):
    """Every blank is filled from a stated source: the call may run, once, from the record."""

    @property
    def decision_id(self) -> str:
        """What `execute_if_ready` takes."""
        return self.record.decision_id


class Asking(_Outcome, frozen=True):
    """Something is missing that a person can say; `question` asks for all of it at once."""

    question: Question


class Held(_Outcome, frozen=True):
    """Nothing a person is asked now would help; `record.gate` says why.

    `recorded` is False only when the store could not take the record: nothing can execute then.
    """

    recorded: bool = True


class Deferred(_Outcome, frozen=True):
    """Everything the user can say now is settled; the run waits for its trigger."""


Checked = Executable | Asking | Held | Deferred
"""What a check returns."""


class Accepted(msgspec.Struct, frozen=True):
    """An answer was stored, but the request is not at hand to repeat the run: check the same call again."""

    question_id: str
    call_id: str | None


class ToolCall(msgspec.Struct, frozen=True):
    """What is to be called, read from the record: the caller cannot pass arguments (R-74).

    `meta` belongs into the request's `_meta`: it carries the decision's id as idempotency key. `secret` lists
    the paths of arguments that are secret: they stand in `arguments`, and not in the `repr` (R-78).
    """

    server: str
    name: str
    arguments: dict[str, object]
    decision_id: str
    meta: Mapping[str, object]
    secret: tuple[Path, ...] = ()

    def __repr__(self) -> str:
        shown: object = self.arguments
        for path in self.secret:
            shown = hidden(shown, path)
        return f"ToolCall(server={self.server!r}, name={self.name!r}, arguments={shown!r}, meta={dict(self.meta)!r})"


class Claimed(msgspec.Struct, frozen=True):
    """A started execution: call the tool once, then `settle` or `fail` it."""

    call: ToolCall
    record: Record


RefusalCode = Literal[
    "not_found", "not_execute", "already_started", "key_busy", "expired", "not_yet_valid", "tool_changed",
    "rules_changed", "condition_unmet", "limit_reached", "store_failed", "signature_invalid", "erased",
    "occurrence_over", "repeated",
]  # fmt: skip


class Refused(msgspec.Struct, frozen=True):
    """Nothing was called: no record allows it. `code` is stable, `why` is for people."""

    code: RefusalCode
    why: str
    record: Record | None = None
    status: Literal["held"] = "held"


class Executed(msgspec.Struct, frozen=True):
    """The provider answered; `result` is what it returned, `shown` the same without secret arguments in it."""

    record: Record
    result: object = None
    status: Literal["executed"] = "executed"
    masked: object = UNSET

    @property
    def shown(self) -> object:
        """The result as it may be printed or logged (R-78)."""
        return self.result if self.masked is UNSET else self.masked

    def __repr__(self) -> str:
        return f"Executed(record={self.record!r}, result={self.shown!r})"


class Failed(msgspec.Struct, frozen=True):
    """The provider refused, or the request was never sent: nothing happened there (R-76)."""

    record: Record
    error: str
    result: object = None
    status: Literal["failed"] = "failed"
    masked: object = UNSET

    @property
    def shown(self) -> object:
        """The result as it may be printed or logged (R-78)."""
        return self.result if self.masked is UNSET else self.masked

    def __repr__(self) -> str:
        return f"Failed(record={self.record!r}, error={self.error!r}, result={self.shown!r})"


class InDoubt(msgspec.Struct, frozen=True):
    """Whether the call took effect is not known. It is never called again; a person or a measurement settles it."""

    record: Record
    error: str
    status: Literal["in_doubt"] = "in_doubt"


Execution = Executed | Failed | InDoubt | Refused
"""What an execution returns."""
