"""The commands around evidence, keys and doubt, on a database that the commands themselves filled."""

from __future__ import annotations

import csv
import io
import json
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from preflight import create_preflight
from preflight.audit.export import as_csv, as_json_lines, cell
from preflight.audit.prov import as_prov
from preflight.clock import iso
from preflight.model.sealed import MASK
from preflight.results import Claimed
from preflight.storage import open_storage
from preflight.testing import MemoryStorage, sample_decision, sample_no_answer, sample_slot, sample_step
from tests.acceptance.requests import complete, transfer
from tests.acceptance.terminal import BANK, Shell

SCRIPT = ("--channel", "script")
ACCOUNT = "3520198845"
RULES = """
version: 1
servers:
  bank:
    tools:
      transfer:
        effect: irreversible
        fields:
          to_account: {secret: true}
        settle: arrived
        measures:
          arrived:
            python: tests.unit.test_audit_commands:arrived
            arguments: {decision: {slot: preflight/decision}, account: {slot: to_account}}
            type: boolean
"""
found: dict[str, Any] = {}


def arrived(decision: str, account: str) -> object:
    found["asked"] = (decision, account)
    if isinstance(found["answer"], Exception):
        raise found["answer"]
    return found["answer"]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def ready(shell: Shell) -> str:
    """Check a complete transfer and return the id of its decision."""
    shell.learn("send", "bank/transfer")
    checked = shell("check", "--json", shell.request("request.json", complete()))
    assert checked.code == 0, checked
    decision: str = checked.json["record"]["decision_id"]
    return decision


def untriggered(shell: Shell, *statements: str) -> None:
    """Do to the file what its owner can do: drop the guards, and write what they like."""
    db = apsw.Connection(str(shell.db))
    triggers = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall()]
    for statement in (*(f"DROP TRIGGER {name}" for name in triggers), *statements):
        db.execute(statement).fetchall()
    db.close()


# verify and head


def test_an_untouched_log_shows_no_sign(shell: Shell) -> None:
    ready(shell)
    ran = shell("audit", "verify")
    assert (ran.code, ran.out.splitlines()[1]) == (0, "no sign of tampering")
    assert "tamper-proof" not in ran.out
    as_json = shell("audit", "verify", "--json").json
    assert (as_json["records"], as_json["findings"]) == (1, [])


def test_an_edit_and_a_cut_are_named_with_their_place(shell: Shell) -> None:
    for n in range(3):
        shell("check", shell.request(f"{n}.json", transfer(call_id=f"c{n}")))
    head = shell.request("head.json", shell("audit", "head").out.encode())
    assert shell("audit", "verify", "--head", head).code == 0
    shell("check", shell.request("later.json", transfer(call_id="later")))
    assert "4 records read, 3 of them under the head" in shell("audit", "verify", "--head", head).out
    untriggered(
        shell,
        "UPDATE record SET body = CAST(replace(CAST(body AS TEXT), 'landlord', 'landlady') AS BLOB) WHERE seq = 2",
    )
    ran = shell("audit", "verify")
    assert ran.code == 1
    assert [line.split()[:2] for line in ran.out.splitlines() if line.startswith("2 ")] == [
        ["2", "edited"], ["2", "forged"]
    ]  # fmt: skip
    untriggered(shell, "DELETE FROM record WHERE seq > 1")
    assert shell("audit", "verify").code == 0  # which is why heads are exported
    ran = shell("audit", "verify", "--head", head)
    assert ran.code == 1
    assert "saw 3 records, and 1 are left: 2 are gone" in ran.out


def test_a_head_that_is_none_is_refused(shell: Shell) -> None:
    ready(shell)
    for name, content, what in (("a", b"{}", "not to be believed"), ("b", b"", "not to be believed")):
        ran = shell("audit", "verify", "--head", shell.request(name, content))
        assert ran.code == 2
        assert what in ran.err
    ran = shell("audit", "verify", "--head", shell.folder / "missing")
    assert (ran.code, "cannot read" in ran.err) == (2, True)


