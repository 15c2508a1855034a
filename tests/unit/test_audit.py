from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest

from preflight import codec
from preflight.audit import Head, Report, Tree, head_of, read_head, signed_head, verify
from preflight.audit.tombstone import Entry, Tombstone, burials, signed_tombstone
from preflight.audit.tree import EMPTY, leaf_hash, node_hash, spans
from preflight.errors import SignatureInvalid
from preflight.model.record import UNKEYED
from preflight.ports import RawRecord, Seal
from preflight.signing import Ed25519Key, Ed25519PublicKey, Envelope, HmacKey, Keyring
from preflight.storage.sqlite import SqliteStorage
from preflight.testing import MemoryStorage, sample_decision, sample_step

NOW = "2026-03-01T09:00:00+00:00"
RING = Keyring(HmacKey(b"k" * 32))


def filled(storage: Any, ring: Keyring = RING, decisions: int = 8) -> list[RawRecord]:
    """Store decisions under three keys, some of them executed, and return the log as it lies there."""
    for n in range(decisions):
        decision = sample_decision(f"d{n}", action_key=(None, "a", "b")[n % 3])
        storage.append(decision, signer=ring)
        if n % 2:
            storage.claim(sample_step(decision, "executing"), signer=ring)
            storage.finish(sample_step(decision, "executed"), signer=ring)
    return list(storage.raw_scan())


LOG = filled(MemoryStorage())


def report(log: Sequence[RawRecord], head: Head | None = None, keys: Any = RING) -> Report:
    return verify(lambda: log, keys, head)


def kinds(log: Sequence[RawRecord], head: Head | None = None, keys: Any = RING) -> set[str]:
    return {finding.kind for finding in report(log, head, keys).findings}


# the chains


def test_an_empty_key_has_a_chain_of_its_own() -> None:
    storage = MemoryStorage()
    for n, key in enumerate((None, "", None, "")):
        storage.append(sample_decision(f"d{n}", action_key=key), signer=RING)
    assert report(list(storage.raw_scan())).intact


# the tree


