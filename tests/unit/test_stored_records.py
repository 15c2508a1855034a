"""Records of every released schema version are read and verified by this one (P22)."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from preflight import codec
from preflight.audit import verify
from preflight.audit.export import as_csv, as_json_lines
from preflight.audit.prov import as_prov
from preflight.errors import SignatureInvalid
from preflight.model.decision import SCHEMA_VERSION
from preflight.model.record import Record
from preflight.ports import RawRecord, Seal, Stored
from preflight.render import explanation, public, summary
from preflight.signing.filed import ring_of
from preflight.signing.keyfile import KeyFile

FOLDER = Path(__file__).resolve().parents[1] / "fixtures" / "records"
VERSIONS = sorted(path.stem for path in FOLDER.glob("*.jsonl"))
RING = ring_of(KeyFile(FOLDER / "keys.json", public=True).table())
STATES = {"execute", "ask_user", "hold", "deferred", "executing", "executed", "failed", "in_doubt", "settled"}


def raw_records(version: str) -> Iterator[RawRecord]:
    lines = (FOLDER / f"{version}.jsonl").read_text(encoding="utf-8").splitlines()
    for seq, line in enumerate(map(json.loads, lines), 1):
        body = line["body"].encode()
        record = codec.decode_record(body)
        yield RawRecord(
            seq, record.record_id, record.decision_id, record.execution_decision, record.scope.tenant,
            record.scope.conversation, record.key, body, line["digest"], record.previous_digest,
            Seal(line["key_id"], base64.b64decode(line["signature"])),
        )  # fmt: skip


def records(version: str) -> list[Record]:
    return [codec.decode_record(raw.body) for raw in raw_records(version)]


def test_the_present_version_has_its_fixtures() -> None:
    assert SCHEMA_VERSION in VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_they_are_read_whole(version: str) -> None:
    found = records(version)
    assert {record.schema_version for record in found} == {version}
    assert {record.execution_decision for record in found} == STATES
    assert any(record.sealed for record in found)


@pytest.mark.parametrize("version", VERSIONS)
def test_they_are_verified(version: str) -> None:
    report = verify(lambda: raw_records(version), RING)
    assert (report.findings, report.records) == ((), len(records(version)))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_changed_one_is_not(version: str) -> None:
    raw = next(raw_records(version))
    assert raw.seal is not None
    with pytest.raises(SignatureInvalid):
        RING.verify(raw.body.replace(b'"u1"', b'"u2"'), raw.seal)


@pytest.mark.parametrize("version", VERSIONS)
def test_they_are_shown_and_exported(version: str) -> None:
    found = records(version)
    stored = [Stored(raw.seq, codec.decode_record(raw.body), raw.body, raw.digest) for raw in raw_records(version)]
    assert all(summary(record) and public(record)["record_id"] == record.record_id for record in found)
    assert all(explanation([record]) for record in found)
    assert len(list(as_csv(stored))) == len(found) + 1
    assert len(list(as_json_lines(stored))) == len(found)
    assert len(as_prov(stored)["entity"]) > len(found)


def test_what_this_version_writes_it_wrote_then() -> None:
    """An addition leaves old records as they were: read and written again, they say the same."""
    for raw in raw_records(SCHEMA_VERSION):
        assert json.loads(codec.encode(codec.decode_record(raw.body))) == json.loads(raw.body)