def test_others_verify_with_public_keys(shell: Shell) -> None:
    assert shell("keys", "rotate").code == 0
    ready(shell)
    keys = shell.request("public.json", shell("keys", "public").out.encode())
    head = shell.request("head.json", shell("audit", "head").out.encode())
    assert shell("audit", "verify", "--keys", keys, "--head", head).code == 0
    assert shell("audit", "verify", "--keys", keys).code == 0
    other = Shell(shell.folder)
    (shell.folder / "records.db.keys").unlink()
    assert other("audit", "verify").code == 1
    assert other("audit", "verify", "--keys", keys).code == 0
    ran = other("audit", "verify", "--keys", shell.folder / "missing")
    assert (ran.code, "no file" in ran.err) == (2, True)


def test_audit_itself_still_lists(shell: Shell) -> None:
    decision = ready(shell)
    assert decision in shell("audit", "--decision", "execute").out
    assert shell("audit", "--json").json["record_id"] == decision


# export


def test_exports_are_readable_and_masked(shell: Shell) -> None:
    shell.env["PREFLIGHT_RULES"] = str(shell.request("rules.yaml", RULES.encode()))
    decision = ready(shell)
    lines = [json.loads(line) for line in shell("audit", "export").out.splitlines()]
    assert [line["record"]["record_id"] for line in lines] == [decision]
    assert lines[0]["record"]["call_arguments"]["to_account"] == MASK
    rows = list(csv.DictReader(io.StringIO(shell("audit", "export", "--format", "csv").out)))
    assert [(row["seq"], row["state"], row["decision_id"]) for row in rows] == [("1", "execute", decision)]
    prov = shell("audit", "export", "--format", "prov").json
    assert prov["entity"][f"pf:value/{decision}/to_account"]["prov:value"] == MASK
    assert prov["entity"][f"pf:value/{decision}/amount"]["prov:value"] == 500_000


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "＝1", "\r=1"])
def test_no_cell_begins_like_a_formula(text: str) -> None:
    assert cell(text)[0] in "'\\"
    storage = MemoryStorage()
    storage.append(sample_decision("d1", user_id=text, reason=text, action_key=text))
    row = list(csv.reader(io.StringIO("".join(as_csv(storage.scan())))))[1]
    assert all(not value.startswith(("=", "+", "-", "@", "\t", "\r", "＝")) for value in row)


def test_a_cell_keeps_plain_text_and_shows_hidden_characters() -> None:
    assert [cell(value) for value in ("plain", 'a "b", c', None, 7, "a\nb", "x\u202ey")] == [
        "plain", 'a "b", c', "", "7", "a\\nb", "x\\u{202e}y"
    ]  # fmt: skip


def test_exports_hold_nothing_that_a_terminal_obeys(shell: Shell) -> None:
    hostile = 'a\x1b[31m\x7f\x9b2J\u202e\u2028"\\'
    storage = open_storage(shell.db)
    storage.append(sample_decision("d1", call_arguments={hostile: hostile}, user_id=hostile))
    storage.close()
    for form, ends in (("jsonl", "\n"), ("prov", "\n"), ("csv", "\r\n")):
        out = shell("audit", "export", "--format", form).out
        assert out.endswith(ends)
        assert [char for char in out.replace(ends, "") if not char.isprintable() and char != "\n"] == []
    (record,) = [json.loads(line)["record"] for line in shell("audit", "export").out.split("\n") if line]
    assert (record["user_id"], record["call_arguments"]) == (hostile, {hostile: hostile})


def test_that_nobody_answered_is_told_and_exported(shell: Shell) -> None:
    #
    asked = shell("check", "--json", shell.request("r.json", transfer())).json
    question = asked["question"]["question_id"]
    silence = sample_no_answer(question, at_once=True, seconds=0.2, client="wire\u202e 1")
    with closing(open_storage(str(shell.db))) as storage:
        storage.no_answer(silence)
        storage.no_answer(sample_no_answer(question, how="time_out", client=""))
    told = shell("explain", question).out
    assert "no answer  declined by form (wire\\u{202e} 1), at once, so by no person, at 2026-03-01" in told
    assert "no answer  nobody answered in time by form, after 7.5 s, at 2026-03-01" in told
    assert shell("explain", "--json", question).json["no_answers"][0]["at_once"] is True
    (line,) = [json.loads(each) for each in shell("audit", "export").out.splitlines()]
    assert [note["how"] for note in line["no_answers"]] == ["decline", "time_out"]
    (row,) = csv.DictReader(io.StringIO(shell("audit", "export", "--format", "csv").out))
    assert row["no_answers"].startswith("declined by form (wire")
    prov = shell("audit", "export", "--format", "prov").json
    (record,) = [entity for entity in prov["entity"].values() if "pf:noAnswer" in entity]
    assert len(record["pf:noAnswer"]) == 2


