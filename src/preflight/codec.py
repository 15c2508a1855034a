"""Records, questions and answers as bytes: encoded once, and those bytes are hashed, stored and read back."""

from __future__ import annotations

import hashlib
from types import MappingProxyType
from typing import TypeVar

import msgspec

from preflight.errors import StorageError
from preflight.model.deferral import Deferral, DeferralNote
from preflight.model.question import Answer, NoAnswer, Question
from preflight.model.record import Record

T = TypeVar("T")


def _plain(value: object) -> object:
    if type(value) is MappingProxyType:
        return dict(value)
    if isinstance(value, float):
        return float(value)  # of a type of its own, the number alone
    message = f"a `{type(value).__name__}` cannot be stored"
    raise NotImplementedError(message)


_ENCODER = msgspec.json.Encoder(order="deterministic", decimal_format="number", enc_hook=_plain)
_RECORD = msgspec.json.Decoder(Record)
_QUESTION = msgspec.json.Decoder(Question)
_ANSWER = msgspec.json.Decoder(Answer)
_NO_ANSWER = msgspec.json.Decoder(NoAnswer)
_DEFERRAL = msgspec.json.Decoder(Deferral)
_NOTE = msgspec.json.Decoder(DeferralNote)


def encode(value: object) -> bytes:
    """Return the one JSON form of a record, question, answer or JSON value: sorted keys, no white space."""
    return _ENCODER.encode(value)


def to_json(value: object) -> object:
    """Return a value as the plain JSON that a record gives back."""
    return msgspec.json.decode(encode(value))


def digest(body: bytes) -> str:
    """Return the hex SHA-256 of stored bytes."""
    return hashlib.sha256(body).hexdigest()


def has_json_form(value: object) -> bool:
    """Whether a value can be written at all: hooks may bring text that cannot."""
    try:
        encode(value)
    except Exception:  # noqa: BLE001  whatever keeps it from being written
        return False
    return True


def digest_of_any(given: object) -> str:
    """Return the hex SHA-256 of what came, or of its type where it cannot even be shown."""
    try:
        body = repr(given)
    except Exception:  # noqa: BLE001  what came may be anything
        body = type(given).__name__
    return hashlib.sha256(body.encode(errors="backslashreplace")).hexdigest()


def decode_record(body: bytes) -> Record:
    """Read a stored record; raises StorageError when the bytes are no record."""
    return _decode(_RECORD, body)


def decode_question(body: bytes) -> Question:
    """Read a stored question; raises StorageError when the bytes are no question."""
    return _decode(_QUESTION, body)


def decode_answer(body: bytes) -> Answer:
    """Read a stored answer; raises StorageError when the bytes are no answer."""
    return _decode(_ANSWER, body)


def decode_no_answer(body: bytes) -> NoAnswer:
    """Read that nobody answered; raises StorageError when the bytes are no such note."""
    return _decode(_NO_ANSWER, body)


def decode_deferral(body: bytes) -> Deferral:
    """Read a deferred run's row; raises StorageError when the bytes are none."""
    return _decode(_DEFERRAL, body)


def decode_note(body: bytes) -> DeferralNote:
    """Read a note about a deferred run; raises StorageError when the bytes are none."""
    return _decode(_NOTE, body)


def _decode(decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    try:
        return decoder.decode(body)
    except msgspec.MsgspecError as fault:
        message = f"stored bytes cannot be read: {fault}"
        raise StorageError(message) from fault