def naive(leaves: Sequence[bytes]) -> bytes:
    """RFC 6962, section 2.1, written down as it stands there."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return hashlib.sha256(b"\x01" + naive(leaves[:k]) + naive(leaves[k:])).digest()


def test_the_tree_is_that_of_the_standard() -> None:
    # the reference vectors of the Certificate Transparency project
    inputs = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
    roots = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ]
    tree = Tree()
    assert tree.root() == EMPTY
    for data, root in zip(inputs, roots, strict=True):
        tree.append(bytes.fromhex(data))
        assert tree.root().hex() == root


def test_the_tree_agrees_with_the_definition_at_every_size() -> None:
    leaves = [bytes([n]) * 3 for n in range(70)]
    for size in range(70):
        tree = Tree(leaves[:size])
        assert tree.root() == naive(leaves[:size])
        assert [naive(leaves[start:end]) for start, end in spans(size)] == tree.peaks


def test_leaves_and_nodes_are_told_apart() -> None:
    left, right = leaf_hash(b"a"), leaf_hash(b"b")
    assert leaf_hash(left + right) != node_hash(left, right)


# an intact log


def test_an_intact_log_has_no_findings() -> None:
    found = report(LOG)
    assert (found.findings, found.records, found.intact, found.vouched) == ((), len(LOG), True, 0)
    assert found.root == head_of(LOG, NOW).root
    assert report([]).intact


def test_a_log_that_grew_fits_every_head_it_had() -> None:
    for size in range(len(LOG) + 1):
        found = report(LOG, head_of(LOG[:size], NOW))
        assert (found.findings, found.vouched) == ((), size)


def test_records_under_a_head_need_no_key() -> None:
    stranger = Keyring(HmacKey(b"x" * 32))
    assert kinds(LOG, keys=stranger) == {"unknown_key"}
    assert kinds(LOG, head_of(LOG, NOW), stranger) == set()
    assert [f.seq for f in report(LOG, head_of(LOG[:-2], NOW), stranger).findings] == [len(LOG) - 1, len(LOG)]


def test_a_part_of_the_log_has_gaps_and_whole_chains() -> None:
    part = [raw for raw in LOG if raw.action_key != "a"]
    assert {f.kind for f in verify(lambda: part, RING).findings} == {"missing"}
    assert verify(lambda: part, RING, whole=False).intact


# tampering


def change(at: int, **changes: Any) -> list[RawRecord]:
    return [*LOG[:at], LOG[at]._replace(**changes), *LOG[at + 1 :]]


def forged_body(raw: RawRecord) -> bytes:
    record = codec.decode_record(raw.body)
    return codec.encode(msgspec.structs.replace(record, user_id="mallory"))


def test_an_edit_is_found_where_it_is() -> None:
    for at in range(len(LOG)):
        body = forged_body(LOG[at])
        found = report(change(at, body=body)).findings
        assert {f.kind for f in found if f.seq == at + 1} >= {"edited", "forged"}
        neat = report(change(at, body=body, digest=codec.digest(body))).findings
        assert [f.kind for f in neat if f.seq == at + 1] == ["forged"]
        assert found[0].record_id == LOG[at].record_id


def test_every_flipped_byte_is_found() -> None:
    body = LOG[3].body
    for at in range(0, len(body), 7):
        flipped = bytearray(body)
        flipped[at] ^= 1
        assert not report(change(3, body=bytes(flipped), digest=codec.digest(bytes(flipped)))).intact


def test_a_column_that_says_otherwise_is_found() -> None:
    changes: dict[str, Any] = {
        "record_id": "x", "decision_id": "x", "state": "hold", "tenant": "x", "conversation": "x",
        "action_key": "x", "previous_digest": "0" * 64, "digest": "0" * 64,
    }  # fmt: skip
    for column, value in changes.items():
        found = [f for f in report(change(4, **{column: value})).findings if f.seq == 5]
        assert [f.kind for f in found] == ["edited" if column == "digest" else "mislabelled"], column
        if column != "digest":
            assert f"`{column}`" in found[0].what


def test_a_removal_is_found_by_its_place_and_by_its_chain() -> None:
    for at in range(len(LOG) - 1):
        found = report([*LOG[:at], *LOG[at + 1 :]]).findings
        assert (found[0].kind, found[0].seq, found[0].last) == ("missing", at + 1, at + 1)
    renumbered = [raw._replace(seq=n + 1) for n, raw in enumerate(LOG[1:])]
    assert "broken_chain" in kinds(renumbered)
    whole_key = [raw for raw in LOG if raw.action_key != "a"]
    assert kinds(whole_key) == {"missing"}
    closed_up = [raw._replace(seq=n + 1) for n, raw in enumerate(whole_key)]
    assert kinds(closed_up) == set()  # what only a head shows
    assert "not_the_heads_log" in kinds(closed_up, head_of(LOG[:5], NOW))


def test_a_reordering_is_found() -> None:
    one, other = 1, 4  # under different keys: every chain stays whole
    assert LOG[one].action_key != LOG[other].action_key
    for first, second in ((one, other), (0, 6)):
        swapped = list(LOG)
        swapped[first] = LOG[second]._replace(seq=first + 1)
        swapped[second] = LOG[first]._replace(seq=second + 1)
        assert not report(swapped, head_of(LOG, NOW)).intact
    assert kinds([LOG[1], LOG[0], *LOG[2:]]) >= {"missing", "reordered"}


def test_a_tail_that_was_cut_off_is_found_with_a_head() -> None:
    for left in range(len(LOG)):
        cut = LOG[:left]
        assert kinds(cut) == set()
        found = report(cut, head_of(LOG, NOW)).findings
        assert [f.kind for f in found] == ["truncated"]
        assert (found[0].seq, found[0].last) == (left + 1, len(LOG))


def test_a_backup_that_was_restored_and_went_on_is_found_with_a_head() -> None:
    other = MemoryStorage()
    filled(other, decisions=4)
    for n in range(20):
        other.append(sample_decision(f"later{n}"), signer=RING)
    found = report(list(other.raw_scan()), head_of(LOG, NOW)).findings
    assert [f.kind for f in found] == ["not_the_heads_log"]
    assert (found[0].seq, found[0].last) == (1, len(LOG)) or (found[0].seq or 0) <= 9


def test_a_head_of_another_log_is_told() -> None:
    other = MemoryStorage()
    for n in range(len(LOG)):
        other.append(sample_decision(f"x{n}"), signer=RING)
    assert kinds(list(other.raw_scan()), head_of(LOG, NOW)) == {"other_log", "not_the_heads_log"}


def test_a_record_without_signature_and_a_foreign_one_are_found() -> None:
    assert kinds(change(2, seal=None)) == {"unsigned"}
    foreign = Keyring(HmacKey(b"z" * 32)).sign(LOG[2].body)
    assert kinds(change(2, seal=foreign)) == {"unknown_key"}
    assert kinds(change(2, seal=Seal(LOG[2].seal.key_id, b"\0" * 32))) == {"forged"}  # type: ignore[union-attr]
    assert kinds(change(2, seal=LOG[3].seal)) == {"forged"}


def test_what_a_revoked_key_signed_counts_under_a_head_only() -> None:
    key = HmacKey(b"k" * 32)
    later = Keyring(HmacKey(b"n" * 32), [key], {key.id: "lost"})
    assert kinds(LOG, keys=later) == {"revoked_key"}
    assert kinds(LOG, head_of(LOG, NOW), later) == set()


def test_a_forged_history_with_the_right_hashes_is_found() -> None:
    """The file's owner writes all columns and digests anew; what they lack is the key."""
    forged, before = [], dict.fromkeys((UNKEYED, "a", "b"), None)
    for raw in LOG:
        record = codec.decode_record(raw.body)
        record = msgspec.structs.replace(record, user_id="mallory", previous_digest=before[raw.action_key])
        body = codec.encode(record)
        before[raw.action_key] = digest = codec.digest(body)  # type: ignore[assignment]
        forged.append(raw._replace(body=body, digest=digest, previous_digest=record.previous_digest))
    assert kinds(forged) == {"forged"}
    assert len(report(forged).findings) == len(LOG)