def test_that_every_question_was_answered_is_told_by_leaving_it_out(shell: Shell) -> None:
    ready(shell)
    (line,) = [json.loads(each) for each in shell("audit", "export").out.splitlines()]
    assert "no_answers" not in line
    (row,) = csv.DictReader(io.StringIO(shell("audit", "export", "--format", "csv").out))
    assert row["no_answers"] == ""


def whole_story() -> MemoryStorage:
    storage = MemoryStorage()
    slots = (sample_slot("to", "instruction", "bob"), sample_slot("rate", "measured_data", [1]), sample_slot("x", None))
    decision = sample_decision("d1", fields=slots)
    storage.append(decision)
    for state in ("executing", "in_doubt", "settled"):
        step = sample_step(decision, state)  # type: ignore[arg-type]
        _ = storage.claim(step) if state == "executing" else storage.finish(step)
    return storage


def test_provenance_tells_where_values_came_from_and_what_was_done() -> None:
    document = as_prov(whole_story().scan())
    assert set(document["activity"]) == {"pf:check/d1", "pf:execution/d1"}
    assert document["activity"]["pf:execution/d1"]["prov:startTime"] == "2026-03-01T09:00:00+00:00"
    values = {name: entity["prov:value"] for name, entity in document["entity"].items() if "/value/" in f"/{name[3:]}"}
    assert values == {"pf:value/d1/to": "bob", "pf:value/d1/rate": "[1]"}
    used = {(r["prov:activity"], r["prov:entity"]) for r in document["used"].values()}
    assert ("pf:execution/d1", "pf:record/d1") in used
    assert ("pf:check/d1", "pf:value/d1/to") in used
    attributed = {(r["prov:entity"], r["prov:agent"]) for r in document["wasAttributedTo"].values()}
    assert attributed == {("pf:value/d1/to", "pf:person/tenant/u_01")}
    generated = {r["prov:entity"] for r in document["wasGeneratedBy"].values()}
    assert generated == {f"pf:record/d1{end}" for end in ("", "%2Fexecuting", "%2Fin_doubt", "%2Fsettled")}
    assert json.loads(json.dumps(document)) == document


def test_every_relation_names_things_that_are_declared() -> None:
    document = as_prov(whole_story().scan())
    declared = {name for kind in ("entity", "activity", "agent") for name in document[kind]}
    kinds = ("wasGeneratedBy", "used", "wasInformedBy", "wasAssociatedWith", "wasDerivedFrom", "wasAttributedTo")
    named = {
        value
        for kind in kinds
        for relation in document[kind].values()
        for name, value in relation.items()
        if name != "prov:time"
    }
    assert named <= declared


def test_json_lines_hold_one_record_each() -> None:
    storage = whole_story()
    lines = [json.loads(line) for line in as_json_lines(storage.scan())]
    assert [line["seq"] for line in lines] == [1, 2, 3, 4]
    assert [line["digest"] for line in lines] == [stored.digest for stored in storage.scan()]
    assert lines[0]["key_id"] is None


# keys


def test_keys_are_listed_without_themselves(shell: Shell) -> None:
    shell.learn("send", "bank/transfer")
    assert "no key was needed yet" in shell("keys", "list").out
    ready(shell)
    keys = json.loads((shell.folder / "records.db.keys").read_text())
    listed = shell("keys", "list", "--json")
    assert [key["state"] for key in listed.json] == ["active"]
    assert keys["signing"][0]["key"] not in listed.out + shell("keys", "list").out


def test_a_rotated_key_signs_and_the_old_one_verifies(shell: Shell) -> None:
    decision = ready(shell)
    assert "ed25519:" in shell("keys", "rotate").out
    old, new = (key["id"] for key in shell("keys", "list", "--json").json)
    assert shell("audit", "verify").code == 0
    executed = shell("execute", decision, "--server", f"{sys.executable} {BANK} --db {shell.folder / 'bank.db'}")
    assert executed.code == 0, executed
    signers = [json.loads(line)["key_id"] for line in shell("audit", "export").out.splitlines()]
    assert signers == [old, new, new]
    assert shell("keys", "revoke", old, "--why", "a laptop was lost").code == 2  # standard input is no terminal
    assert shell("keys", "revoke", old, "--why", "a laptop was lost", *SCRIPT).code == 0
    ran = shell("audit", "verify", "--json")
    assert [(f["kind"], f["seq"]) for f in ran.json["findings"]] == [("revoked_key", 1)]
    assert shell("keys", "revoke", "hs256:0", "--why", "x", *SCRIPT).code == 2


