"""Whether a server says of a request that it did not begin (R-76): with an error of that kind, as its first word on it.

A server that asked, told or reported anything after the request was sent had begun, whatever it answers then. Nobody
can say of which request it spoke, so that what it says counts for all that are open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self

import mcp_types as types
from mcp import MCPError
from mcp.shared.message import SessionMessage

NOT_BEGUN: Final = (
    types.METHOD_NOT_FOUND,
    types.INVALID_PARAMS,
    types.INVALID_REQUEST,
    types.PARSE_ERROR,
    types.URL_ELICITATION_REQUIRED,
)
"""With these a server says that it did not begin (decision 0004); with the last, that somebody has to sign in first."""


class NotBegun(MCPError):
    """A server's error that says that it did not begin what it was asked for."""


@dataclass
class Telling(SessionMessage):
    """An error whose way of coming tells whether something began, whatever its code: by an HTTP status, say."""

    began: bool = True


def speaks(item: SessionMessage) -> bool:
    """Whether a message is of the server's own accord; asking whether somebody is there is no sign of work."""
    message = item.message
    return isinstance(message, types.JSONRPCRequest | types.JSONRPCNotification) and message.method != "ping"


class FirstWords:
    """What a server sends, as it comes, with a note of what it said between a request and that request's error."""

    def __init__(self, stream: Any) -> None:
        """Read from `stream`."""
        self.spoken = 0
        """How often the server said something by itself."""
        self._stream = stream
        self._sent: dict[int | str, int] = {}
        self._first: dict[int | str, bool] = {}

    def sends(self, identifier: int | str) -> None:
        """Remember that a request is about to be sent."""
        self._sent[identifier] = self.spoken

    def judged(self, identifier: int | str, fault: MCPError) -> MCPError:
        """Return the error that a request ended with, as `NotBegun` where it is one."""
        told = self._first.get(identifier)
        if told is None or not (told or fault.code in NOT_BEGUN):
            return fault
        return NotBegun(fault.code, fault.message, fault.data)

    def over(self, identifier: int | str) -> None:
        """Forget a request."""
        self._sent.pop(identifier, None)
        self._first.pop(identifier, None)

    def __aiter__(self) -> Self:
        """Iterate over the messages."""
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        """Return the next message."""
        item: SessionMessage | Exception = await self._stream.__anext__()
        if isinstance(item, SessionMessage):
            self._note(item)
        return item

    def _note(self, item: SessionMessage) -> None:
        message = item.message
        if speaks(item):
            self.spoken += 1
        elif isinstance(message, types.JSONRPCError) and message.id is not None:
            began = item.began if isinstance(item, Telling) else None
            if self._sent.get(message.id) == self.spoken and not began:
                self._first[message.id] = began is False

    async def __aenter__(self) -> Self:
        """Open the stream."""
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Close it."""
        await self._stream.__aexit__(*raised)