def test_an_outcome_without_a_start_is_found() -> None:
    decision = sample_decision("d1", previous_digest=None)
    body = codec.encode(msgspec.structs.replace(sample_step(decision, "executed")))
    raw = RawRecord(
        1, "d1/executed", "d1", "executed", "tenant", "conversation", "key of d1", body, codec.digest(body), None,
        RING.sign(body),
    )  # fmt: skip
    found = report([raw]).findings
    assert [(f.kind, f.what) for f in found] == [("impossible_step", "`executed` cannot follow nothing")]


def test_bytes_that_are_no_record_are_found() -> None:
    body = b'{"no":"record"}'
    raw = LOG[0]._replace(body=body, digest=codec.digest(body), seal=RING.sign(body))
    assert "unreadable" in kinds([raw, *LOG[1:]])


def test_findings_are_bounded() -> None:
    storage = MemoryStorage()
    for n in range(1100):
        storage.append(sample_decision(f"d{n}"))
    found = report(list(storage.raw_scan()))
    assert (len(found.findings), found.more) == (1000, 100)


# heads


def test_a_head_is_signed_and_read_back() -> None:
    ring = Keyring(Ed25519Key(b"s" * 32))
    head = head_of(LOG, NOW)
    text = signed_head(head, ring)
    assert read_head(text, ring) == head
    assert (head.size, head.last_seq, head.log) == (len(LOG), len(LOG), LOG[0].digest)
    public = Keyring(None, [Ed25519PublicKey(Ed25519Key(b"s" * 32).public_bytes)])
    assert read_head(text, public) == head


def test_a_forged_head_is_refused() -> None:
    text = signed_head(head_of(LOG, NOW), RING)
    cases: tuple[tuple[str, Callable[[], object]], ...] = (
        ("not known", lambda: read_head(signed_head(head_of(LOG, NOW), Keyring(HmacKey(b"x" * 32))), RING)),
        ("no signed envelope", lambda: read_head(text[:-9], RING)),
        ("not of these bytes", lambda: read_head(swapped_payload(text), RING)),
        (
            "cannot be read",
            lambda: read_head(Envelope.of(HEAD_TYPE, b"{}", RING.sign_as(HEAD_TYPE, b"{}")).encode(), RING),
        ),
        (
            "has format 2",
            lambda: read_head(signed_head(msgspec.structs.replace(head_of([], NOW), format=2), RING), RING),
        ),
    )
    for what, call in cases:
        with pytest.raises(SignatureInvalid, match=what):
            call()


