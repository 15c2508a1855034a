"""Requests to the bank, as an agent would send them."""

from __future__ import annotations

import json
from typing import Any

from tests.acceptance.terminal import REQUESTS

TRANSFER: dict[str, Any] = json.loads((REQUESTS / "invented_account.json").read_text(encoding="utf-8"))


def transfer(text: str = "send 500,000 won to my landlord", **changes: object) -> dict[str, Any]:
    """Return the example request with other words, or with other keys."""
    return {**TRANSFER, "instruction": [{"text": text, "trust": "user"}], **changes}


def complete() -> dict[str, Any]:
    """Return a request whose every value is in the user's words."""
    claims = {"from_account": "1102534471", "to_account": "3520198845", "amount": 500_000}
    return transfer("send 500,000 won to 3520198845", claims=claims)
