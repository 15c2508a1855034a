"""JSON is read strictly, written as it was read, and told of as far as it goes where it cannot be read."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from preflight.errors import InvalidInput
from preflight.mcp.jsontext import DEEPEST, Written, exact, is_finite, names_twice, plain, read, write
from preflight.mcp.lines import LONGEST_LINE, Outgoing, Unreadable, failed, message_of
from preflight.mcp.sdk import SessionMessage, types
from preflight.mcp.unread import Heading, heading_of, heading_of_ends
from preflight.model.sealed import MASK
from preflight.secrecy.masking import Needles

LITERALS = st.from_regex(
    r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?", fullmatch=True, alphabet="0123456789.eE+-"
)
TEXTS = st.recursive(
    st.one_of(
        LITERALS.filter(lambda text: text != "-0"), st.sampled_from(["null", "true", "false", '"a"', '"é"', '"\\\\"'])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda items: f"[{','.join(items)}]"),
        st.lists(inner, max_size=4).map(
            lambda items: "{" + ",".join(f'"k{at}":{item}' for at, item in enumerate(items)) + "}"
        ),
    ),
    max_leaves=12,
)


@given(TEXTS)
@example("[0,1e+20]")  # as Python writes it, and JSON encoders do not
@example("1e20")
def test_what_is_read_is_written_to_the_letter(text: str) -> None:
    assert write(read(text.encode())).decode() == text


@given(TEXTS)
@example('{"k0":"a:b","k1":"\\":"}')
def test_a_text_with_each_member_once_names_none_twice(text: str) -> None:
    assert not names_twice(text.encode(), read(text.encode()))
    for twice in (f'{{"a":{text},"a":1}}', f'[{{"b":{{"a":1,"\\u0061":{text}}}}}]'):
        assert names_twice(twice.encode(), read(twice.encode()))


@given(LITERALS)
def test_an_exact_argument_has_the_value_that_was_written_or_is_refused(text: str) -> None:
    #
    value = read(text.encode())
    if Decimal(repr(float(text))) == Decimal(text) or Decimal(text) == Decimal(text).to_integral_value():
        (number,) = exact([{"a": value}], "x")[0].values()  # type: ignore[index]
        assert type(number) in (int, float)
        assert Decimal(repr(number)) == Decimal(text)
    else:
        with pytest.raises(InvalidInput, match="`x/0/a`: a number that cannot be carried exactly"):
            exact([{"a": value}], "x")


def test_arguments_that_are_exact_stay_the_same_objects() -> None:
    value = {"a": [1, {"b": 1.5}], "c": "x"}
    assert exact(value, "x") is value
    assert exact({"a": [1, Written("1.50")]}, "x") == {"a": [1, 1.5]}


def test_what_computes_gets_plain_numbers() -> None:
    value = plain(read(b'{"a":[1.10,{"b":1e5}],"c":"x"}'))
    assert value == {"a": [1.1, {"b": 100_000.0}], "c": "x"}
    assert {type(value["a"][0]), type(value["a"][1]["b"])} == {float}


def test_a_number_that_is_a_secret_is_masked_however_it_is_written() -> None:
    #
    shown = Needles([12345, "1.50"]).masked(read(b"[1.2345e4,12345.0,1.50,2.50,1.7]"))
    assert write(shown) == b'["%s","%s","%s",2.50,1.7]' % ((MASK.encode(),) * 3)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"NaN", "no JSON"), (b"[Infinity]", "no JSON"), (b"-Infinity", "no JSON"), (b'"\\ud800"', "lone surrogate"),
        (b'"\xff"', "no JSON"), (b"", "no JSON"), (b"\xef\xbb\xbf{}", "no JSON"), (b"1" * 5_000, "no JSON"),
        (b"1e999", "`1e999` is larger than a double"), (b"-1" + b"0" * 400 + b".5", "is larger than a double"),
        (b"[" * 201 + b"]" * 201, "more than 200 levels"), (b'{"a":' * 201 + b"1" + b"}" * 201, "more than 200 levels"),
        (b"[" * 100_000, "more than 200 levels"),
    ],
)  # fmt: skip
def test_what_other_readers_repair_is_refused(text: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read(text)


def test_the_deepest_is_read_and_many_brackets_are_not_deep() -> None:
    text = b"[" * DEEPEST + b"]" * DEEPEST
    assert write(read(text)) == text
    flat = b"[" + b",".join([b"{}"] * 500) + b"]"
    assert write(read(flat)) == flat


@pytest.mark.parametrize(
    ("value", "finite"),
    [({"a": [1, 2.5, None, "x"]}, True), (float("nan"), False), ({"a": [{"b": float("-inf")}]}, False), (None, True)],
)
def test_what_json_cannot_say_is_found(value: Any, finite: bool) -> None:
    assert is_finite(value) is finite


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        (b'{"jsonrpc":"2.0","result":{"id":5},"id":9}', Heading(9, answers=True)),
        (b'{"id":"a\\"b","error":[]}', Heading('a"b', answers=True)),
        (b' { "id" : -3 , "method" : "\xff" }', Heading(-3, asks=True)),
        (b'{"id":7,"id":8,"result":[]}', Heading(None, answers=True)),
        (b'{"id":7,"result":"unfinished', Heading(7, answers=True)),
        (b'{"method":"x","id":7', Heading(None, asks=True)),
        (b'{"method":"x","id":"7', Heading(None, asks=True)),
        (b'{"result":"abc,"id":5}', Heading(None, answers=True)),
        (b'{"text":"never ends, \\"id\\":3}', Heading()),
        (b'{"result":{"a":"x}","id":1},"id":{"id":3}}', Heading(None, answers=True)),
        (b'{"id":"\\ud800","method":"x"}', Heading(None, asks=True)),
        (b'{"id":"' + b"x" * 2_000 + b'"}', Heading()),
        (b'{"id":1.5}', Heading()), (b'{"id":true}', Heading()), (b'{"id":1234567890123456789012}', Heading()),
        (b'[{"id":1}]', Heading()), (b'{"a":1}{"id":2}', Heading()), (b"", Heading()), (b"\xff", Heading()),
    ],
)  # fmt: skip
def test_of_what_cannot_be_read_the_outermost_id_is_told(text: bytes, heading: Heading) -> None:
    assert heading_of(text) == heading


def test_of_a_long_text_only_the_ends_are_read() -> None:
    inside = b'{"result":{"id":4,"text":"' + b"x" * 2_000_000 + b'\\ud800"}'
    assert heading_of(inside + b',"id":9,"jsonrpc":"2.0"}') == Heading(9, answers=True)
    assert heading_of(inside + b',"more":{"id":9}}') == Heading(None, answers=True)
    assert heading_of_ends(b'{"params":"', b'","id":9,"method":"x/y"}') == Heading(9, asks=True)
    assert heading_of_ends(b'{"result":"', b',\\"id\\":5}"}') == Heading(None, answers=True)


@pytest.mark.parametrize(
    "line", [b'{"jsonrpc":"2.0","id":null,"method":"x"}', b'{"jsonrpc":"2.0","id":{},"method":"x"}']
)
def test_a_request_whose_id_is_none_is_no_notification(line: bytes) -> None:
    with pytest.raises(Unreadable, match="its `id` is neither") as raised:
        message_of(line)
    assert raised.value.parsed
    assert raised.value.heading == Heading(None, asks=True)


@pytest.mark.anyio
async def test_an_answer_that_cannot_be_written_is_an_error_under_its_id(caplog: pytest.LogCaptureFixture) -> None:
    written: list[bytes] = []

    async def send(data: bytes) -> None:
        written.append(data)

    outgoing = Outgoing(send)
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for value in ("\ud800", object(), deep):
        await outgoing.send(SessionMessage(types.JSONRPCResponse(jsonrpc="2.0", id=4, result={"x": value})))
    answers = [json.loads(line) for line in written]
    assert [(answer["id"], answer["error"]["code"]) for answer in answers] == [(4, -32603)] * 3
    assert "cannot be written as JSON" in caplog.text
    with pytest.raises(UnicodeEncodeError):
        await outgoing.send(SessionMessage(types.JSONRPCRequest(jsonrpc="2.0", id=4, method="\ud800")))
    while deep:  # a deep list is freed by hand: Python would free it level by level
        deep = deep[0]


@pytest.mark.anyio
async def test_a_message_is_written_with_the_members_that_it_was_given() -> None:
    written: list[bytes] = []

    async def send(data: bytes) -> None:
        written.append(data)

    line = b'{"jsonrpc":"2.0","id":1,"error":{"code":-5,"message":"no","data":1.50}}'
    await Outgoing(send).send(message_of(line))
    await Outgoing(send).send(failed(None, -32700, "no"))
    assert written == [line + b"\n", b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}\n']
    assert len(line) < LONGEST_LINE
