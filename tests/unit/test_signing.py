from __future__ import annotations

import base64
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from preflight.errors import ConstructionError, InvalidInput, SignatureInvalid
from preflight.ports import Seal
from preflight.signing import (
    HEAD,
    RECORD,
    Ed25519Key,
    Ed25519PublicKey,
    Envelope,
    HmacKey,
    Keyring,
    ServiceKey,
    new_hmac,
    pae,
)
from preflight.signing.environment import keyring_from
from preflight.signing.filed import FiledKeyring, public_table, ring_of, with_new_key, with_revoked
from preflight.signing.keyfile import KeyFile, KeyTable

NOW = "2026-03-01T09:00:00+00:00"
BODY = b'{"record_id":"d1"}'
SEED = bytes(range(32))
# RFC 8032, section 7.1, test 2
RFC_SEED = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
RFC_PUBLIC = bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
RFC_SIGNATURE = bytes.fromhex(
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
)


def keys() -> list[Any]:
    return [HmacKey(SEED), Ed25519Key(SEED)]


def test_the_encoding_is_that_of_the_published_example() -> None:
    # the test vector of the DSSE protocol text
    assert pae("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )
    assert pae("é", b"") == b"DSSEv1 2 \xc3\xa9 0 "


def test_ed25519_is_that_of_the_standard() -> None:
    key = Ed25519Key(RFC_SEED)
    assert (key.public_bytes, key.sign(b"\x72")) == (RFC_PUBLIC, RFC_SIGNATURE)
    assert Ed25519PublicKey(RFC_PUBLIC).verify(b"\x72", RFC_SIGNATURE)


def test_hmac_is_that_of_the_standard() -> None:
    # RFC 4231, test case 6: a key longer than the block
    key = HmacKey(b"\xaa" * 131)
    mac = key.sign(b"Test Using Larger Than Block-Size Key - Hash Key First")
    assert mac.hex() == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"


@pytest.mark.parametrize("key", keys(), ids=lambda key: key.algorithm)
def test_a_seal_holds_for_exactly_its_bytes(key: Any) -> None:
    ring = Keyring(key)
    seal = ring.sign(BODY)
    assert seal.key_id == key.id
    ring.verify(BODY, seal)
    for at in range(len(BODY) * 8):
        flipped = bytearray(BODY)
        flipped[at // 8] ^= 1 << at % 8
        with pytest.raises(SignatureInvalid, match="not of these bytes"):
            ring.verify(bytes(flipped), seal)
    for at in range(len(seal.signature)):
        signature = bytearray(seal.signature)
        signature[at] ^= 1
        with pytest.raises(SignatureInvalid, match="not of these bytes"):
            ring.verify(BODY, Seal(seal.key_id, bytes(signature)))


@pytest.mark.parametrize("key", keys(), ids=lambda key: key.algorithm)
@pytest.mark.parametrize("signature", [b"", b"\0" * 32, b"\0" * 64, b"\0" * 65])
def test_a_signature_of_another_shape_is_none(key: Any, signature: bytes) -> None:
    with pytest.raises(SignatureInvalid):
        Keyring(key).verify(BODY, Seal(key.id, signature))


def test_one_kind_of_document_does_not_stand_for_another() -> None:
    ring = Keyring(Ed25519Key(SEED))
    with pytest.raises(SignatureInvalid):
        ring.verify_as(HEAD, BODY, ring.sign(BODY))


def test_a_public_key_cannot_be_used_as_a_secret() -> None:
    # the classic confusion: a MAC made with the public key, offered under the public key's id
    public = Ed25519Key(SEED)
    forged = HmacKey(public.public_bytes)
    ring = Keyring(public)
    with pytest.raises(SignatureInvalid, match="not of these bytes"):
        ring.verify(BODY, Seal(public.id, forged.sign(pae(RECORD, BODY))))
    with pytest.raises(SignatureInvalid, match="not known here"):
        ring.verify(BODY, Keyring(forged).sign(BODY))


def test_a_key_of_another_ring_is_unknown() -> None:
    with pytest.raises(SignatureInvalid, match="not known here"):
        Keyring(HmacKey(SEED)).verify(BODY, Keyring(HmacKey(new_hmac())).sign(BODY))


def test_rotation_keeps_old_seals_and_revocation_ends_them() -> None:
    old, new = HmacKey(SEED), Ed25519Key(SEED)
    seal = Keyring(old).sign(BODY)
    rotated = Keyring(new, [old])
    rotated.verify(BODY, seal)
    assert rotated.sign(BODY).key_id == new.id
    revoked = Keyring(new, [old], {old.id: "a laptop was lost"})
    with pytest.raises(SignatureInvalid, match="revoked: a laptop was lost"):
        revoked.verify(BODY, seal)
    revoked.verify_as(RECORD, BODY, seal, allow_revoked=True)
    assert (revoked.revoked(old.id), revoked.knows(old.id), revoked.knows("hs256:0")) == (True, True, False)


def test_a_revoked_key_cannot_be_the_active_one() -> None:
    key = HmacKey(SEED)
    with pytest.raises(ConstructionError, match="is revoked"):
        Keyring(key, revoked={key.id: "lost"})


def test_a_ring_without_private_key_only_verifies() -> None:
    whole = Ed25519Key(SEED)
    ring = Keyring(None, [Ed25519PublicKey(whole.public_bytes)])
    ring.verify(BODY, Keyring(whole).sign(BODY))
    assert ring.active is None
    with pytest.raises(SignatureInvalid, match="only verify"):
        ring.sign(BODY)


def test_short_keys_are_refused() -> None:
    for make, size in ((HmacKey, 31), (Ed25519Key, 31), (Ed25519PublicKey, 33)):
        with pytest.raises(ConstructionError, match=f"has {size} bytes"):
            make(b"k" * size)


def test_a_service_signs_and_is_verified_here() -> None:
    class Kms:
        asked: list[bytes] = []  # noqa: RUF012  what it was asked to sign
        public_key = Ed25519Key(SEED).public_bytes

        def sign(self, message: bytes) -> bytes:
            self.asked.append(message)
            return Ed25519Key(SEED).sign(message)

    ring = Keyring(ServiceKey(Kms()))
    ring.verify(BODY, ring.sign(BODY))
    assert Kms.asked == [pae(RECORD, BODY)]


def test_no_key_shows_itself() -> None:
    secret = base64.b64encode(SEED).decode()
    table = with_new_key(KeyTable(), "hs256", NOW)
    shown = " ".join([*map(repr, keys()), repr(Keyring(HmacKey(SEED))), repr(table)])
    assert secret not in shown
    assert table.signing[0].key not in shown
    assert repr(SEED) not in shown


def test_an_envelope_carries_body_and_seal() -> None:
    ring = Keyring(Ed25519Key(SEED))
    seal = ring.sign_as(HEAD, BODY)
    text = Envelope.of(HEAD, BODY, seal).encode()
    assert json.loads(text) == {
        "payloadType": HEAD,
        "payload": base64.b64encode(BODY).decode(),
        "signatures": [{"keyid": seal.key_id, "sig": base64.b64encode(seal.signature).decode()}],
    }
    assert Envelope.read(text, HEAD) == (BODY, seal)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"", "no signed envelope"),
        (b"[]", "no signed envelope"),
        (b'{"payloadType":"T","payload":"*","signatures":[]}', "no signed envelope"),
        (b'{"payloadType":"T","payload":"","signatures":[]}', "holds `T`"),
        (b'{"payloadType":"%b","payload":"","signatures":[]}' % HEAD.encode(), "0 signatures"),
    ],
)
def test_what_is_no_envelope_is_refused(text: bytes, what: str) -> None:
    with pytest.raises(SignatureInvalid, match=what):
        Envelope.read(text, HEAD)


