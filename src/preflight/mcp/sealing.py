"""What a modern client carries between two requests, sealed: it can neither be read, changed nor used elsewhere."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from typing import Any, Final

import msgspec

from preflight.mcp.eras import Object
from preflight.mcp.sdk import INVALID_PARAMS, AESGCMRequestStateCodec, InvalidRequestState, MCPError

_PREFIX: Final = "preflight."
_SECONDS: Final = 900.0


class Sealing:
    """Seals under a key of this process: what an earlier one sealed is not taken."""

    def __init__(self) -> None:
        """Make the key."""
        self._codec = AESGCMRequestStateCodec([secrets.token_bytes(32)])

    def seal(self, params: Object, state: Object) -> str:
        """Return a token for this call, valid for a quarter of an hour."""
        return _PREFIX + self._codec.seal(msgspec.json.encode([time.time() + _SECONDS, _call(params), state]))

    def opened(self, params: Object) -> Object | None:
        """Return what was sealed for this very call; None where the request carries nothing of ours.

        Raises MCPError for a token that was changed, is too old, or belongs to another call.
        """
        token = params.get("requestState")
        if not isinstance(token, str) or not token.startswith(_PREFIX):
            return None
        try:
            ends, call, state = msgspec.json.decode(self._codec.unseal(token[len(_PREFIX) :]))
        except (InvalidRequestState, ValueError, UnicodeError):
            raise MCPError(INVALID_PARAMS, "the `requestState` was not made here, or was changed") from None
        if call != _call(params):
            raise MCPError(INVALID_PARAMS, "the `requestState` belongs to another call")
        if time.time() > ends:
            raise MCPError(INVALID_PARAMS, "the `requestState` is too old; send the call again without it")
        opened: dict[str, Any] = state
        return opened


def _call(params: Object) -> str:
    named = [params.get("name"), params.get("uri"), params.get("arguments")]
    return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()
