from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner, Result

from preflight.cli.app import app

SCHEMA = '{"type": "number", "description": "Amount to send"}'
MOMENT = '{"type": "string", "format": "date-time"}'


def ground(*arguments: str, schema: str = SCHEMA, claim: str = "500") -> Result:
    return CliRunner().invoke(app, ["ground", *arguments, "--schema", schema, "--claim", claim])


def test_a_value_in_the_words_is_marked_there_and_told_how_it_was_read() -> None:
    ran = ground("send 1,200 to Ana", "--name", "amount", claim="1200")
    assert ran.exit_code == 0
    assert ran.stdout.splitlines() == [
        "known      the user's words say it",
        '           "send 1,200 to Ana"',
        "                 ^^^^^ amount",
        'read       "1,200" read as number: 1200 (stated); may also be 1.200',
    ]


def test_words_that_do_not_count_are_marked_with_the_reason() -> None:
    ran = ground("send 500", "no, make it 300")
    assert ran.exit_code == 10
    assert ran.stdout.splitlines() == [
        "unknown    the user corrected it",
        'near       "500" read as number, stated',
        '           "send 500"',
        "                 ^^^",
    ]


def test_the_parts_of_a_list_are_marked_message_by_message() -> None:
    ran = ground(
        "invite Ana", "and Carl Fox", "--name", "names", schema='{"type": "array"}', claim='["Ana", "Carl Fox"]'
    )
    assert ran.exit_code == 0
    assert ran.stdout.splitlines()[1:5] == [
        '           "invite Ana"',
        "                   ^^^ names/0",
        '           "and Carl Fox"',
        "                ^^^^^^^^ names/1",
    ]


def test_text_of_a_model_is_to_be_confirmed_and_shows_the_addresses_in_it() -> None:
    ran = ground("mail bo@x.org", "--role", "content", schema='{"type": "string"}', claim='"Hi from bo@x.org"')
    assert ran.exit_code == 10
    assert ran.stdout.startswith("confirm    a model may write this text")
    assert (
        'has        "bo@x.org" read as exact, stated\n           "mail bo@x.org"\n                 ^^^^^^^^'
        in ran.stdout
    )


def test_text_the_user_did_not_write_proves_nothing() -> None:
    ran = ground("pay it", "--untrusted", "amount due: 500", "--untrusted", "500")
    assert (ran.exit_code, ran.stdout) == (10, "unknown    it stands only in text the user did not write\n")


@pytest.mark.parametrize(
    ("options", "state"),
    [
        ([], "unknown"),
        (["--now", "2026-11-30T09:00:00+09:00", "--zone", "Asia/Seoul"], "known"),
        (["--now", "2026-12-30T09:00:00+09:00", "--zone", "Asia/Seoul"], "unknown"),
    ],
    ids=["no clock", "the day before", "a month later"],
)
def test_the_clock_is_the_one_that_is_given(options: list[str], state: str) -> None:
    ran = ground("lunch tomorrow at 12:00", *options, "--json", schema=MOMENT, claim='"2026-12-01T12:00:00+09:00"')
    assert json.loads(ran.stdout)["state"] == state


def test_the_locale_says_how_a_number_is_read() -> None:
    assert ground("schick 1.250,50", "--locale", "de", claim="1250.5").exit_code == 0
    assert ground("send 1.250,50", "--locale", "en-GB", claim="1.25").exit_code == 10


def test_json_has_the_whole_finding() -> None:
    finding = json.loads(ground("send 500", "--json").stdout)
    assert finding == {
        "state": "known",
        "reason": "grounded",
        "evidence": {
            "segment_index": 0, "start": 5, "end": 8, "matched_text": "500", "normaliser": "number", "canonical": "500",
        },
        "mentions": [],
    }  # fmt: skip


def test_lists_in_a_schema_are_read_as_lists() -> None:
    schema = '{"type": ["string", "null"], "enum": ["fan", "grill"]}'
    assert json.loads(ground("use the grill", "--json", schema=schema, claim='"grill"').stdout)["state"] == "known"


FAULTS = {
    "a bare string": (["--claim", "Ana"], "`claim, line 1 column 1`: not JSON: expecting value; a string wants quotes"),
    "a claim twice keyed": (["--claim", '{"a": 1, "a": 2}'], "`claim`: the key `a` stands twice in one object"),
    "a schema that is a list": (["--schema", "[]"], "`schema`: not a JSON object; send the schema of one slot"),
    "a schema cut off": (["--schema", '{"type"'], "`schema, line 1 column 8`: not JSON"),
    "an unknown role": (["--role", "boss"], "`role`: `boss` is no role; use one of target, object, quantity"),
    "a time without offset": (["--now", "2026-11-30T09:00"], "`now`: `2026-11-30T09:00` is no time with an offset"),
    "no time": (["--now", "noon"], "`now`: `noon` is no time with an offset"),
    "no zone": (["--zone", "Mars/Base"], "`zone`: `Mars/Base` is no time zone"),
    "a zone outside the table": (["--zone", "../etc/passwd"], "`zone`: `../etc/passwd` is no time zone"),
}


@pytest.mark.parametrize(("options", "told"), FAULTS.values(), ids=FAULTS)
def test_a_malformed_option_is_named(options: list[str], told: str) -> None:
    ran = CliRunner().invoke(app, ["ground", "pay", "--schema", "{}", "--claim", "1", *options])
    assert told in str(ran.exception)
