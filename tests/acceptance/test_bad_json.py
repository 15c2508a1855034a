"""Bad JSON values, one by one: a clear error with file and place, or a verdict that is safe; never a traceback."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.requests import TRANSFER, complete, transfer
from tests.acceptance.terminal import Shell


def with_claims(claims: str) -> bytes:
    """Return a request whose claims are this very text."""
    rest = {key: value for key, value in TRANSFER.items() if key != "claims"}
    return json.dumps(rest)[:-1].encode() + b', "claims": ' + claims.encode("utf-8", "surrogatepass") + b"}"


REFUSED: dict[str, tuple[bytes, str]] = {
    "a key twice": (with_claims('{"amount": 1, "amount": 2}'), "the key `amount` stands twice"),
    "not a number": (with_claims('{"amount": NaN}'), "`NaN` is not JSON"),
    "infinity": (with_claims('{"amount": -Infinity}'), "`-Infinity` is not JSON"),
    "beyond a float": (with_claims('{"amount": 1e4000}'), "more than 400 digits"),
    "more digits than a float holds": (with_claims('{"amount": 0.12345678901234567891}'), "cannot be carried exactly"),
    "4,301 digits": (with_claims('{"amount": ' + "9" * 4_301 + "}"), "more than 400 digits"),
    "a lone surrogate": (with_claims('{"to_account": "\\ud800"}'), "lone surrogate"),
    "depth 1,000": (with_claims("[" * 1_000 + "]" * 1_000), "nested deeper than 64"),
    "depth 100,000": (with_claims("[" * 100_000), "nested deeper than 64"),
    "more than the limit": (b" " * 4_000_001, "larger than 4000000 bytes"),
    "a byte order mark": (b"\xef\xbb\xbf" + with_claims("{}"), "byte order mark"),
    "UTF-16": (json.dumps(transfer()).encode("utf-16"), "not UTF-8 at byte 0"),
    "bytes that are no UTF-8": (with_claims("{}").replace(b"minji", b"minj\xff"), "not UTF-8 at byte"),
    "something after the end": (with_claims("{}") + b" {}", "line 1 column"),
    "an end too early": (b'{\n  "user_id": "minji",\n', "line 3 column 1"),
    "nothing": (b"", "not JSON"),
}


@pytest.mark.parametrize(("body", "said"), REFUSED.values(), ids=REFUSED)
def test_what_other_readers_repair_is_refused(shell: Shell, body: bytes, said: str) -> None:
    path = shell.request("request.json", body)
    ran = shell("check", path)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert str(path) in ran.err
    assert ran.err.count("\n") == 1


def amount(shell: Shell, literal: str, text: str = "send 100 won to 3520198845") -> dict[str, object]:
    shell.learn("send won", "bank/transfer")
    claims = f'{{"from_account": "1102534471", "to_account": "3520198845", "amount": {literal}}}'
    body = with_claims(claims).replace(b"send 500,000 won to my landlord", text.encode())
    ran = shell("check", "--json", shell.request("r.json", body))
    assert ran.err == ""
    fields = {field["name"]: field for field in ran.json["record"]["fields"]}
    return {"code": ran.code, **fields["amount"]}


@pytest.mark.parametrize("literal", ["100", "100.0", "1e2", "1.00E+2"])
def test_equal_numbers_have_one_form(shell: Shell, literal: str) -> None:
    found = amount(shell, literal)
    assert (found["code"], found["status"], repr(found["value"])) == (0, "known", "100")


def test_a_large_number_stays_exact(shell: Shell) -> None:
    found = amount(shell, "12345678901234567891", "send 12345678901234567891 won to 3520198845")
    assert (found["status"], found["value"]) == ("known", 12345678901234567891)


UNCONFIRMED = {
    "true where a number is wanted": "true",
    "text where a number is wanted": '"100"',
    "null for a required value": "null",
    "an empty list for a required value": "[]",
    "an empty object for a required value": "{}",
    "an empty text": '""',
}


@pytest.mark.parametrize("literal", UNCONFIRMED.values(), ids=UNCONFIRMED)
def test_nothing_is_converted_and_nothing_empty_is_confirmed(shell: Shell, literal: str) -> None:
    found = amount(shell, literal)
    assert (found["code"], found["status"]) == (10, "unknown")


@pytest.mark.parametrize("word", ["null", "undefined", "N/A", "unknown", "TBD", " ", "none"])
def test_a_word_for_nothing_is_no_value(shell: Shell, word: str) -> None:
    shell.learn("send won", "bank/transfer")
    claims = {**complete()["claims"], "to_account": word}
    ran = shell("check", "--json", shell.request("r.json", {**transfer(), "claims": claims}))
    fields = {field["name"]: field for field in ran.json["record"]["fields"]}
    assert ran.code == 10
    assert fields["to_account"]["status"] == "unknown"
    assert "value" not in fields["to_account"]


@pytest.mark.parametrize("control", ["\x00", "\x1b[2J", "\x7f", "\x9b31m", "\u202e", "\u200b"])
def test_control_characters_reach_no_terminal(shell: Shell, control: str) -> None:
    shell.learn("send won", "bank/transfer")
    given = transfer(f"send 500,000 won to {control}my landlord")
    ran = shell("check", shell.request("r.json", given))
    assert ran.code == 10
    assert control not in ran.out
    assert f"\\u{{{ord(control[0]):04x}}}" in ran.out
