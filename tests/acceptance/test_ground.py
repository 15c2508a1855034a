"""Grounding tried by hand, as a person does it."""

from __future__ import annotations

from tests.acceptance.terminal import Shell

NUMBER = '{"type": "number"}'


def test_the_command_says_where_a_value_stands_and_records_nothing(shell: Shell) -> None:
    ran = shell("ground", "send 1,200 to Ana", "--name", "amount", "--schema", NUMBER, "--claim", "1200")
    assert ran.code == 0
    assert '"send 1,200 to Ana"\n                 ^^^^^ amount\n' in ran.out
    assert not shell.db.exists()


def test_an_invented_value_is_not_there(shell: Shell) -> None:
    ran = shell("ground", "send 1,200 to Ana", "--schema", NUMBER, "--claim", "1201")
    assert (ran.code, ran.out, ran.err) == (10, "unknown    no source has it\n", "")


def test_what_would_move_a_terminal_is_written_out(shell: Shell) -> None:
    ran = shell("ground", "send 500\x1b[2J\u202e", "--schema", NUMBER, "--claim", "500", "--name", "\x1b[1m")
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out


def test_a_malformed_claim_is_a_usage_error_that_says_what_to_type(shell: Shell) -> None:
    ran = shell("ground", "mail Ana", "--schema", '{"type": "string"}', "--claim", "Ana")
    assert (ran.code, ran.out) == (2, "")
    assert """a string wants quotes of its own: '"Ana"'""" in ran.err