def test_a_decision_signed_by_a_revoked_key_does_not_start(shell: Shell) -> None:
    decision = ready(shell)
    key = shell("keys", "list", "--json").json[0]["id"]
    shell("keys", "rotate")
    shell("keys", "revoke", key, "--why", "lost", *SCRIPT)
    ran = shell("execute", decision, "--server", f"{sys.executable} {BANK} --db {shell.folder / 'bank.db'}")
    assert (ran.code, "signature_invalid" in ran.out) == (11, True)


def test_a_key_without_public_half_is_not_published(shell: Shell) -> None:
    ready(shell)
    assert shell("keys", "public").code == 2


# secrets


def test_a_secret_passes_through_the_commands_unseen(shell: Shell) -> None:
    shell.env["PREFLIGHT_RULES"] = str(shell.request("rules.yaml", RULES.encode()))
    outs = []
    asking = shell("check", "--json", shell.request("r.json", transfer()))
    decision = ready(shell)
    server = f"{sys.executable} {BANK} --db {shell.folder / 'bank.db'}"
    outs += [
        asking,
        shell("check", shell.request("again.json", complete())),
        shell("pending"),
        shell("audit", "--json"),
    ]
    outs += [shell("explain", decision), shell("explain", decision, "--json"), shell("audit")]
    outs += [shell("execute", decision, "--json", "--server", server), shell("execute", decision, "--server", server)]
    outs += [shell("audit", "export", "--format", form) for form in ("jsonl", "csv", "prov")]
    outs += [shell("recover"), shell("in-doubt"), shell("doctor"), shell("audit", "verify"), shell("gaps")]
    outs += [shell("replay"), shell("replay", "--json")]
    assert (outs[-1].code, outs[-2].code) == (0, 0)
    assert outs[7].json["status"] == "executed"
    for ran in outs:
        assert ACCOUNT not in ran.out + ran.err
    files = [path for path in shell.folder.iterdir() if path.name.startswith("records.db")]
    assert {path.name for path in files} >= {"records.db", "records.db.keys", "records.db.vault"}
    for path in files:
        assert ACCOUNT.encode() not in path.read_bytes(), path
    assert shell("reveal", decision).code == 2
    revealed = shell("reveal", decision, "--json", *SCRIPT)
    assert revealed.json["call_arguments"]["to_account"] == ACCOUNT
    assert ACCOUNT in shell("reveal", decision, *SCRIPT).out
    assert "1 data keys wrapped anew" in shell("keys", "rotate", "--master").out
    assert shell("reveal", decision, "--json", *SCRIPT).json == revealed.json
    assert "cannot be read any more" in shell("keys", "erase", "--user", "minji", *SCRIPT).out
    assert "has none" in shell("keys", "erase", "--user", "minji", *SCRIPT).out
    assert shell("reveal", decision, *SCRIPT).code == 3
    assert shell("audit", "verify").code == 0


# in doubt


@pytest.mark.parametrize(("answer", "settled"), [(True, "executed"), (False, "failed")])
def test_a_declared_measurement_settles_a_doubt(shell: Shell, answer: bool, settled: str) -> None:
    shell.env["PREFLIGHT_RULES"] = str(shell.request("rules.yaml", RULES.encode()))
    decision = ready(shell)
    silent = f"{sys.executable} {BANK} --db {shell.folder / 'bank.db'}"
    doubtful(shell, decision, silent)
    assert "1" in shell("doctor").out
    found["answer"] = answer
    early = shell("recover")
    assert "may be under way" in early.out
    assert "1 in doubt, 0 settled, 1 left" in early.out
    ran = shell("recover", "--grace", "0", "--json")
    assert found["asked"] == (decision, ACCOUNT)
    assert [each["settled"]["outcome"]["settled_as"] for each in ran.json] == [settled]
    assert ran.json[0]["settled"]["outcome"]["by"] == "measurement"
    assert ACCOUNT not in ran.out
    assert "0 in doubt, 0 settled, 0 left" in shell("recover").out
    assert shell("audit", "verify").code == 0


