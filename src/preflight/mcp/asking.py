"""Putting a question to the person: by the client's form, by the answer page, or by telling where it waits.

Which channel is enough the rules say (`ask_by`, decision 0088): clients have been seen to fill in forms by themselves,
so by default a form is enough for what can be undone, and only the page or a terminal for what cannot.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

import anyio

from preflight.api import AsyncPreflight
from preflight.errors import AnswerRefused, InvalidInput, StorageError, describe
from preflight.mcp.eras import Object
from preflight.mcp.form import answers_of, form_of
from preflight.mcp.jsontext import exact
from preflight.mcp.nopage import at_a_terminal
from preflight.mcp.sdk import Inbound, MCPError
from preflight.mcp.silence import INSTANT_SECONDS, note_silence
from preflight.model.channel import Channel, enough
from preflight.model.question import Question, Silent
from preflight.render.hints import NO_HINTS, Hints
from preflight.render.question import call_words
from preflight.render.visible import visible
from preflight.results import Accepted, Checked

GATE_KEY: Final = "preflight"
"""The key of our own question among those that a modern client answers."""
CHANNEL: Final = "elicitation"
"""How a client is asked, by a form or a link: what is noted where nobody answers."""
_REFUSALS: Final[dict[str, Silent]] = {"decline": "decline", "cancel": "cancel"}
_POLL_SECONDS: Final = 0.5
_TRIES: Final = 3


class Page(Protocol):
    """Where a question can be answered in a browser."""

    async def link(self, question: Question) -> str | None:
        """Return a link that opens this question once, for the person alone; None where no page is served."""
        ...

    def where(self, question: Question) -> str:
        """Say where a person answers, in words that may reach a model: without anything that opens the page."""
        ...

    async def answered(self, question_id: str, seconds: float) -> bool:
        """Wait for an answer given on the page."""
        ...


@dataclass(frozen=True)
class Answered:
    """The question was answered; `checked` is the verdict where the answer led to one at once."""

    checked: Checked | None


@dataclass(frozen=True)
class Suspended:
    """A modern client is to come back with the answer: this is the result it gets; `page` says that a link is in it."""

    requests: Object
    page: bool = False


@dataclass(frozen=True)
class Open:
    """Nobody answered: the question waits. `why` says what happened, for people."""

    why: str = ""


Outcome = Answered | Suspended | Open


class Asking:
    """Asks through one client after another."""

    def __init__(self, gate: AsyncPreflight, page: Page, person: str, hints: Hints = NO_HINTS) -> None:
        """Answers are given to `gate` in the name of `person`, the user whose client this is.

        `hints` make what is said of a terminal a command that works there.
        """
        self.hints = hints
        self._gate = gate
        self._page = page
        self._person = person

    async def where(self, question: Question) -> str:
        """Say where a person can answer."""
        if await self._enough("page", question):
            return self._page.where(question)
        return at_a_terminal(question, self.hints)

    async def ask(self, client: Inbound, question: Question, seconds: float, why: str = "") -> Outcome:
        """Put a question to the person at the client, for so many seconds at most.

        `why` says what was wrong with an answer before.
        """
        about = await anyio.to_thread.run_sync(self._about, question)
        message = "\n".join([*([why] if why else []), about])
        elicitation = client.client.capabilities.get("elicitation")
        able = elicitation if isinstance(elicitation, dict) else None
        form = form_of(question) if able is not None and _takes_forms(able) else None
        if form is not None and await self._enough("form", question):
            params = {"message": message, "requestedSchema": form}
            if client.version not in ("2025-06-18", "2025-03-26", "2024-11-05"):
                params = {"mode": "form", **params}
            return await self._elicit(client, question, params, seconds, about)
        opens = able is not None and "url" in able and await self._enough("page", question)
        link = await self._page.link(question) if opens else None
        if link is not None:
            params = {"mode": "url", "message": message, "url": link}
            if client.era == "handshake":
                params["elicitationId"] = question.question_id
            return await self._elicit(client, question, params, seconds, about)
        return Open("" if able is not None else "This client cannot ask the person.")

    def _about(self, question: Question) -> str:
        """Return what is asked, and about which call: two that wait may ask for the same."""
        stored = self._gate.storage.get(question.decision_id)
        call = call_words(None if stored is None else stored.record)
        return f"{visible(question.message)}\nThis is about {call}." if call else visible(question.message)

    async def _enough(self, channel: Channel, question: Question) -> bool:
        return enough(channel, await anyio.to_thread.run_sync(self._gate.ask_by, question))

    async def _elicit(self, client: Inbound, question: Question, params: Object, seconds: float, about: str) -> Outcome:
        if client.era == "modern":
            return Suspended({GATE_KEY: {"method": "elicitation/create", "params": params}}, _opens(params))
        if not client.can_ask:
            return Open("This client's connection has no way back to it.")
        began = time.monotonic()
        for _ in range(_TRIES):
            asked = time.monotonic()
            left = seconds - (asked - began)
            said = await self._first(client, question, params, left)
            outcome = await self.heard(client, question, said, time.monotonic() - asked, left, page=_opens(params))
            if _opens(params) and isinstance(outcome, Answered):
                await client.notify("notifications/elicitation/complete", {"elicitationId": question.question_id})
            if not isinstance(outcome, Refill):
                return outcome
            params = {**params, "message": f"{outcome.why}\n{about}"}
        return Open("What was filled in did not fit.")

    async def heard(
        self, client: Inbound, question: Question, said: object, took: float, left: float, *, page: bool
    ) -> Answered | Open | Refill:
        """Take what came back from a client: to a form, or to a link to the `page`.

        `took` is how long that was, `left` how long may still be waited.
        """
        if said is _ELSEWHERE:
            return Answered(None)
        if said is _NOBODY:
            return await self._unanswered(client, question, "time_out", took, "Nobody answered.")
        reply = reply_of(said, page=page)
        if isinstance(reply, dict):
            return await self._filled_in(client, question, reply, took)
        if reply == "opened":  # which is no answer yet
            if await self._elsewhere(question, left):
                return Answered(None)
            return await self._unanswered(client, question, "time_out", took + max(left, 0.0), "Nobody answered yet.")
        return await self._unanswered(client, question, reply, took, _why(reply, said, took))

    async def _filled_in(
        self, client: Inbound, question: Question, content: Object, took: float
    ) -> Answered | Open | Refill:
        try:
            values = answers_of(question, {name: exact(value, name) for name, value in content.items()})
        except InvalidInput as fault:
            return Refill(str(fault))
        if not values:
            return await self._unanswered(client, question, "empty", took, _EMPTY)
        channel = f"form ({_who(client)}, {took:.1f} s)"
        try:
            answered = await self._gate.answer(question.question_id, values, person=self._person, channel=channel)
        except AnswerRefused as refused:
            if await self._is_answered(question):
                return Answered(None)  # somebody was quicker: the first answer stands
            return Refill(str(refused))
        except StorageError as fault:
            return Open(f"The answer could not be stored: {visible(str(fault))}")
        return Answered(None if isinstance(answered, Accepted) else answered)

    async def _unanswered(self, client: Inbound, question: Question, how: Silent, took: float, why: str) -> Open:
        """Keep that this client brought no answer (R-92)."""
        await anyio.to_thread.run_sync(note_silence, self._gate, question, CHANNEL, how, took, _who(client))
        return Open(why)

    async def _first(self, client: Inbound, question: Question, params: Object, seconds: float) -> object:
        """Return what the client says, or that an answer was given elsewhere, whichever is first; or that none was."""
        said: list[object] = []

        async def by_client() -> None:
            try:
                said.append(await client.ask("elicitation/create", params))
            except MCPError as fault:
                said.append(Broken(f"The client answered the question with an error ({fault.code})."))
            except Exception as fault:  # noqa: BLE001  R-92: whatever it is, it is no answer
                said.append(Broken(f"The question could not be put: {visible(describe(fault))}"))
            tasks.cancel_scope.cancel()

        async def elsewhere() -> None:
            if await self._elsewhere(question, seconds):
                said.append(_ELSEWHERE)
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(by_client)
            tasks.start_soon(elsewhere)
        return said[0] if said else _NOBODY

    async def _elsewhere(self, question: Question, seconds: float) -> bool:
        """Wait for an answer on the page of this proxy, or in a terminal: that one only shows in the store."""
        with anyio.move_on_after(max(0.0, seconds)):
            while not await self._is_answered(question):
                await self._page.answered(question.question_id, _POLL_SECONDS)
            return True
        return False

    async def _is_answered(self, question: Question) -> bool:
        found: Any = await anyio.to_thread.run_sync(self._gate.storage.answer_to, question.question_id)
        return found is not None


@dataclass(frozen=True)
class Refill:
    """What was filled in does not fit; the form may be shown once more."""

    why: str


@dataclass(frozen=True)
class Broken:
    """What came in place of what a client answers to a question, in words."""

    why: str


def reply_of(said: object, *, page: bool) -> Object | Silent | Literal["opened"]:
    """Return what was filled in, or that the page was opened, or what came instead of either (R-92).

    The protocol has three words for it, and an object for what stands in a form. Whatever is neither says nothing, and
    nobody is waited for on account of it.
    """
    if not isinstance(said, dict):
        return "failed"
    action, content = said.get("action"), said.get("content")
    if action != "accept":
        return _REFUSALS.get(action, "failed") if isinstance(action, str) else "failed"
    if content is not None and not isinstance(content, dict):
        return "failed"
    if page:
        return "opened"
    return "empty" if content is None else content


def _why(how: Silent, said: object, took: float) -> str:
    if isinstance(said, Broken):
        return said.why
    if how in _SAID:
        return _SAID[how]
    return "The client refused at once, by itself." if took < INSTANT_SECONDS else "Nobody answered."


def _opens(params: Object) -> bool:
    return params.get("mode") == "url"


_EMPTY: Final = "The form came back empty."
_SAID: Final[dict[Silent, str]] = {"empty": _EMPTY, "failed": "What the client answered is no answer to a question."}
_ELSEWHERE: Final = object()
_NOBODY: Final = object()


def _takes_forms(able: Object) -> bool:
    return "form" in able or not able or "url" not in able


def _who(client: Inbound) -> str:
    return visible(f"{client.client.name} {client.client.version}".strip())[:80] or "unnamed client"
