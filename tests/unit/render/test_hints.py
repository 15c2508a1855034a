"""Commands that people are told work as they are told."""

from __future__ import annotations

import shlex

from preflight.render.hints import NO_HINTS, Hints, sent_again


def test_a_command_names_what_it_needs_quoted_for_a_shell() -> None:
    hints = Hints("my rules/bank", "/var/my records.db", "servers.json")
    assert hints.answer("q1") == (
        "preflight --rules 'my rules/bank' answer q1 --connections servers.json --db '/var/my records.db'"
    )
    assert shlex.split(hints.command("learn", "send won", "$(x)/y", "--user", "bo")) == [
        "preflight", "--rules", "my rules/bank", "learn", "send won", "$(x)/y", "--user", "bo", "--db",
        "/var/my records.db",
    ]  # fmt: skip


def test_what_a_command_finds_by_itself_is_left_out() -> None:
    assert NO_HINTS.answer("q1") == "preflight answer q1"


def test_a_call_of_a_client_is_told_by_its_id() -> None:
    assert sent_again("0123456789abcdef0123456789abcdef.12")
    assert not sent_again(None)
    assert not sent_again("01a22e3e-686f-72d5-a86a-38bf938193bc")
    assert not sent_again("0123456789abcdef0123456789abcdef.12 ")
