from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from preflight.errors import ConstructionError, Erased, VaultError
from preflight.model.sealed import Sealed
from preflight.secrecy.vault import Subject, SubjectKeys, Vault
from preflight.secrecy.vault.subjects import DataKey, FiledSubjectKeys, MemorySubjectKeys
from preflight.secrecy.vault.wrapping import FiledMasters, LocalMasters, masters_from, with_new_master
from preflight.signing.keyfile import KeyFile

MINJI, ANA = Subject("bank", "minji"), Subject("bank", "ana")
NOW = "2026-03-01T09:00:00+00:00"
MASTER = b"m" * 32
VALUES = {"/fields/0/value": "4711", "/call_arguments/pin": "4711", "/reason": ["x", {"y": None}], "/n": 1.5}
SLOTS = {"/fields/0/value": "pin", "/call_arguments/pin": "pin"}


@pytest.fixture(params=["memory", "file"])
def keys(request: pytest.FixtureRequest, tmp_path: Path) -> SubjectKeys:
    return MemorySubjectKeys() if request.param == "memory" else FiledSubjectKeys(tmp_path / "records.db.vault")


@pytest.fixture
def vault(keys: SubjectKeys) -> Vault:
    return Vault(keys, LocalMasters(MASTER))


def test_what_was_sealed_is_opened_exactly(vault: Vault) -> None:
    sealed = vault.seal(MINJI, "d1", VALUES, SLOTS)
    assert vault.open(MINJI, "d1", sealed) == VALUES
    # not in the whole of it as JSON: one in some hundreds of hexadecimal digests has these digits by chance
    assert not any(b"4711" in each.box for each in sealed.values())
    assert vault.open(MINJI, "d1", {}) == {}


def test_equal_values_of_one_person_have_equal_digests_and_unequal_boxes(vault: Vault) -> None:
    first, second = vault.seal(MINJI, "d1", VALUES, SLOTS), vault.seal(MINJI, "d2", VALUES, SLOTS)
    place, argument = "/fields/0/value", "/call_arguments/pin"
    assert first[place].digest == second[place].digest == first[argument].digest == vault.digest(MINJI, "pin", "4711")
    assert first[place].box != second[place].box
    assert first["/reason"].digest is None
    others = {
        vault.digest(MINJI, "pin", "4712"),
        vault.digest(MINJI, "pin", 4711),
        vault.digest(MINJI, "code", "4711"),
        vault.seal(ANA, "d1", VALUES, SLOTS)[place].digest,
    }
    assert len(others) == 4
    assert first[place].digest not in others
    assert vault.digest(Subject("bank", "nobody"), "pin", "4711") is None
    assert vault.keyed(MINJI, "x") == vault.keyed(MINJI, "x") != vault.keyed(ANA, "x")


def test_a_box_opens_only_where_it_was_put(vault: Vault) -> None:
    sealed = vault.seal(MINJI, "d1", {"/a": 1, "/b": 2}, {})
    with pytest.raises(VaultError, match="`/b` of `d1` was changed, or moved"):
        vault.open(MINJI, "d1", {"/b": sealed["/a"]})
    with pytest.raises(VaultError, match="was changed, or moved"):
        vault.open(MINJI, "d2", {"/a": sealed["/a"]})
    with pytest.raises(Erased):
        vault.open(ANA, "d1", {"/a": sealed["/a"]})
    ana = vault.seal(ANA, "d1", {"/a": 1}, {})["/a"]
    with pytest.raises(VaultError):
        vault.open(MINJI, "d1", {"/a": msgspec.structs.replace(ana, key=sealed["/a"].key)})


def test_document_and_place_are_told_apart(vault: Vault) -> None:
    sealed = vault.seal(MINJI, "d|1", {"/a": 1}, {})["/a"]
    with pytest.raises(VaultError):
        vault.open(MINJI, "d", {"1|/a": sealed})


def test_every_flipped_bit_is_noticed(vault: Vault) -> None:
    sealed = vault.seal(MINJI, "d1", {"/a": "x"}, {})["/a"]
    for at in range(len(sealed.box)):
        box = bytearray(sealed.box)
        box[at] ^= 1
        with pytest.raises(VaultError):
            vault.open(MINJI, "d1", {"/a": msgspec.structs.replace(sealed, box=bytes(box))})
    with pytest.raises(VaultError):
        vault.open(MINJI, "d1", {"/a": Sealed(sealed.key, b"")})


def test_destroying_a_key_erases_one_person(vault: Vault) -> None:
    minji, ana = vault.seal(MINJI, "d1", VALUES, SLOTS), vault.seal(ANA, "d2", VALUES, SLOTS)
    assert vault.destroy(MINJI) is True
    assert vault.destroy(MINJI) is False
    with pytest.raises(Erased, match="`d1` are erased"):
        vault.open(MINJI, "d1", minji)
    assert vault.open(ANA, "d2", ana) == VALUES
    again = vault.seal(MINJI, "d3", VALUES, SLOTS)
    assert vault.open(MINJI, "d3", again) == VALUES
    assert again["/fields/0/value"].digest != minji["/fields/0/value"].digest
    with pytest.raises(Erased):
        vault.open(MINJI, "d1", minji)


