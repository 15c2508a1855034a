"""The demo, played for real: a bank over stdio, seven scenes, and what the bank's ledger holds in the end."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.acceptance.terminal import ROOT, SECONDS, Shell

ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}|\w+day \d+ \w+ \d{4}, \d{2}:\d{2}(?::\d{2})? UTC")


@pytest.fixture(scope="module")
def played() -> str:
    """Return what the demo prints, without ids and times."""
    return TIME.sub("TIME", ID.sub("ID", play()))


def play() -> str:
    command = [sys.executable, "-m", "preflight", "demo"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


def scene(played: str, number: int) -> str:
    """Return what one scene prints."""
    return re.split(rf"^{number}  |^{number + 1}  |^What became of it", played, flags=re.MULTILINE)[1]


def table(played: str, title: str) -> list[list[str]]:
    rows = played.split(f"{title}\n\n")[1].split("\n\n", maxsplit=1)[0].splitlines()
    return [re.split(r" {2,}", row.strip()) for row in rows[1:]]


def test_each_scene_ends_as_it_should(played: str) -> None:
    assert [outcome for _, outcome in table(played, "What became of it")] == [
        "executed", "executed", "ask_user", "refused", "executed", "executed", "executed",
    ]  # fmt: skip


def test_the_ledger_holds_each_transfer_once(played: str) -> None:
    assert table(played, "The bank's ledger") == [
        ["1", '"1102534471"', '"3520198845"', "500000"],  # a person completed it
        ["2", '"1102534471"', '"3520198845"', "200000"],  # at its time
        ["3", '"1102534488"', '"1102534471"', "500000"],
        ["4", '"1102534471"', '"3520198845"', "2000000"],  # once there was enough
    ]
    assert played.endswith("4 transfer(s) made; 1 question(s) wait for an answer.\n")


def test_an_invented_account_is_asked_for_and_appears_in_no_record(played: str) -> None:
    first = scene(played, 1)
    assert first.count("9988776655") == 1  # where the agent proposes it
    assert '"send 500,000 won to my landlord"\n                 ^^^^^^^ amount' in first
    assert "to_account    unknown       no source has it" in first
    assert 'to_account    "3520198845"  the user\'s answer' in first
    assert first.count("the bank did it, once") == 1


def test_a_tool_that_does_more_is_never_named_as_a_question(played: str) -> None:
    second = scene(played, 2)
    assert second.count("records_delete_all") == 1  # where the agent proposes it
    assert second.count("Please say again, in other words") == 2
    assert '{"archived": 2}' in second


def test_a_planted_account_stays_unknown(played: str) -> None:
    third = scene(played, 3)
    assert third.count("4410077123") == 1  # where the agent proposes it; the mail itself is not even shown
    assert "it stands only in text the user did not write" in third
    assert "measured by bank/contacts_find" in third
    assert "the bank did it" not in third


def test_a_repeat_is_refused_and_a_transfer_for_later_fires_by_itself(played: str) -> None:
    assert "refused, the bank was not called: decision `ID` was started before" in scene(played, 4)
    fifth = scene(played, 5)
    assert "deferred (waits for its trigger)" in fifth
    assert "when       scheduled" in fifth
    assert fifth.count("it fired by itself, once: executed") == 1


def test_a_transfer_that_waits_for_money_fires_once_there_is_enough(played: str) -> None:
    sixth, seventh = scene(played, 6), scene(played, 7)
    assert "once condition `funded` holds, until TIME" in sixth
    assert "condition not yet: it waits on" in sixth
    assert "fired" not in sixth
    assert seventh.count("it fired by itself, once: executed") == 1


def test_two_performances_print_the_same(played: str) -> None:
    assert TIME.sub("TIME", ID.sub("ID", play())) == played


def test_a_person_can_play_the_user(shell: Shell) -> None:
    typed = ["1102534488", "archive the invoices from before 2024-06-01", ""]
    ran = shell.at_a_terminal("demo", "--interactive", types="".join(f"{text}\n" for text in typed))
    assert (ran.code, ran.err) == (0, "")
    assert table(ran.out, "The bank's ledger")[0] == ["1", '"1102534471"', '"1102534488"', "500000"]


def test_only_a_person_can_play_the_user(shell: Shell) -> None:
    ran = shell("demo", "--interactive")
    assert ran.code == 2
    assert "a person at a terminal" in ran.err


def test_make_demo_plays_it() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^demo: .*\n\t@\$\(BIN\)/preflight demo \$\(ARGS\)$", makefile, re.MULTILINE)
