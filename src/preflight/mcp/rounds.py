"""A request that a modern server answers with questions: they are put, and the request is sent again with the answers.

From its first question on a server has begun, whatever it answers then (R-76). What the asked client says instead of an
answer is the client's word, and none of the server's.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Final

from preflight.mcp import eras
from preflight.mcp.eras import Object
from preflight.mcp.sdk import CLOSED, TIMED_OUT, MCPError, NotBegun

Put = Callable[[str, Object], Awaitable[Object]]
"""Puts a question to the client, by its method and parameters; raises MCPError with what it says instead."""
Send = Callable[[Object], Awaitable[Object]]
"""Sends the request with these parameters."""
_ROUNDS: Final = 10
_log = logging.getLogger("preflight.mcp")


class Unanswered(MCPError):
    """A server asked, and got no answer: the request ends, and whether it took effect is not known."""

    def __init__(self, text: str) -> None:
        """Say so, with a code that no server refuses with."""
        super().__init__(TIMED_OUT, text)


async def answered(name: str, params: Object, result: Object, put: Put, send: Send) -> Object:
    """Return the result in the end, where `name` answered a request with these parameters with a question."""
    rounds = 0
    # only a modern server may be sent to again, and only so often as the package's client would
    while eras.asks(result):
        rounds += 1
        if rounds > _ROUNDS or not (result.get("inputRequests") or "requestState" in result):
            raise Unanswered(f"`{name}` asks for more without end, or for nothing")
        answers = {key: await _answer(name, put, wanted, asked) for key, wanted, asked in eras.input_requests(result)}
        again = {**params, "inputResponses": answers}
        if "requestState" in result:
            again["requestState"] = result["requestState"]
        try:
            result = await send(again)
        except NotBegun as fault:
            raise MCPError(fault.code, fault.message, fault.data) from None
    return result


async def _answer(name: str, put: Put, method: str, params: Object) -> Object:
    """Return a client's answer, or what the protocol has for none; raises Unanswered where it has nothing."""
    try:
        return await put(method, params)
    except MCPError as fault:
        said = f"`{name}` asked `{method}` within the call, and the client answered with an error: {fault.message}"
        if fault.code in (CLOSED, TIMED_OUT) or method != eras.ASKS_A_PERSON:
            raise Unanswered(said) from fault
        _log.warning("%s; the server was told that nobody answered", said)
        return {"action": "cancel"}
