"""Several servers asked side by side: each has its own time, and one that fails is left out and named.

Decision 0131 has the reasons.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

import anyio
from anyio.abc import TaskGroup

from preflight.errors import describe, storable
from preflight.mcp.eras import Object
from preflight.mcp.sdk import CLOSED, Inbound, MCPError
from preflight.mcp.upstream import Upstream
from preflight.render.visible import visible

T = TypeVar("T")
PATIENCE: Final = 8.0
"""Seconds that each of several servers has to be greeted, and again to list: some clients give up after 10."""
LEFT_OUT: Final = "preflight/left_out"
"""The key in a result's `_meta` under which servers stand that it has nothing of, with the reason."""
WHAT_TO_DO: Final = "`preflight doctor` with the same options says how each server stands"
_LONGEST: Final = 300
_log = logging.getLogger("preflight.mcp")


@dataclass
class _Meeting:
    """A greeting under way: whoever waits for it may give up, and it goes on."""

    over: anyio.Event = field(default_factory=anyio.Event)
    fault: Exception | None = None
    missed: bool = False


class Together:
    """The servers, and how long each of several is waited for. With one server alone nothing is bounded."""

    def __init__(self, servers: Sequence[Upstream], seconds: float = PATIENCE) -> None:
        """Ask `servers`, each for so many seconds at most."""
        self._servers = servers
        self._seconds = seconds
        self._meetings: dict[str, _Meeting] = {}
        self._tasks: TaskGroup
        self._late: Callable[[Upstream], Awaitable[None]]

    def belongs_to(self, tasks: TaskGroup, late: Callable[[Upstream], Awaitable[None]]) -> None:
        """Greet in these tasks; `late` hears of a server that was greeted after it had been left out."""
        self._tasks, self._late = tasks, late

    async def each(
        self, client: Inbound, what: str, ask: Callable[[Upstream], Awaitable[T]]
    ) -> tuple[dict[str, T], dict[str, str]]:
        """Return what each server answered, and of the others why they did not; raises MCPError where none did."""
        answers: dict[str, T] = {}
        faults: dict[str, str] = {}

        async def one(server: Upstream) -> None:
            with anyio.move_on_after(self._seconds) as time:
                try:
                    await self._met(client, server)
                    answers[server.name] = await ask(server)
                except Exception as fault:  # noqa: BLE001  whatever it is, the others still count
                    faults[server.name] = _shown(fault)
            if time.cancelled_caught:
                self._missed(server)
                faults[server.name] = f"it did not answer within {self._seconds:g} seconds"

        async with anyio.create_task_group() as tasks:
            for server in self._servers:
                tasks.start_soon(one, server)
        for name, why in faults.items():
            _log.warning("`%s` is left out of `%s`: %s", visible(name), what, why)
        if not answers:
            raise MCPError(CLOSED, f"none of the servers answered `{what}`: {_listed(faults)}; {WHAT_TO_DO}")
        # in the order of the servers, whichever was first
        return {each.name: answers[each.name] for each in self._servers if each.name in answers}, faults

    async def tell(self, tell: Callable[[Upstream], Awaitable[None]]) -> None:
        """Tell every server something; one that takes nothing keeps it from no other."""

        async def one(server: Upstream) -> None:
            with anyio.move_on_after(self._seconds):
                await tell(server)

        async with anyio.create_task_group() as tasks:
            for server in self._servers:
                tasks.start_soon(one, server)

    async def _met(self, client: Inbound, server: Upstream) -> None:
        """Wait until a server is greeted. The greeting is nobody's own, so that giving up does not end it."""
        if server.there is not None:
            return
        meeting = self._meetings.get(server.name)
        if meeting is None:
            meeting = self._meetings[server.name] = _Meeting()
            self._tasks.start_soon(self._meet, client, server, meeting)
        await meeting.over.wait()
        if meeting.fault is not None:
            raise meeting.fault

    async def _meet(self, client: Inbound, server: Upstream, meeting: _Meeting) -> None:
        try:
            await server.greet(client)
        except Exception as fault:  # noqa: BLE001  it is told to those who wait
            meeting.fault = fault
        finally:
            del self._meetings[server.name]
            meeting.over.set()
        if meeting.missed and meeting.fault is None:
            await self._late(server)

    def _missed(self, server: Upstream) -> None:
        meeting = self._meetings.get(server.name)
        if meeting is not None:
            meeting.missed = True


def noted(result: Object, faults: Mapping[str, str]) -> Object:
    """Return a result that names in `_meta` the servers it has nothing of."""
    if not faults:
        return result
    return {**result, "_meta": {**result.get("_meta", {}), LEFT_OUT: dict(faults)}}


def instructed(faults: Mapping[str, str]) -> str:
    """Return the sentence for a client's instructions; why a server fails is its own text, and not repeated there."""
    return f"Left out, since they did not answer the proxy: {', '.join(f'`{visible(name)}`' for name in faults)}."


def _shown(fault: Exception) -> str:
    return storable(visible(fault.message if isinstance(fault, MCPError) else describe(fault)), _LONGEST)


def _listed(faults: Mapping[str, str]) -> str:
    return "; ".join(f"`{visible(name)}`: {why}" for name, why in faults.items())
