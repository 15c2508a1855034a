from __future__ import annotations

import base64
from pathlib import Path

import pytest

from preflight.errors import VaultError
from preflight.secrecy.safekeeping import Places, default_signer, default_vault, state_folder
from preflight.secrecy.vault import Subject
from preflight.signing import HmacKey, Keyring
from preflight.signing.filed import FiledKeyring
from preflight.storage.sqlite import SqliteStorage
from preflight.storage.tenancy import TenantStorage
from preflight.testing import FakeClock, MemoryStorage

BODY = b"{}"
MINJI = Subject("bank", "minji")
SECRET = base64.b64encode(b"s" * 32).decode()


class Elsewhere(MemoryStorage):
    """A store that names a database somewhere."""

    name = "postgresql://host/records"


def test_for_a_file_the_keys_lie_beside_it(tmp_path: Path) -> None:
    storage = SqliteStorage(tmp_path / "r.db")
    places = Places(storage, {})
    assert (places.keys, places.vault) == (tmp_path / "r.db.keys", tmp_path / "r.db.vault")
    first, again = (default_signer(storage, FakeClock(), {}) for _ in range(2))
    again.verify(BODY, first.sign(BODY))
    assert Places(TenantStorage(storage, "a"), {}).keys == places.keys
    storage.close()


def test_in_memory_they_are_the_processes_own() -> None:
    one, other = default_signer(MemoryStorage(), FakeClock(), {}), default_signer(MemoryStorage(), FakeClock(), {})
    other.verify(BODY, one.sign(BODY))
    in_memory = SqliteStorage(":memory:")
    assert (Places(in_memory, {}).keys, Places(in_memory, {}).vault) == (None, None)
    vault = default_vault(MemoryStorage(), FakeClock(), {})
    assert vault() is vault()
    assert vault().open(MINJI, "d", vault().seal(MINJI, "d", {"/a": 1}, {})) == {"/a": 1}


def test_for_a_database_elsewhere_they_are_this_accounts(tmp_path: Path) -> None:
    environment = {"XDG_STATE_HOME": str(tmp_path)}
    places = Places(Elsewhere(), environment)
    assert (places.keys, places.vault) == (tmp_path / "preflight" / "keys", tmp_path / "preflight" / "vault")
    assert state_folder({}) == Path("~/.local/state/preflight").expanduser()
    signer = default_signer(Elsewhere(), FakeClock(), environment)
    signer.verify(BODY, signer.sign(BODY))
    vault = default_vault(Elsewhere(), FakeClock(), environment)()
    assert vault.open(MINJI, "d", vault.seal(MINJI, "d", {"/a": 1}, {})) == {"/a": 1}
    assert {path.name for path in (tmp_path / "preflight").iterdir()} == {"keys", "keys.lock", "vault"}


def test_the_environment_comes_first(tmp_path: Path) -> None:
    storage = SqliteStorage(tmp_path / "r.db")
    key = HmacKey(b"s" * 32)
    signer = default_signer(storage, FakeClock(), {"PREFLIGHT_SIGNING_KEY": f"hs256:{SECRET}"})
    assert isinstance(signer, Keyring)
    assert signer.active == key.id
    named = {
        "PREFLIGHT_KEYS": str(tmp_path / "other"),
        "PREFLIGHT_VAULT": str(tmp_path / "v"),
        "PREFLIGHT_MASTER_KEY": SECRET,
    }
    assert isinstance(default_signer(storage, FakeClock(), named), FiledKeyring)
    default_signer(storage, FakeClock(), named).sign(BODY)
    sealed = default_vault(storage, FakeClock(), named)().seal(MINJI, "d", {"/a": 1}, {})
    assert {path.name for path in tmp_path.iterdir()} >= {"other", "v"}
    another = named | {"PREFLIGHT_MASTER_KEY": base64.b64encode(b"t" * 32).decode()}
    with pytest.raises(VaultError, match="is not at hand"):
        default_vault(storage, FakeClock(), another)().open(MINJI, "d", sealed)
    storage.close()
