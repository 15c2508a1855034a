"""Whether the server of a program's own session said something while a call was open: the session does not tell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from weakref import WeakKeyDictionary

import mcp_types as types
from mcp import ClientSession, MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import SessionMessage

from preflight.mcp.firstword import NotBegun, speaks

# over HTTP the package itself says INVALID_REQUEST and PARSE_ERROR of answers that it cannot understand
_NOT_BEGUN: Final = (types.METHOD_NOT_FOUND, types.INVALID_PARAMS, types.URL_ELICITATION_REQUIRED)


class Overheard:
    """Counts what a session's server says by itself."""

    def __init__(self, session: ClientSession) -> None:
        """Listen to the session from now on; one whose messages cannot be seen leaves every error in doubt."""
        self._spoken = 0
        dispatcher: Any = session._dispatcher  # noqa: SLF001
        self._hears = isinstance(dispatcher, JSONRPCDispatcher)
        if self._hears:
            self._hand_on = dispatcher._dispatch  # noqa: SLF001
            dispatcher._dispatch = self._take  # noqa: SLF001

    async def _take(self, item: SessionMessage | Exception, *rest: Any) -> None:
        self._spoken += isinstance(item, SessionMessage) and speaks(item)
        await self._hand_on(item, *rest)

    @contextmanager
    def first_word(self) -> Iterator[None]:
        """Raise NotBegun where what is sent inside ends with an error that says so, and nothing came before (R-76)."""
        before = self._spoken
        try:
            yield
        except MCPError as fault:
            if self._hears and self._spoken == before and fault.code in _NOT_BEGUN:
                raise NotBegun(fault.code, fault.message, fault.data) from fault
            raise


_known: WeakKeyDictionary[ClientSession, Overheard] = WeakKeyDictionary()


def overheard(session: ClientSession) -> Overheard:
    """Return what counts for this session: it is listened to once, however many gates stand before it."""
    if session not in _known:
        _known[session] = Overheard(session)
    return _known[session]
