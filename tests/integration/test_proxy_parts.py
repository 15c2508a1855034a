"""The proxy's parts by themselves: forms, pages' fields, lines, seals, what pries, which call is which."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from preflight import create_preflight
from preflight.console.fields import answers_in, fields_of
from preflight.console.pairing import Pairing
from preflight.core.when import FORMS
from preflight.errors import AnswerRefused, InvalidInput
from preflight.mcp import eras
from preflight.mcp.calls import CallIds
from preflight.mcp.config import of_command, of_file
from preflight.mcp.form import answers_of, form_of
from preflight.mcp.http import address_of, hosts_for
from preflight.mcp.lines import Lines, Oversized
from preflight.mcp.marks import HELD, NOTE, Marks
from preflight.mcp.prying import pries
from preflight.mcp.sdk import MCPError
from preflight.mcp.sealing import Sealing
from preflight.mcp.silence import note_silence
from preflight.mcp.texts import changes
from preflight.mcp.unread import Heading
from preflight.model.question import AskedItem, AskedSlot, Question
from preflight.model.request import Scope
from preflight.model.rules import ToolRules
from preflight.model.sealed import MASK, Sealed
from preflight.rulebook import rules_source
from preflight.storage.samples import HERE, sample_decision, sample_step
from preflight.testing import MemoryStorage

KINDS: dict[str, Any] = {
    "text": {"type": "string", "minLength": 2, "pattern": "^a", "format": "uuid", "default": "ab"},
    "mail": {"type": "string", "format": "email"},
    "whole": {"type": "integer", "minimum": 1, "exclusiveMaximum": 9},
    "part": {"type": "number"},
    "yes": {"type": "boolean"},
    "one": {"enum": ["a", "b"]},
    "some": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1},
    "recipient/iban": {"type": ["string", "null"]},
}


def question(*slots: AskedSlot, **more: Any) -> Question:
    given: dict[str, Any] = {
        "question_id": "q", "kind": "value", "decision_id": "d", "scope": Scope(), "user_id": "u", "message": "Say.",
        "created_at": "2026-11-30T00:00:00+00:00", "expires_at": "2026-12-07T00:00:00+00:00", "slots": slots, **more,
    }  # fmt: skip
    return Question(**given)


def test_a_form_holds_what_forms_can_hold_and_fills_nothing_in() -> None:
    form = form_of(question(*[AskedSlot(name, schema, nullable="/" in name) for name, schema in KINDS.items()]))
    assert form is not None
    fields = form["properties"]
    assert fields["text"]["minLength"] == 2
    assert "matching `^a`" in fields["text"]["description"]
    assert fields["mail"]["format"] == "email"
    assert fields["whole"] == fields["whole"] | {"type": "integer", "minimum": 1}
    assert "less than 9" in fields["whole"]["description"]
    assert fields["some"]["items"] == {"type": "string", "enum": ["a", "b"]}
    assert fields["recipient/iban"]["type"] == "string"
    assert fields["recipient/iban (there is none)"]["type"] == "boolean"
    assert form["required"] == [name for name in KINDS if "/" not in name]
    assert not any(key in field for field in fields.values() for key in ("default", "pattern", "exclusiveMaximum"))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"}, {"type": "array", "items": {"type": "string"}}, {}, True, {"type": ["string", "integer"]},
        {"enum": [1, 2]}, {"const": "x", "type": "string"}, {"anyOf": [{"type": "string"}, {"type": "object"}]},
    ],
)  # fmt: skip
def test_what_a_form_cannot_hold_makes_no_form_at_all(schema: object) -> None:
    assert form_of(question(AskedSlot("text", KINDS["text"]), AskedSlot("odd", schema))) is None


def test_no_form_is_empty_or_about_secrets() -> None:
    assert form_of(question()) is None
    assert form_of(question(AskedSlot("text", KINDS["text"]), private=True)) is None


def test_an_unticked_box_and_an_empty_field_say_nothing() -> None:
    asked = question(
        AskedSlot("memo", {"type": "string"}, nullable=True), AskedSlot("body", {}, shown="hi", confirm="confirm/body"),
        items=(AskedItem("sure", "Are you?"),),
    )  # fmt: skip
    content = {"memo": "", "memo (there is none)": True, "confirm/body": True, "sure": False, "stray": 1}
    assert answers_of(asked, content) == {"memo": None, "confirm/body": True, "stray": 1}
    assert answers_of(asked, {"memo": "x", "memo (there is none)": True}) == {"memo": "x"}
    assert answers_of(asked, None) == {}
    assert answers_of(asked, {"sure": "yes"}) == {"sure": "yes"}  # refused where answers are checked


TEXT_OR_NONE = {"type": ["string", "null"]}
CLASHES: dict[str, tuple[list[AskedSlot], list[str]]] = {
    "a property": (
        [AskedSlot("x", TEXT_OR_NONE, nullable=True), AskedSlot("x (there is none)", {"type": "boolean"})],
        ["x", "x (there is none) (2)", "x (there is none)"],
    ),
    "the property before": (
        [AskedSlot("x (there is none)", {"type": "boolean"}), AskedSlot("x", TEXT_OR_NONE, nullable=True)],
        ["x (there is none)", "x", "x (there is none) (2)"],
    ),
    "the other key, too": (
        [
            AskedSlot("x", TEXT_OR_NONE, nullable=True),
            AskedSlot("x (there is none)", TEXT_OR_NONE, nullable=True),
            AskedSlot("x (there is none) (2)", {"type": "boolean"}),
        ],
        [
            "x",
            "x (there is none) (3)",
            "x (there is none)",
            "x (there is none) (there is none)",
            "x (there is none) (2)",
        ],
    ),
}


@pytest.mark.parametrize(("slots", "keys"), CLASHES.values(), ids=CLASHES)
def test_no_two_fields_of_a_form_share_a_key(slots: list[AskedSlot], keys: list[str]) -> None:
    # R-16: a property may be called like the field that says of another that there is none
    asked = question(*slots)
    form = form_of(asked)
    assert form is not None
    assert list(form["properties"]) == keys
    denies = next(key for key, field in form["properties"].items() if field["title"] == "x: there is none")
    assert answers_of(asked, {denies: True, "x (there is none)": True}) == {"x": None, "x (there is none)": True}
    assert answers_of(asked, {"x (there is none)": True, "x": "hello"}) == {"x": "hello", "x (there is none)": True}
    assert answers_of(asked, {"x (there is none)": False}) == {"x (there is none)": False}


def test_an_item_called_like_a_field_beside_it_keeps_its_key() -> None:
    asked = question(
        AskedSlot("x", TEXT_OR_NONE, nullable=True), items=(AskedItem("x (there is none)", "Is there none?"),)
    )
    form = form_of(asked)
    assert form is not None
    titles = {key: field["title"] for key, field in form["properties"].items()}
    assert titles == {"x": "x", "x (there is none) (2)": "x: there is none", "x (there is none)": "Is there none?"}
    assert answers_of(asked, {"x (there is none)": True}) == {"x (there is none)": True}
    assert answers_of(asked, {"x (there is none) (2)": True}) == {"x": None}


def test_what_was_no_field_of_the_form_is_handed_on_to_be_refused() -> None:
    assert answers_of(question(AskedSlot("x", TEXT_OR_NONE)), {"x (there is none)": True, "y": ""}) == {
        "x (there is none)": True
    }


def test_fields_of_a_page_take_every_kind() -> None:
    schemas = {**KINDS, "list": {"type": "array", "items": {"type": "integer"}}, "a b\x00": {"type": "integer"}}
    asked = question(*[AskedSlot(name, schema, nullable=name == "part") for name, schema in schemas.items()])
    kinds = [field.kind for field in fields_of(asked, {})]
    assert kinds == ["text", "text", "text", "text", "select", "select", "lines", "text", "lines", "text"]
    typed = {"s0": "abc", "s2": "5", "n3": "true", "s4": "true", "s5": "b", "s6": '["a"]', "s8": "[1, 2]", "s9": "7"}
    answers = answers_in(asked, typed)
    assert answers == {
        "text": "abc", "whole": 5, "part": None, "yes": True, "one": "b", "some": ["a"], "list": [1, 2], "a b\x00": 7,
    }  # fmt: skip
    with pytest.raises(AnswerRefused, match="`whole` does not fit"):
        answers_in(asked, {"s2": "five"})


def test_text_to_be_approved_can_be_said_to_be_none_where_there_may_be_none() -> None:
    asked = question(AskedSlot("note", {"type": "string"}, nullable=True, shown="hi", confirm="confirm/note"))
    form = form_of(asked)
    assert form is not None
    assert list(form["properties"]) == ["note", "confirm/note", "note (there is none)"]
    assert form["required"] == []
    assert answers_of(asked, {"note (there is none)": True}) == {"note": None}
    (field,) = fields_of(asked, {})
    assert [name for name, _ in field.ticks] == ["c0", "n0"]
    assert answers_in(asked, {"n0": "true"}) == {"note": None}
    assert answers_in(asked, {"c0": "true"}) == {"confirm/note": True}
    assert answers_in(asked, {"c0": "true", "n0": "true"}) == {"note": None, "confirm/note": True}  # refused later
    assert answers_in(asked, {"s0": "other", "c0": "true"}) == {"note": "other"}


def test_fields_of_a_private_question_are_never_filled_in_again() -> None:
    (field,) = fields_of(question(AskedSlot("key", {"type": "string"}), private=True), {"s0": "typed before"})
    assert (field.kind, field.typed) == ("password", "")


@pytest.mark.parametrize("size", [1, 3, 7, 1_000])
def test_lines_come_whole_however_they_arrive(size: int) -> None:
    data = b'{"id": 1}\n\n{"id": 2, "x": "' + b"y" * 50 + b'"}\n'
    lines = Lines(1_000)
    found = [line for at in range(0, len(data), size) for line in lines.feed(data[at : at + size])]
    assert found == data.split(b"\n")[:-1]


@pytest.mark.parametrize(("line", "identifier"), [
    (b'{"jsonrpc":"2.0","id":7,"result":"' + b"x" * 9_000 + b'"}', 7),
    (b'{"result":"' + b"x" * 9_000 + b'","id":"seven"}', "seven"),
    (b'{"result":"' + b"x" * 9_000 + b'"}', None),
    (b'{"result":{"id":5,"text":"' + b"x" * 9_000 + b'"},"id":9,"jsonrpc":"2.0"}', 9),
    (b'{"result":{"text":"' + b"x" * 9_000 + b'","id":5}}', None),
])  # fmt: skip
def test_of_a_line_that_is_too_long_the_id_is_found(line: bytes, identifier: object) -> None:
    lines = Lines(5_000)
    data = line + b"\nnext\n"
    found = [each for at in range(0, len(data), 700) for each in lines.feed(data[at : at + 700])]
    assert isinstance(found[0], Oversized)
    assert found[0].heading == Heading(identifier, asks=False, answers=True)
    assert found[1:] == [b"next"]


def test_a_state_is_good_for_its_own_call_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    sealing, call = Sealing(), {"name": "write", "arguments": {"line": "a"}}
    token = sealing.seal(call, {"held": "x"})
    assert sealing.opened({**call, "requestState": token}) == {"held": "x"}
    assert sealing.opened(call) is None
    assert sealing.opened({**call, "requestState": "the server's own"}) is None
    for params in ({**call, "name": "other"}, {**call, "arguments": {}}):
        with pytest.raises(MCPError, match="belongs to another call"):
            sealing.opened({**params, "requestState": token})
    with pytest.raises(MCPError, match="not made here"):
        Sealing().opened({**call, "requestState": token})
    monkeypatch.setattr(time, "time", lambda: 1e12)
    with pytest.raises(MCPError, match="too old"):
        sealing.opened({**call, "requestState": token})


def test_codes_hold_for_a_while_and_guessing_ends_them(monkeypatch: pytest.MonkeyPatch) -> None:
    pairing, now = Pairing(b"k" * 32), 1_000_000.0
    monkeypatch.setattr(time, "time", lambda: now)
    code = pairing.code()
    assert pairing.takes(f" {code[:5]} {code[5:]} ")
    assert not Pairing(b"l" * 32).takes(code)
    for _ in range(10):
        assert not pairing.takes("0000000000")
    assert not pairing.takes(code)
    now += 600
    assert pairing.takes(pairing.code())
    now += 1_200
    assert not pairing.takes(code)
    assert pairing.knows(pairing.cookie())
    assert not pairing.knows(None)


@pytest.mark.parametrize(
    "name",
    [
        "apiKey", "api_key", "Password", "user.pass-phrase", "pin", "access-token", "otp", "비밀번호", "pwd", "passwd",
        "token", "ssn", "mnemonic", "seedPhrase", "mot de passe", "p\u200bassword", "p\u0430ssword",
    ],
)  # fmt: skip
def test_forms_that_pry_are_known(name: str) -> None:
    assert pries("elicitation/create", {"requestedSchema": {"properties": {name: {"type": "string"}}}}) == name
    titled = {"requestedSchema": {"properties": {"x": {"title": name}}}}
    assert pries("elicitation/create", titled) == "x"
    assert pries("elicitation/create", {**titled, "mode": "url"}) is None
    assert pries("elicitation/create", {**titled, "mode": "FORM"}) == "x"
    inner = {"requestedSchema": {"properties": {"a": {"anyOf": [{"properties": {name: {}}}]}}}}
    assert pries("elicitation/create", inner) == name
    named = {"requestedSchema": {"$defs": {name: {}}, "properties": {"a": {"$ref": "#/$defs/x"}}}}
    assert pries("elicitation/create", named) == name
    described = {"requestedSchema": {"properties": {"a": {"description": f"your {name}"}}}}
    assert pries("elicitation/create", described) == "a"
    assert pries("elicitation/create", {"message": f"Please type your {name} below"}) == "message"


@pytest.mark.parametrize("name", ["colour", "spin", "page", "secretary", "tokens", "passenger", "compass"])
def test_forms_that_do_not_pry_are_shown(name: str) -> None:
    assert pries("elicitation/create", {"requestedSchema": {"properties": {name: {}}}}) is None
    assert pries("elicitation/create", {"message": f"Type the {name}", "requestedSchema": 7}) is None


@pytest.mark.parametrize(
    "message", ["Your password was changed. Which address is yours?", "Enter the page token", "Type a name, not a PINK"]
)
def test_a_secret_that_is_spoken_of_is_not_asked_for(message: str) -> None:
    assert pries("elicitation/create", {"message": message}) is None


def test_what_belongs_to_one_connection_stays_there() -> None:
    meta = {f"{eras.ENVELOPE}protocolVersion": "x", "progressToken": 1, "traceparent": "t"}
    params = {"name": "n", "_meta": meta, "requestState": "s", "inputResponses": {}}
    assert eras.bare_params(params) == {"name": "n", "_meta": {"traceparent": "t"}}
    assert eras.bare_params({"_meta": {"progressToken": 1}}) == {}


def test_servers_are_read_from_a_clients_file(tmp_path: Any) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(
        '{"mcpServers": {"a": {"command": "x", "args": ["y"], "env": {"K": "v"}}, "b": {"url": "http://h"}}}'
    )
    first, second = of_file(path, {"PATH": "/bin", "SECRET": "s"})
    assert (first.command, first.environment) == (("x", "y"), {"PATH": "/bin", "K": "v"})
    assert second.url == "http://h"
    for text in (
        "[]",
        "{}",
        '{"mcpServers": {"a": 1}}',
        '{"mcpServers": {"a": {}}}',
        '{"mcpServers": {"a": {"command": "x", "args": [1]}}}',
        "{",
    ):
        path.write_text(text)
        with pytest.raises(InvalidInput):
            of_file(path, {})


def test_a_server_that_is_disabled_in_a_file_is_told_and_not_started(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "mcp.json"
    off = {"command": "x", "disabled": True}
    servers = {"a": off, "b": {"command": "y", "disabled": False, "type": "stdio"}}
    path.write_text(json.dumps({"mcpServers": servers}))
    assert [server.name for server in of_file(path, {})] == ["b"]
    assert f"`a` is disabled in {path}, so it is not started" in caplog.text
    path.write_text(json.dumps({"mcpServers": {"a": off}}))
    with pytest.raises(InvalidInput, match="every server in it is disabled"):
        of_file(path, {})
    path.write_text(json.dumps({"mcpServers": {"a": {**off, "disabled": "yes"}}}))
    with pytest.raises(InvalidInput, match="mcpServers/a/disabled`: neither true nor false"):
        of_file(path, {})


def test_a_transport_that_is_not_spoken_is_refused_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    for kind in ("sse", "ws", 7):
        path.write_text(json.dumps({"mcpServers": {"a": {"type": kind, "url": "http://127.0.0.1:9/sse"}}}))
        with pytest.raises(InvalidInput) as refused:
            of_file(path, {})
        assert f"mcpServers/a/type`: the transport `{kind}` is not spoken here; use `stdio`" in str(refused.value)
    for kind in ("http", "streamable-http", "streamableHttp"):
        path.write_text(json.dumps({"mcpServers": {"a": {"type": kind, "url": "http://127.0.0.1:9/mcp"}}}))
        assert of_file(path, {})[0].url == "http://127.0.0.1:9/mcp"


def test_a_server_gets_nothing_of_ours() -> None:
    given = {"PATH": "/bin", "API_KEY": "k", "PREFLIGHT_KEYS": "s", "VIRTUAL_ENV": "v", "PYTHONPATH": "p"}
    assert of_command("n", ("x",), given).environment == {"PATH": "/bin", "API_KEY": "k"}


def test_a_server_goes_by_the_names_of_its_address() -> None:
    assert hosts_for("127.0.0.1", 9)[0] == ["127.0.0.1:9", "localhost:9", "[::1]:9"]
    assert hosts_for("10.0.0.5", 9)[1][-1] == "http://10.0.0.5:9"
    assert hosts_for("0.0.0.0", 9)[0] is None  # noqa: S104  compared with


def test_addresses() -> None:
    assert address_of(":8931") == ("127.0.0.1", 8931)
    assert address_of("[::1]:0") == ("::1", 0)
    for text in ("8931", ":x", ":70000", "host:"):
        with pytest.raises(InvalidInput):
            address_of(text)


def test_only_the_time_to_run_is_not_described_by_the_tool() -> None:
    # R-81
    named = {"type": "string", "description": "what it is called"}
    asked = question(AskedSlot("when", {"type": "string", "description": FORMS}), AskedSlot("name", named))
    form = form_of(asked)
    assert form is not None
    in_form = [form["properties"][name]["description"] for name in ("when", "name")]
    on_page = ["; ".join(field.lines) for field in fields_of(asked, {})]
    for ours, the_tool_s in (in_form, on_page):
        assert ours.endswith(f"; {FORMS}")
        assert the_tool_s.endswith("; the tool's own description: what it is called")


def test_a_masked_argument_is_no_change_whatever_its_name() -> None:
    sealed = {"/call_arguments/a~1b": Sealed("s", b"")}
    record = sample_decision("d1", call_arguments={"a/b": MASK, "c": 1}, sealed=sealed)
    assert changes({"a/b": "typed", "c": 2, "d": 3}, record) == {"c": 1, "d": None}


@pytest.mark.parametrize("module", ["session", "session_sync"])
@pytest.mark.parametrize("package", ["anyio", "mcp"])
def test_without_the_extra_a_session_says_what_to_install(module: str, package: str) -> None:
    # None makes Python's import raise, as it does where nothing is installed
    program = f"import sys; sys.modules['{package}'] = None; import preflight.mcp.{module}"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "install the extra: pip install 'execution-state-preflight[mcp]'" in ran.stderr.splitlines()[-1]


def test_a_run_that_ended_here_is_not_looked_up_again() -> None:
    storage = MemoryStorage()
    calls = CallIds(storage)
    ran = sample_step(sample_decision("d3", call_id="b.3"), "executed")
    calls.ended("b", ran)
    assert calls.current(HERE, "b").call_id == "b.4"
    storage.append(sample_decision("d4", call_id="b.4"))  # another process of this session decides the next one
    assert calls.current(HERE, "b").call_id == "b.4"
    calls.ended("b", sample_step(sample_decision("d4", call_id="b.4"), "failed"))
    assert calls.current(HERE, "b").call_id == "b.5"
    calls.ended("b", sample_step(sample_decision("d9", call_id="b.9"), "in_doubt"))
    calls.ended("b", sample_step(sample_decision("d9"), "executed"))
    assert calls.current(HERE, "b").call_id == "b.5"


def test_marks_take_lists_as_servers_send_them() -> None:
    marks = Marks(rules_source({("s", "a"): ToolRules(pin="0" * 64), ("s", ""): ToolRules(pin="0" * 64)}), "u")
    unnamed = {"name": ""}
    page = {"tools": [{"name": "a", "_meta": 5}, "b", None, unnamed, {"name": "c"}], "nextCursor": "1"}
    shown = marks.on_page("s", page)
    assert (shown["tools"][0]["description"], list(shown["tools"][0]["_meta"])) == (NOTE, [HELD])
    assert shown["tools"][1:] == page["tools"][1:]
    assert shown["nextCursor"] == "1"
    assert "_meta" in page["tools"][0]
    assert page["tools"][0]["_meta"] == 5  # type: ignore[index]
    for untouched in ({"tools": [unnamed, "b", None]}, {"tools": None}, {}):
        assert marks.on_page("s", untouched) is untouched
    assert marks.on_page("other", page) is page


def test_that_nobody_answered_is_kept_and_where_it_cannot_be_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    gate = create_preflight(storage=MemoryStorage())
    gate.storage.ask(question())
    note_silence(gate, question(), "form", "time_out", -0.5)
    note_silence(gate, question(), "form", "cancel", 0.5, "wire 1")
    kept = gate.storage.no_answers("q")
    assert [(note.how, note.seconds, note.at_once, note.client) for note in kept] == [
        ("time_out", 0.0, False, ""), ("cancel", 0.5, True, "wire 1"),
    ]  # fmt: skip
    gate.close()
    note_silence(gate, question(), "form", "decline", 2, "wire 1")
    assert "no answer to q (decline by wire 1), not stored" in caplog.text
