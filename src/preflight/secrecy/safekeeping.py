"""Which keys sign and encrypt for a store, when nobody says otherwise (decision 0070).

In this order: keys from the environment; the key file that `PREFLIGHT_KEYS` names; for an SQLite file a key
file beside it; for a database elsewhere a key file of this account; for a store in memory keys that die with
the process. Key files and vaults are readable by their owner alone, and made when they are first needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from preflight.clock import iso
from preflight.ports import Clock, Storage
from preflight.secrecy.vault import Vault
from preflight.secrecy.vault.subjects import FiledSubjectKeys, MemorySubjectKeys
from preflight.secrecy.vault.wrapping import FiledMasters, LocalMasters, masters_from
from preflight.signing.environment import keyring_from
from preflight.signing.filed import FiledKeyring
from preflight.signing.keyfile import KeyFile
from preflight.signing.keyring import Keyring
from preflight.signing.keys import HmacKey, new_hmac

KEYS = "PREFLIGHT_KEYS"
"""Names the key file."""
VAULT = "PREFLIGHT_VAULT"
"""Names the file of the wrapped data keys."""
MEMORY = ":memory:"


class Places:
    """Where keys are for one store: `keys` and `vault` are files, or None for a store in memory."""

    def __init__(self, storage: Storage, environment: Mapping[str, str] = os.environ) -> None:
        """Look at the store and the environment; nothing is made."""
        storage = getattr(storage, "whole", storage)  # of a tenant's part, the keys of the whole
        where = _file_of(storage)
        self.keys = _path(environment.get(KEYS)) or (Path(f"{where}.keys") if where else None)
        self.vault = _path(environment.get(VAULT)) or (Path(f"{where}.vault") if where else None)
        if where is None and _is_elsewhere(storage):
            home = state_folder(environment)
            self.keys, self.vault = self.keys or home / "keys", self.vault or home / "vault"


def default_signer(
    storage: Storage, clock: Clock, environment: Mapping[str, str] = os.environ
) -> Keyring | FiledKeyring:
    """Return what signs the records of a store."""
    places = Places(storage, environment)
    ring = keyring_from(environment)
    if ring is not None:
        return ring
    if places.keys is None:
        return _keys_of_this_process()
    return FiledKeyring(KeyFile(places.keys), lambda: iso(clock.now()))


def default_vault(storage: Storage, clock: Clock, environment: Mapping[str, str] = os.environ) -> Callable[[], Vault]:
    """Return what opens the vault of a store when it is first needed."""

    @cache
    def vault() -> Vault:
        places = Places(storage, environment)
        masters = masters_from(environment)
        if places.keys is None or places.vault is None:
            return _vault_of_this_process()
        return Vault(
            FiledSubjectKeys(places.vault), masters or FiledMasters(KeyFile(places.keys), lambda: iso(clock.now()))
        )

    return vault


def state_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return this account's folder for what must last (XDG base directories)."""
    return Path(environment.get("XDG_STATE_HOME") or "~/.local/state").expanduser() / "preflight"


def _file_of(storage: Storage) -> str | None:
    path = getattr(storage, "path", None)
    return path if type(path) is str and path not in ("", MEMORY) and "://" not in path else None


def _is_elsewhere(storage: Storage) -> bool:
    """Whether a store names a database that outlives this process and is no file here."""
    name = getattr(storage, "name", None)
    return type(name) is str and name not in ("", MEMORY)


def _path(text: str | None) -> Path | None:
    return Path(text).expanduser() if text else None


@cache
def _keys_of_this_process() -> Keyring:
    return Keyring(HmacKey(new_hmac()))


@cache
def _vault_of_this_process() -> Vault:
    return Vault(MemorySubjectKeys(), LocalMasters(os.urandom(32)))