def doubtful(shell: Shell, decision: str, _server: str) -> None:
    """Leave a start without an outcome, as a killed process does."""
    made = create_preflight(storage=shell.db, rules=shell.env.get("PREFLIGHT_RULES"))
    assert isinstance(made.claim(decision), Claimed)
    made.close()


@pytest.mark.parametrize(
    ("answer", "why"),
    [("yes", "not true or false"), (1, "not true or false"), (ValueError(f"no {ACCOUNT}"), "cannot be measured")],
)
def test_a_measurement_that_says_neither_settles_nothing(shell: Shell, answer: object, why: str) -> None:
    shell.env["PREFLIGHT_RULES"] = str(shell.request("rules.yaml", RULES.encode()))
    doubtful(shell, ready(shell), "")
    found["answer"] = answer
    ran = shell("recover", "--grace", "0")
    assert why in ran.out
    assert ACCOUNT not in ran.out
    assert "1 in doubt, 0 settled, 1 left" in ran.out
    assert "preflight settle" in ran.out


def test_without_a_rule_a_person_settles(shell: Shell) -> None:
    decision = ready(shell)
    doubtful(shell, decision, "")
    ran = shell("recover", "--grace", "0")
    assert "a person has to find out" in ran.out
    told = ("--by", "minji", "--evidence", "ledger entry 17")
    assert shell("settle", decision, "executed", *told, *SCRIPT).code == 0
    assert "0 in doubt" in shell("recover", "--grace", "0").out


# retention


def test_old_records_are_removed_and_the_audit_knows(shell: Shell) -> None:
    for n in range(3):
        shell("check", shell.request(f"{n}.json", transfer(call_id=f"c{n}")))
    head = shell.request("head.json", shell("audit", "head").out.encode())
    assert shell("retain", *SCRIPT).out == "0 records removed\n"  # what no option names is kept
    dry = shell("retain", "--keep", "0s", "--dry-run")
    assert (dry.code, "cannot be kept for 0.0 s" in dry.err) == (2, True)
    assert shell("retain", "--keep", "1d", "--dry-run").out == "0 records would be removed\n"
    assert shell("retain", "--keep", "1d").code == 2  # standard input is no terminal
    kept = shell("retain", "--keep", "1d", *SCRIPT, "--json")
    assert kept.json == {"records": 0, "by_key": {}, "tombstones": 0}
    assert shell("audit", "verify", "--head", head).code == 0


@pytest.mark.parametrize("text", ["1", "1y", "-1d", "1.5d", "forever"])
def test_an_age_that_is_none_is_refused(shell: Shell, text: str) -> None:
    ready(shell)
    ran = shell("retain", "--keep", text, "--dry-run")
    assert (ran.code, "no length of time" in ran.err) == (2, True)


def test_a_key_may_be_kept_for_a_time_of_its_own(shell: Shell) -> None:
    ready(shell)
    assert shell("retain", "--keep-key", "a=b=1d", "--dry-run").code == 0
    assert shell("retain", "--keep-key", "a", "--dry-run").code == 2


def test_what_was_kept_long_enough_goes(shell: Shell) -> None:
    def old(name: str, days: int) -> Any:
        at = iso(time.time() - days * 86_400)
        return sample_decision(name, "hold", timestamp=at, action_key="u:pay", reason="an old reason")

    ready(shell)
    made = create_preflight(storage=shell.db)
    for name, days in (("d1", 40), ("d2", 39), ("d3", 1)):
        made.storage.append(old(name, days), signer=made.signer)
    made.close()
    head = shell.request("head.json", shell("audit", "head").out.encode())
    ran = shell("retain", "--keep", "30d", *SCRIPT)
    assert ran.out.splitlines()[-1] == "2 records removed"
    assert "u:pay" in ran.out
    assert (
        "4 records read, 4 of them under the head, 2 removed by retention"
        in shell("audit", "verify", "--head", head).out
    )
    assert shell("audit", "verify").code == 0
    assert b"an old reason" in shell.db.read_bytes()  # that of the record that stays
    untriggered(shell, "DELETE FROM tombstone")
    assert shell("audit", "verify").code == 1