HEAD_TYPE = "application/vnd.preflight.head+json"


def swapped_payload(text: bytes) -> bytes:
    other = msgspec.json.decode(signed_head(head_of(LOG[:3], NOW), RING))
    return msgspec.json.encode({**msgspec.json.decode(text), "payload": other["payload"]})


# tombstones


def buried(log: Sequence[RawRecord], places: set[int]) -> tuple[list[RawRecord], bytes]:
    entries = tuple(Entry.of(raw) for raw in log if raw.seq in places)
    text = signed_tombstone(Tombstone(1, NOW, {UNKEYED: 1.0}, entries), RING)
    return [raw._replace(body=b"", seal=None) if raw.seq in places else raw for raw in log], text


def test_removed_bodies_with_a_tombstone_are_accounted_for() -> None:
    log, text = buried(LOG, {1, 2, 5, len(LOG)})
    graves, faults = burials([text], RING)
    assert faults == []
    found = verify(lambda: log, RING, head_of(LOG, NOW), graves)
    assert (found.findings, found.removed, found.root) == ((), 4, head_of(LOG, NOW).root)
    assert verify(lambda: log, RING, None, graves).intact
    assert {f.seq for f in report(log).findings} == {1, 2, 5, len(LOG)}
    assert kinds(log) == {"body_missing"}


def test_a_tombstone_covers_only_what_it_names() -> None:
    log, text = buried(LOG, {2})
    graves, _ = burials([text], RING)
    for column in ("digest", "previous_digest", "record_id", "action_key", "state"):
        changed = [raw._replace(**{column: "0" * 64}) if raw.seq == 2 else raw for raw in log]
        assert "bad_tombstone" in {f.kind for f in verify(lambda log=changed: log, RING, None, graves).findings}, column
    more = [raw._replace(body=b"", seal=None) if raw.seq in {2, 3} else raw for raw in LOG]
    assert [(f.kind, f.seq) for f in verify(lambda: more, RING, None, graves).findings] == [("body_missing", 3)]


def test_a_forged_tombstone_does_not_count() -> None:
    _, text = buried(LOG, {2})
    other = signed_tombstone(Tombstone(1, NOW, {}, ()), Keyring(HmacKey(b"x" * 32)))
    graves, faults = burials([text, other, b"{}", signed_head(head_of(LOG, NOW), RING)], RING)
    assert set(graves) == {2}
    assert len(faults) == 3


# in a real file


def test_tampering_with_a_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "records.db"
    storage = SqliteStorage(path)
    log = filled(storage)
    head = head_of(log, NOW)
    storage.close()

    def tampered(*statements: str) -> set[str]:
        copy = tmp_path / "copy.db"
        copy.write_bytes(path.read_bytes())
        db = apsw.Connection(str(copy))
        triggers = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall()]
        for statement in (*(f"DROP TRIGGER {name}" for name in triggers), *statements):
            db.execute(statement).fetchall()
        db.close()
        reopened = SqliteStorage(copy)
        found = verify(reopened.raw_scan, RING, head)
        reopened.close()
        copy.unlink()
        return {finding.kind for finding in found.findings}

    assert tampered() == set()
    edit = "UPDATE record SET body = CAST(replace(CAST(body AS TEXT), 'u_01', 'u_66') AS BLOB) WHERE seq = 3"
    assert "edited" in tampered(edit)
    assert "missing" in tampered("DELETE FROM record WHERE seq = 3")
    assert "truncated" in tampered("DELETE FROM record WHERE seq > 10")
    assert "mislabelled" in tampered("UPDATE record SET state = 'failed' WHERE state = 'executed'")
    assert "not_the_heads_log" in tampered(
        "UPDATE record SET seq = 1000 WHERE seq = 1", "UPDATE record SET seq = 1 WHERE seq = 4",
        "UPDATE record SET seq = 4 WHERE seq = 1000",
    )  # fmt: skip