def test_a_destroyed_key_is_gone_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "vault"
    keys = FiledSubjectKeys(path)
    vault = Vault(keys, LocalMasters(MASTER))
    vault.seal(MINJI, "d1", VALUES, SLOTS)
    row = keys.get(MINJI)
    assert row is not None
    assert row.wrapped in path.read_bytes()
    vault.destroy(MINJI)
    assert row.wrapped not in path.read_bytes()
    assert [each.name for each in tmp_path.iterdir()] == ["vault"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_master_key_is_rotated_without_touching_records(keys: SubjectKeys) -> None:
    sealed = Vault(keys, LocalMasters(MASTER)).seal(MINJI, "d1", VALUES, SLOTS)
    Vault(keys, LocalMasters(MASTER)).seal(ANA, "d2", VALUES, SLOTS)
    both = Vault(keys, LocalMasters(b"n" * 32, (MASTER,)))
    assert both.open(MINJI, "d1", sealed) == VALUES
    assert (both.rewrap(), both.rewrap()) == (2, 0)
    assert Vault(keys, LocalMasters(b"n" * 32)).open(MINJI, "d1", sealed) == VALUES
    with pytest.raises(VaultError, match="is not at hand"):
        Vault(keys, LocalMasters(MASTER)).open(MINJI, "d1", sealed)


def test_a_wrapped_key_opens_for_its_own_person_only(keys: SubjectKeys) -> None:
    vault = Vault(keys, LocalMasters(MASTER))
    vault.seal(MINJI, "d1", VALUES, SLOTS)
    row = keys.get(MINJI)
    assert row is not None
    keys.add(ANA, DataKey(ANA, row.key_id, row.wrapped, row.master_id))
    with pytest.raises(VaultError, match="was changed"):
        vault.seal(ANA, "d1", VALUES, SLOTS)


def test_who_begins_at_once_shares_one_key(keys: SubjectKeys) -> None:
    vault, sealed = Vault(keys, LocalMasters(MASTER)), []
    barrier = threading.Barrier(6, timeout=60)

    def work(number: int) -> None:
        barrier.wait()
        sealed.append((f"d{number}", vault.seal(MINJI, f"d{number}", VALUES, SLOTS)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sealed) == 6
    assert all(vault.open(MINJI, document, boxes) == VALUES for document, boxes in sealed)


def test_the_keys_of_a_store_are_not_made_by_looking(tmp_path: Path) -> None:
    keys = FiledSubjectKeys(tmp_path / "vault")
    assert (keys.get(MINJI), keys.rows(), keys.remove(MINJI)) == (None, [], False)
    assert list(tmp_path.iterdir()) == []


def test_a_vault_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    path = tmp_path / "vault"
    path.write_bytes(b"no database, but long enough to be told from an empty one" * 20)
    with pytest.raises(VaultError, match="cannot use the vault"):
        Vault(FiledSubjectKeys(path), LocalMasters(MASTER)).seal(MINJI, "d1", VALUES, SLOTS)
    with pytest.raises(VaultError, match="cannot use the vault"):
        FiledSubjectKeys(tmp_path / "missing" / "vault").add(MINJI, DataKey(MINJI, "d:1", b"", "m:1"))


def test_replacing_looks_at_what_stood_there(keys: SubjectKeys) -> None:
    first = keys.add(MINJI, DataKey(MINJI, "d:1", b"w", "m:1"))
    assert keys.add(MINJI, DataKey(MINJI, "d:2", b"x", "m:1")) == first
    moved = msgspec.structs.replace(first, wrapped=b"y", master_id="m:2")
    assert keys.replace(MINJI, first, moved) is True
    assert keys.replace(MINJI, first, moved) is False
    assert keys.rows() == [(MINJI, moved)]


# master keys


def test_master_keys_live_in_the_key_file_beside_the_signing_keys(tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "keys")
    masters = FiledMasters(file, lambda: NOW)
    assert file.table().master == ()
    first, wrapped = masters.wrap(b"k" * 32, b"context")
    file.change(lambda table: with_new_master(table, NOW))
    assert masters.active != first
    assert masters.unwrap(first, wrapped, b"context") == b"k" * 32
    assert [entry.state for entry in file.table().master] == ["retired", "active"]
    with pytest.raises(VaultError, match="was changed"):
        masters.unwrap(first, wrapped, b"another context")


def test_a_key_file_without_active_master_is_refused(tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "keys")
    file.change(lambda table: with_new_master(table, NOW))
    retired = tuple(msgspec.structs.replace(entry, state="retired") for entry in file.table().master)
    file.change(lambda table: msgspec.structs.replace(table, master=retired))
    with pytest.raises(VaultError, match="no active master key"):
        FiledMasters(file, lambda: NOW).wrap(b"k", b"c")


def test_master_keys_come_from_the_environment() -> None:
    def encoded(key: bytes) -> str:
        return base64.b64encode(key).decode()

    old = LocalMasters(MASTER)
    master_id, wrapped = old.wrap(b"k" * 32, b"c")
    masters = masters_from({"PREFLIGHT_MASTER_KEY": f"{encoded(b'n' * 32)} {encoded(MASTER)}"})
    assert masters is not None
    assert masters.active == LocalMasters(b"n" * 32).active
    assert masters.unwrap(master_id, wrapped, b"c") == b"k" * 32
    assert masters_from({}) is None
    bad: tuple[tuple[str, Callable[[], object]], ...] = (
        ("not base64", lambda: masters_from({"PREFLIGHT_MASTER_KEY": "*hunter2*"})),
        ("5 bytes", lambda: masters_from({"PREFLIGHT_MASTER_KEY": encoded(b"short")})),
    )
    for what, call in bad:
        with pytest.raises(ConstructionError, match=what) as refused:
            call()
        assert "hunter2" not in str(refused.value)
