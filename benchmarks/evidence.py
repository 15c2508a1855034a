"""What evidence costs: signing and chaining a record, verifying a whole log, sealing and opening secret values.

    python benchmarks/evidence.py [--records 100000]

Microseconds of CPU for one record beyond encoding and hashing it; seconds of CPU for a whole log in SQLite. The last
line is for scripts.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from preflight import codec
from preflight.audit import head_of, verify
from preflight.model.record import Record
from preflight.ports import Signer
from preflight.secrecy.vault import Subject, Vault
from preflight.secrecy.vault.subjects import FiledSubjectKeys
from preflight.secrecy.vault.wrapping import FiledMasters
from preflight.signing import Ed25519Key, HmacKey, Keyring
from preflight.signing.filed import FiledKeyring
from preflight.signing.keyfile import KeyFile
from preflight.storage.entry import make_entry
from preflight.storage.sqlite import SqliteStorage
from preflight.testing import sample_decision, sample_slot

ROUNDS = 5
SEVERAL = 2_000
NOW = "2026-03-01T09:00:00+00:00"


def records() -> list[Record]:
    """Decisions of about 2.6 kB under 500 keys."""
    slots = tuple(sample_slot(f"field{n}", "instruction", "some value of a field") for n in range(8))
    return [sample_decision(f"d{n}", action_key=f"k{n % 500}", fields=slots, reason="x" * 700) for n in range(SEVERAL)]


def micros(work: Callable[[], object], count: int) -> float:
    """Return the CPU time of one of `count` pieces of work, in the best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best / count * 1e6


def signing(folder: Path, stored: list[Record]) -> dict[str, float]:
    """Return what signing and chaining add to encoding and hashing."""
    plain = micros(lambda: [codec.digest(codec.encode(record)) for record in stored], len(stored))
    signers: dict[str, Signer] = {
        "hmac": Keyring(HmacKey(b"k" * 32)),
        "hmac_file": FiledKeyring(KeyFile(folder / "keys"), lambda: NOW),
        "ed25519": Keyring(Ed25519Key(b"k" * 32)),
    }

    def entries(signer: Signer) -> Callable[[], object]:
        return lambda: [make_entry(record, "0" * 64, signer) for record in stored]

    return {name: micros(entries(signer), len(stored)) - plain for name, signer in signers.items()}


def verifying(folder: Path, stored: list[Record], count: int, ring: Keyring) -> tuple[float, float]:
    """Return the CPU seconds of verifying a log without a head, and under one."""
    storage = SqliteStorage(folder / f"{ring.active}.db")
    for n in range(count):
        decision = msgspec.structs.replace(stored[n % SEVERAL], record_id=f"d{n}", decision_id=f"d{n}")
        storage.append(decision, signer=ring)
    head = head_of(storage.raw_scan(), NOW)
    taken = []
    for seen in (None, head):
        began = time.process_time()
        report = verify(storage.raw_scan, ring, seen)
        taken.append(time.process_time() - began)
        assert report.intact, report
    storage.close()
    return taken[0], taken[1]


def sealing(folder: Path) -> tuple[float, float]:
    """Return what sealing and opening five values cost, with the keys in files."""
    masters = FiledMasters(KeyFile(folder / "masters"), lambda: NOW)
    vault, minji = Vault(FiledSubjectKeys(folder / "vault"), masters), Subject("bank", "minji")
    values = {f"/fields/{n}/value": "4711" for n in range(5)}
    sealed = vault.seal(minji, "d", values, {})
    many = range(200)
    seal = micros(lambda: [vault.seal(minji, "d", values, {}) for _ in many], len(many))
    return seal, micros(lambda: [vault.open(minji, "d", sealed) for _ in many], len(many))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=100_000)
    count = parser.parse_args().records
    stored = records()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        signed = signing(folder, stored)
        for kind, us in signed.items():
            print(f"sign and chain, {kind:<10} {us:8.1f} us a record beyond encoding and hashing")
        seal, opened = sealing(folder)
        print(f"five secret values: sealed in {seal:.0f} us, opened in {opened:.0f} us")
        took = {}
        for kind, ring in (("hmac", Keyring(HmacKey(b"k" * 32))), ("ed25519", Keyring(Ed25519Key(b"k" * 32)))):
            took[kind] = verifying(folder, stored, count, ring)
            print(f"verify {count} records, {kind:<8} {took[kind][0]:6.2f} s; under a head {took[kind][1]:6.2f} s")
    print(
        f"sign_us_hmac={signed['hmac_file']:.1f} sign_us_ed25519={signed['ed25519']:.1f} "
        f"verify_s_hmac={took['hmac'][0]:.2f} verify_s_ed25519={took['ed25519'][0]:.2f} "
        f"verify_s_head={took['ed25519'][1]:.2f}"
    )


if __name__ == "__main__":
    main()
