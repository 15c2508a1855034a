"""Which clients were asked so far, and whether a person answers there: read off answers and missing answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from preflight.mcp.silence import INSTANT_SECONDS
from preflight.model.question import Question
from preflight.ports import Query, Storage

LOOKED_AT: Final = 500
"""How many of the newest decisions that asked are looked at."""
_FORM: Final = re.compile(r"form \((?P<client>.*), (?P<seconds>[0-9.]+) s\)")


class ClientSeen(msgspec.Struct, kw_only=True):
    """What came of the questions put to a client: forms filled in, and questions put in vain.

    Of both, `by_itself` were filled in or refused at once, which no person does (R-92).
    """

    client: str
    answered: int = 0
    in_vain: int = 0
    by_itself: int = 0
    last: str = ""

    @property
    def asks(self) -> bool:
        """Whether a person was seen to answer or to take their time: the client can ask."""
        return self.answered + self.in_vain > self.by_itself


def clients_seen(storage: Storage) -> list[ClientSeen]:
    """Return the clients that questions were put to, the last one first; without those of which no record tells."""
    seen: dict[str, ClientSeen] = {}
    for question in _questions(storage):
        for silence in storage.no_answers(question.question_id):
            client = seen.setdefault(silence.client, ClientSeen(client=silence.client)) if silence.client else None
            if client is not None:
                client.in_vain += 1
                client.by_itself += silence.at_once
                client.last = max(client.last, silence.at)
        answer = storage.answer_to(question.question_id)
        if answer is not None and (form := _FORM.fullmatch(answer.channel)):
            client = seen.setdefault(form["client"], ClientSeen(client=form["client"]))
            client.answered += 1
            client.by_itself += float(form["seconds"]) < INSTANT_SECONDS
            client.last = max(client.last, answer.answered_at)
    return sorted(seen.values(), key=lambda client: client.last, reverse=True)


def _questions(storage: Storage) -> Iterator[Question]:
    for stored in storage.find(Query(decision="ask_user", limit=LOOKED_AT)):
        question = storage.question(stored.record.question_id) if stored.record.question_id else None
        if question is not None:
            yield question
