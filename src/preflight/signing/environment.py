"""Keys from the environment: for containers, where a secret arrives as a variable."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Final

from preflight.errors import ConstructionError
from preflight.signing.keyring import Keyring
from preflight.signing.keys import Ed25519Key, Ed25519PublicKey, HmacKey, VerifyingKey

SIGNING_KEY: Final = "PREFLIGHT_SIGNING_KEY"
"""`hs256:BASE64` or `ed25519:BASE64`: the key that signs."""
VERIFY_KEYS: Final = "PREFLIGHT_VERIFY_KEYS"
"""Further keys that verify, separated by spaces; also `ed25519-public:BASE64`."""
REVOKED_KEYS: Final = "PREFLIGHT_REVOKED_KEYS"
"""Ids of keys that count no more, separated by spaces."""


def keyring_from(environment: Mapping[str, str]) -> Keyring | None:
    """Return the keyring that the variables describe, or None when they name no signing key and no other.

    Raises ConstructionError naming the variable that cannot be read; its value is never quoted.
    """
    signing, others = environment.get(SIGNING_KEY), environment.get(VERIFY_KEYS, "").split()
    if not signing and not others:
        return None
    active = _key(signing, SIGNING_KEY) if signing else None
    if active is not None and not isinstance(active, HmacKey | Ed25519Key):
        message = f"the key in {SIGNING_KEY} can only verify; put it into {VERIFY_KEYS}"
        raise ConstructionError(message)
    revoked = dict.fromkeys(environment.get(REVOKED_KEYS, "").split(), f"listed in {REVOKED_KEYS}")
    return Keyring(active, [_key(text, VERIFY_KEYS) for text in others], revoked)


def _key(text: str, variable: str) -> VerifyingKey:
    algorithm, _, encoded = text.strip().partition(":")
    try:
        material = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        message = f"a key in {variable} is not base64; write it as `hs256:BASE64` or `ed25519:BASE64`"
        raise ConstructionError(message) from None
    match algorithm:
        case "hs256":
            return HmacKey(material)
        case "ed25519":
            return Ed25519Key(material)
        case "ed25519-public":
            return Ed25519PublicKey(material)
    message = f"a key in {variable} has an unknown kind; write it as `hs256:BASE64` or `ed25519:BASE64`"
    raise ConstructionError(message)
