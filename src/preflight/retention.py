"""How long records are kept: bodies of old ones are removed, and a signed tombstone stays in their place (R-71)."""

from __future__ import annotations

from collections.abc import Mapping

from preflight.audit.head import HeadSigner
from preflight.audit.tombstone import Burial, burials
from preflight.ports import Storage


def graves(storage: Storage, signer: HeadSigner) -> tuple[Mapping[int, Burial], list[str]]:
    """Return what the tombstones of a store say, by place in the log; and why some do not count."""
    tombstones = getattr(storage, "tombstones", None)
    return burials(tombstones() if callable(tombstones) else (), signer)
