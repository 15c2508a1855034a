"""Calls that wait for their client: a modern client is not asked, it is told to come back with the answer.

The call goes on in a task of its own. What its server asks meanwhile is handed to the client as
`input_required`; the client sends the same request again with the answer, and gets the next question or the result.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup

from preflight.mcp.eras import Object
from preflight.mcp.sdk import INVALID_PARAMS, TIMED_OUT, Inbound, MCPError

PATIENCE: Final = 600.0
"""Seconds that a question of a server waits for its client's answer."""
_OURS: Final = "u:"


class Exchange:
    """A client's call while it is under way: here its server's questions are put to the client."""

    def __init__(self, client: Inbound, patience: float = PATIENCE) -> None:
        """Ask the client of this call, and wait so many seconds for each answer."""
        self.client = client
        self.patience = patience

    async def ask(self, method: str, params: Object) -> Object:
        """Return the client's answer; raises MCPError with what it says instead."""
        return await self.client.ask(method, params, self.patience)


@dataclass
class _Question:
    answered: anyio.Event = field(default_factory=anyio.Event)
    answer: Object | None = None


class Parked(Exchange):
    """A modern client's call, which outlives each of the requests that carry it."""

    def __init__(self, client: Inbound, patience: float = PATIENCE) -> None:
        """Ask the client of this call, by way of the request that is open."""
        super().__init__(client, patience)
        self.ticket = ""
        self.tickets: list[str] = []
        self.shown: tuple[str, Object] | None = None
        self.events, self._heard = anyio.create_memory_object_stream[tuple[str, Any]](math.inf)
        self.scope = anyio.CancelScope()
        self._questions: dict[str, _Question] = {}

    async def ask(self, method: str, params: Object) -> Object:
        """Wait until the client came back with an answer."""
        key = secrets.token_urlsafe(6)
        question = self._questions[key] = _Question()
        await self.events.send((key, {"method": method, "params": params}))
        try:
            with anyio.fail_after(self.patience):
                await question.answered.wait()
        except TimeoutError:
            text = f"the client did not come back with an answer within {self.patience:g} seconds"
            raise MCPError(TIMED_OUT, text) from None
        finally:
            del self._questions[key]
        return question.answer or {}

    def issue(self) -> str:
        """Return what the client is to come back with, once: what was issued before is worth nothing any more."""
        self.ticket = secrets.token_urlsafe(12)
        self.tickets.append(self.ticket)
        return self.ticket

    def take(self, responses: object) -> None:
        """Hand the answers that a client brought to those who wait for them."""
        for key, answer in (responses if isinstance(responses, dict) else {}).items():
            question = self._questions.get(key.removeprefix(_OURS)) if key.startswith(_OURS) else None
            if question is not None and isinstance(answer, dict):
                question.answer = answer
                question.answered.set()

    @property
    def waits(self) -> bool:
        """Whether the question that the client was shown is still without an answer."""
        question = self._questions.get(self.shown[0]) if self.shown else None
        return question is not None and not question.answered.is_set()

    async def next(self) -> tuple[str, Any]:
        """Return the next question, or the outcome."""
        return await self._heard.receive()


Work = Callable[[Exchange], Awaitable[Object]]


class Parking:
    """The calls that wait."""

    def __init__(self, patience: float = PATIENCE) -> None:
        """Hold none yet; each question waits so many seconds for its client."""
        self._patience = patience
        self._held: dict[str, Parked] = {}
        self._tasks: TaskGroup

    def belongs_to(self, tasks: TaskGroup) -> None:
        """Run the calls in these tasks."""
        self._tasks = tasks

    async def run(self, client: Inbound, work: Work) -> tuple[Object, str | None]:
        """Do the work; return the result, or what the client is to answer first and the ticket to come back with."""
        call = Parked(client, self._patience)
        self._tasks.start_soon(self._work, call, work)
        return await self._heard(call)

    async def resume(self, client: Inbound, ticket: str) -> tuple[Object, str | None]:
        """Go on with a call whose client came back; raises MCPError for one that is over, or that went on already.

        Of several requests with one ticket the first goes on with the call, and the others have nothing to do with it.
        """
        call = self._held.get(ticket)
        if call is None:
            raise MCPError(INVALID_PARAMS, "the call that this answers is over; send it again without `requestState`")
        if ticket != call.ticket:
            raise MCPError(INVALID_PARAMS, "another request with this `requestState` goes on with the call already")
        call.ticket = ""
        call.client = client
        call.take(client.params.get("inputResponses"))
        return self._put(call) if call.waits else await self._heard(call)

    async def _heard(self, call: Parked) -> tuple[Object, str | None]:
        try:
            key, value = await call.next()
        except anyio.get_cancelled_exc_class():  # the client gave it up
            call.scope.cancel()
            raise
        if key == "raised":
            raise value
        if key == "done":
            return value, None
        call.shown = (key, value)
        return self._put(call)

    def _put(self, call: Parked) -> tuple[Object, str]:
        """Show the client the question that waits for it, once more where it came back without an answer."""
        assert call.shown is not None  # noqa: S101  it was just asked
        key, value = call.shown
        ticket = call.issue()
        self._held[ticket] = call
        return {"resultType": "input_required", "inputRequests": {f"{_OURS}{key}": value}}, ticket

    async def _work(self, call: Parked, work: Work) -> None:
        try:
            with call.scope:
                try:
                    outcome: tuple[str, Any] = ("done", await work(call))
                except Exception as fault:  # noqa: BLE001  raised again where the client waits
                    outcome = ("raised", fault)
                call.events.send_nowait(outcome)
        finally:
            for ticket in call.tickets:
                self._held.pop(ticket, None)
