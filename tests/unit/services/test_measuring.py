"""One declared read, and what becomes of its result (R-15, R-16, R-60)."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from preflight.errors import HookError, InvalidInput
from preflight.limits import Limits
from preflight.model.json_value import freeze
from preflight.model.rules import MeasureRule
from preflight.services.measuring import Measurer, content_of, rows_at, steps
from preflight.testing import FakeClock


class Server:
    """A read tool that answers with what it is told to, and remembers what it was asked."""

    def __init__(self, result: object = None) -> None:
        self.result = result
        self.asked: list[tuple[str, str, dict[str, object]]] = []

    def __call__(self, server: str, tool: str, arguments: dict[str, object]) -> object:
        self.asked.append((server, tool, arguments))
        return self.result


def structured(value: object) -> dict[str, object]:
    return {"content": [{"type": "text", "text": "for people"}], "structuredContent": value}


def text(*texts: str) -> dict[str, object]:
    return {"content": [{"type": "text", "text": each} for each in texts]}


def measure(via: Any = "mcp", **parts: Any) -> MeasureRule:
    return MeasureRule("balance", via, **({"server": "bank", "tool": "get"} if via == "mcp" else {}), **parts)


def read(rule: MeasureRule, result: object = None, known: dict[str, object] | None = None) -> dict[str, object]:
    return Measurer(Server(result), FakeClock()).read(rule, known or {})


def test_a_measurement_says_what_was_read_when_and_where() -> None:
    found = read(measure(pointer="/accounts/1/won"), structured({"accounts": [{"won": 1}, {"won": 7}]}))
    assert found == {"valid": True, "value": 7, "observed_at": found["observed_at"], "by": "bank/get"}
    assert str(found["observed_at"]).startswith("2026-03-01T09:00:00")


def test_a_slot_s_confirmed_value_is_sent_as_an_argument() -> None:
    server = Server(structured({}))
    rule = measure(arguments={"account": {"slot": "from"}, "filter": {"open": True}, "list": [{"slot": "from"}]})
    Measurer(server, FakeClock()).read(rule, {"from": ("1", "2")})
    sent = {"account": ["1", "2"], "filter": {"open": True}, "list": [{"slot": "from"}]}
    assert server.asked == [("bank", "get", sent)]


@pytest.mark.parametrize("slot", ["from", 5, None])
def test_a_slot_that_is_not_confirmed_is_not_measured_with(slot: object) -> None:
    server = Server(structured({}))
    with pytest.raises(HookError, match="which is not confirmed"):
        Measurer(server, FakeClock()).read(
            measure(arguments={"account": freeze({"slot": slot}, "argument")}), {"to": "x"}
        )
    assert server.asked == []


def test_what_the_program_hands_over_is_not_read() -> None:
    with pytest.raises(HookError, match="`balance` is not in `measured_data`"):
        Measurer(None, FakeClock()).read(measure("given"), {})


def test_without_a_connection_nothing_is_read_from_a_server() -> None:
    with pytest.raises(HookError, match="reads the server `bank`, and no connection was given; give one: `--conn"):
        Measurer(None, FakeClock()).read(measure(), {})


@pytest.mark.parametrize("pointer", ["/lost", "/accounts/9", "/accounts/x", "/accounts/0/won/deeper"])
def test_nothing_at_the_pointer_is_no_measurement(pointer: str) -> None:
    with pytest.raises(HookError, match="found nothing at"):
        read(measure(pointer=pointer), structured({"accounts": [{"won": 1}]}))


def test_null_is_something() -> None:
    assert read(measure(pointer="/a"), structured({"a": None}))["value"] is None


# what an MCP result says


class Model:
    """As the results of MCP clients come: an object with its own way of becoming plain."""

    def model_dump(self, *, by_alias: bool, mode: str) -> dict[str, object]:
        return structured({"by_alias": by_alias, "mode": mode})


@pytest.mark.parametrize(
    ("result", "value"),
    [
        (structured({"a": 1}), {"a": 1}),
        (text('{"a": 1}'), {"a": 1}),
        (text("seven"), "seven"),
        ({"content": [{"type": "image", "data": "x"}, {"type": "text", "text": "7"}]}, 7),
        ({"a": 1}, {"a": 1}),
        ({"content": "no list"}, {"content": "no list"}),
        ([1, 2], (1, 2)),
        (7, 7),
        (Model(), {"by_alias": True, "mode": "json"}),
        ({"isError": False, **structured({"a": 1})}, {"a": 1}),
    ],
)
def test_a_result_is_its_structured_content_or_its_only_text(result: object, value: object) -> None:
    assert content_of(result) == value


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({"isError": True, **structured({"a": 1})}, "returned an error"),
        (text("1", "2"), "no single text"),
        (text(), "no single text"),
        ({"content": [{"type": "text", "text": 7}]}, "no single text"),
        ({"content": [{"type": "image"}, "x"]}, "no single text"),
    ],
)
def test_an_error_and_an_unclear_result_are_no_measurement(result: object, said: str) -> None:
    with pytest.raises(HookError, match=said):
        content_of(result)


def test_what_is_no_json_is_no_measurement() -> None:
    with pytest.raises(InvalidInput):
        read(measure(), {"structuredContent": object()})


# pointers and rows


@pytest.mark.parametrize(
    ("pointer", "path"),
    [("", ()), ("/a", ("a",)), ("/", ("",)), ("/0/a~1b/~0", (0, "a/b", "~")), ("/\N{ARABIC-INDIC DIGIT ONE}", ("١",))],
)
def test_a_pointer_is_read_as_the_standard_says(pointer: str, path: tuple[object, ...]) -> None:
    assert steps(pointer) == path


ROWS = freeze({"rows": [{"n": 1}, {"n": 2}], "by_name": {"a": [1, 2], "b": [3]}, "one": 5}, "rows")


@pytest.mark.parametrize(
    ("pointer", "rows"),
    [
        ("/rows", [("/rows/0", {"n": 1}), ("/rows/1", {"n": 2})]),
        ("/by_name", [("/by_name/a", (1, 2)), ("/by_name/b", (3,))]),
        ("/by_name/*", [("/by_name/a/0", 1), ("/by_name/a/1", 2), ("/by_name/b/0", 3)]),
        ("/by_name/b", [("/by_name/b/0", 3)]),
        ("/one", []),
        ("/nothing", []),
        ("/nothing/*", []),
    ],
)
def test_rows_stand_in_a_list_or_an_object_each_with_its_place(pointer: str, rows: object) -> None:
    assert rows_at(ROWS, pointer) == rows


# a database, a function, a web service


@pytest.fixture
def database(tmp_path: Path) -> str:
    path = tmp_path / "accounts.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE account (id TEXT, won INTEGER, tags TEXT)")
        db.executemany("INSERT INTO account VALUES (?, ?, ?)", [("a", 5, '["x"]'), ("b", 7, None), ("b", 8, None)])
    db.close()
    return str(path)


def test_one_row_is_read_from_a_database(database: str) -> None:
    rule = measure(
        "sql", database=database, query="SELECT * FROM account WHERE id = :id", arguments={"id": {"slot": "a"}}
    )
    found = read(rule, known={"a": "a"})
    assert (found["value"], found["by"]) == ({"id": "a", "won": 5, "tags": '["x"]'}, database)


def test_a_list_is_handed_to_a_database_as_json(database: str) -> None:
    query = "SELECT won FROM account WHERE tags = :tags"
    rule = measure("sql", database=database, query=query, arguments={"tags": {"slot": "tags"}}, pointer="/won")
    assert read(rule, known={"tags": ("x",)})["value"] == 5


@pytest.mark.parametrize(("name", "said"), [("b", "found several rows"), ("c", "found no row")])
def test_a_database_must_have_exactly_one_row(database: str, name: str, said: str) -> None:
    rule = measure("sql", database=database, query="SELECT won FROM account WHERE id = :id", arguments={"id": name})
    with pytest.raises(HookError, match=said):
        read(rule)


def test_a_database_is_not_written_to(database: str) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        read(measure("sql", database=database, query="DELETE FROM account RETURNING won"))


def test_a_function_is_called_with_the_arguments() -> None:
    found = read(measure("python", entry="builtins:dict", arguments={"won": {"slot": "amount"}}), known={"amount": 5})
    assert (found["value"], found["by"]) == ({"won": 5}, "builtins:dict")


def test_a_function_that_returns_no_json_is_no_measurement() -> None:
    with pytest.raises(InvalidInput):
        read(measure("python", entry="datetime:timedelta"))


class Answers(BaseHTTPRequestHandler):
    """Answers with the query it got, or with what stands at the path."""

    body = b""

    def do_GET(self) -> None:
        body = self.body or json.dumps({"path": self.path, "accept": self.headers["Accept"]}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(Answers, "body", b"")
    server = HTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/balance"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("more", "arguments", "path"),
    [
        ("", {}, "/balance"),
        ("", {"of": "a b", "n": [1]}, "/balance?of=a+b&n=%5B1%5D"),
        ("?v=2", {"of": "a"}, "/balance?v=2&of=a"),
    ],
)
def test_a_web_service_is_asked_with_a_query(service: str, more: str, arguments: Any, path: str) -> None:
    found = read(measure("http", url=service + more, arguments=arguments))
    assert found["value"] == {"path": path, "accept": "application/json"}
    assert found["by"] == service + more


def test_a_web_service_that_answers_too_much_or_no_json_is_no_measurement(
    service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Answers, "body", b'{"a": 1, "a": 2}')
    with pytest.raises(InvalidInput, match="twice"):
        read(measure("http", url=service))
    monkeypatch.setattr(Answers, "body", b"[" + b"1," * 50 + b"1]")
    few = Measurer(None, FakeClock(), Limits(hook_result_bytes=64))
    with pytest.raises(HookError, match="more than 64 bytes"):
        few.read(measure("http", url=service), {})


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/x", "balance"])
def test_only_http_is_read(url: str) -> None:
    with pytest.raises(HookError, match="a URL that is not http"):
        read(measure("http", url=url))