# the file


def test_a_key_file_is_made_when_it_is_needed_and_is_its_owners(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "records.db.keys"
    ring = FiledKeyring(KeyFile(path), lambda: NOW)
    seal = ring.sign(BODY)
    assert path.stat().st_mode & 0o777 == 0o600
    FiledKeyring(KeyFile(path), lambda: NOW).verify(BODY, seal)
    assert [entry.state for entry in KeyFile(path).table().signing] == ["active"]


def test_a_file_without_keys_verifies_nothing_and_is_not_made(tmp_path: Path) -> None:
    ring = FiledKeyring(KeyFile(tmp_path / "keys"), lambda: NOW)
    with pytest.raises(SignatureInvalid, match="not known here"):
        ring.verify(BODY, Keyring(HmacKey(SEED)).sign(BODY))
    assert (ring.knows("hs256:0"), ring.revoked("hs256:0")) == (False, False)
    assert list(tmp_path.iterdir()) == []


def test_processes_that_begin_at_once_agree_on_one_key(tmp_path: Path) -> None:
    path, rings = tmp_path / "keys", []
    barrier = threading.Barrier(8, timeout=60)

    def begin() -> None:
        barrier.wait()
        ring = FiledKeyring(KeyFile(path), lambda: NOW)
        ring.sign(BODY)
        rings.append(ring)

    threads = [threading.Thread(target=begin) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({ring.keyring().active for ring in rings}) == 1
    assert len(KeyFile(path).table().signing) == 1


def test_a_running_program_notices_rotation_and_revocation(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    running = FiledKeyring(KeyFile(path), lambda: NOW)
    first = running.sign(BODY)
    KeyFile(path).change(lambda table: with_new_key(table, "ed25519", NOW))
    second = running.sign(BODY)
    assert second.key_id.startswith("ed25519:")
    running.verify(BODY, first)
    KeyFile(path).change(lambda table: with_revoked(table, first.key_id, "lost"))
    with pytest.raises(SignatureInvalid, match="lost"):
        running.verify(BODY, first)
    running.verify(BODY, second)


def test_after_the_active_key_is_revoked_nothing_is_signed(tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "keys")
    ring = FiledKeyring(file, lambda: NOW)
    active = ring.sign(BODY).key_id
    file.change(lambda table: with_revoked(table, active, "lost"))
    with pytest.raises(SignatureInvalid, match="only verify"):
        ring.sign(BODY)
    with pytest.raises(InvalidInput, match="no signing key"):
        file.change(lambda table: with_revoked(table, "hs256:0", "lost"))


def test_a_key_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    FiledKeyring(KeyFile(path), lambda: NOW).sign(BODY)
    path.chmod(0o640)
    with pytest.raises(ConstructionError, match="others may read"):
        KeyFile(path).table()


@pytest.mark.parametrize("content", ["", "{", '{"signing": 1}', '{"format": 2}'])
def test_a_damaged_key_file_is_refused_and_kept(tmp_path: Path, content: str) -> None:
    path = tmp_path / "keys"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(ConstructionError):
        FiledKeyring(KeyFile(path), lambda: NOW).sign(BODY)
    assert path.read_text() == content


def test_a_key_under_another_keys_id_is_refused() -> None:
    table = with_new_key(KeyTable(), "hs256", NOW)
    entry = table.signing[0]
    swapped = json.loads(json.dumps({"id": "hs256:0000000000000000"}))["id"]
    with pytest.raises(InvalidInput, match=entry.id):
        ring_of(KeyTable(signing=(type(entry)(swapped, entry.algorithm, entry.key, "active", NOW),)))


def test_what_is_published_can_verify_and_not_sign() -> None:
    table = with_new_key(with_new_key(KeyTable(), "hs256", NOW), "ed25519", NOW)
    private, public = ring_of(table), ring_of(public_table(table))
    public.verify(BODY, private.sign(BODY))
    assert public.active is None
    assert [entry.algorithm for entry in public_table(table).signing] == ["ed25519-public"]
    assert not {entry.key for entry in table.signing} & {entry.key for entry in public_table(table).signing}


# the environment


def encoded(kind: str, material: bytes) -> str:
    return f"{kind}:{base64.b64encode(material).decode()}"


def test_keys_come_from_the_environment() -> None:
    old = HmacKey(b"o" * 32)
    ring = keyring_from(
        {"PREFLIGHT_SIGNING_KEY": encoded("ed25519", SEED), "PREFLIGHT_VERIFY_KEYS": encoded("hs256", b"o" * 32)}
    )
    assert ring is not None
    assert ring.active == Ed25519Key(SEED).id
    ring.verify(BODY, Keyring(old).sign(BODY))
    assert keyring_from({}) is None
    revoking = {"PREFLIGHT_VERIFY_KEYS": encoded("hs256", b"o" * 32), "PREFLIGHT_REVOKED_KEYS": old.id}
    verifier = keyring_from(revoking)
    assert verifier is not None
    with pytest.raises(SignatureInvalid, match="revoked"):
        verifier.verify(BODY, Keyring(old).sign(BODY))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("hs256:c2VjcmV0", "6 bytes"),
        ("hs256:*secret*", "not base64"),
        ("none:c2VjcmV0", "unknown kind"),
        ("c2VjcmV0", "unknown kind"),
        (encoded("ed25519-public", RFC_PUBLIC), "can only verify"),
    ],
)
def test_a_bad_variable_is_named_and_not_quoted(text: str, what: str) -> None:
    with pytest.raises(ConstructionError, match=what) as refused:
        keyring_from({"PREFLIGHT_SIGNING_KEY": text})
    assert text.rpartition(":")[2] not in str(refused.value)


def test_the_lock_file_is_its_owners(tmp_path: Path) -> None:
    FiledKeyring(KeyFile(tmp_path / "keys"), lambda: NOW).sign(BODY)
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {
        "keys": 0o600,
        "keys.lock": 0o600,
    }
