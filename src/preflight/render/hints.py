"""Commands as a person can give them as they stand: under the rules, records and connections of who says them."""

from __future__ import annotations

import re
import shlex

import msgspec

_OF_A_CALL = re.compile(r"[0-9a-f]{32}\.[0-9]+")
"""The form of a `call_id` that a proxy or a session gives: the same call, sent again, finds its answer by it."""


class Hints(msgspec.Struct, frozen=True):
    """What a command needs to be about the same setup; None where the command finds it by itself."""

    rules: str | None = None
    db: str | None = None
    connections: str | None = None

    def command(self, *words: str) -> str:
        """Return a command of `preflight` that reads and writes the same records, quoted for a shell."""
        under = () if self.rules is None else ("--rules", self.rules)
        at = () if self.db is None else ("--db", self.db)
        return shlex.join(["preflight", *under, *words, *at])

    def answer(self, question_id: str) -> str:
        """Return the command by which a person answers a question at a terminal."""
        return self.deciding("answer", question_id)

    def deciding(self, *words: str) -> str:
        """Return a command that decides a call: it may measure at the same servers."""
        reached = () if self.connections is None else ("--connections", self.connections)
        return self.command(*words, *reached)


NO_HINTS = Hints()


def sent_again(call_id: str | None) -> bool:
    """Whether a call is a client's: it goes on when the client sends it again, and nobody has to execute it."""
    return call_id is not None and _OF_A_CALL.fullmatch(call_id) is not None
