"""The ports: what the shell needs from outside, as protocols. Implementations live in their own rooms."""

from __future__ import annotations

from preflight.ports.log import Admission, Grave, LogHead, Query, RawRecord, Stored
from preflight.ports.outside import Clock, Denies, Hears, Seal, Secrets, Signer, Words
from preflight.ports.storage import Burying, Folding, Scheduling, Storage

__all__ = [
    "Admission",
    "Burying",
    "Clock",
    "Denies",
    "Folding",
    "Grave",
    "Hears",
    "LogHead",
    "Query",
    "RawRecord",
    "Scheduling",
    "Seal",
    "Secrets",
    "Signer",
    "Storage",
    "Stored",
    "Words",
]
