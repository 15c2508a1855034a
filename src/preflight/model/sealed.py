"""An encrypted value as it stands in a record, a question or an answer (R-78)."""

from __future__ import annotations

import msgspec

MASK = "[secret]"
"""What stands where a secret value was."""


class Sealed(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One value, encrypted under the data key of the person it belongs to.

    `key` is the id of that key; `box` holds nonce and ciphertext; `digest` is a keyed hex digest by which
    equal values of one person and one slot can be found without opening any of them.
    """

    key: str
    box: bytes
    digest: str | None = None
