"""`preflight doctor` over real servers: what they show, how their tools stand, what of the rules is about nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.acceptance.terminal import Ran
from tests.integration.wire import BANK_RULES, bank, everything

HERE = Path(__file__).resolve().parent / "upstreams"
MODERN = [sys.executable, str(HERE / "modern.py")]
SAFE = ["the answer page", "a terminal"]
WRONG = "0" * 64

pytestmark = pytest.mark.thorough


class Doctor:
    """Runs the command over a database of its own, with rules and servers that are written first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *options: str | Path, **env: str) -> Ran:
        command = [sys.executable, "-m", "preflight", "doctor", *map(str, options)]
        state = {"XDG_STATE_HOME": str(self.folder), "PREFLIGHT_USER": "joonho"}
        ran = subprocess.run(
            command, env=os.environ | state | env, capture_output=True, text=True, timeout=120, check=False
        )
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    def rules(self, **shape: Any) -> Path:
        path = self.folder / "rules.json"
        path.write_text(json.dumps({"version": 1, **shape}), encoding="utf-8")
        return path

    def ruled(self, **servers: dict[str, Any]) -> Path:
        return self.rules(servers={server: {"tools": tools} for server, tools in servers.items()})

    def servers(self, **commands: list[str] | str) -> Path:
        path = self.folder / "servers.json"
        entries = {
            name: {"url": given} if isinstance(given, str) else {"command": given[0], "args": given[1:]}
            for name, given in commands.items()
        }
        path.write_text(json.dumps({"mcpServers": entries}), encoding="utf-8")
        return path


@pytest.fixture
def doctor(tmp_path: Path) -> Doctor:
    return Doctor(tmp_path)


@pytest.fixture(scope="module")
def shop() -> Iterator[str]:
    """The address of a server over HTTP."""
    with subprocess.Popen([sys.executable, str(HERE / "web.py")], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def standings(server: Any) -> dict[str, tuple[str, str]]:
    return {each["tool"]: (each["gate"], each["why"]) for each in server["standings"]}


def test_each_tool_of_a_server_stands_as_the_rules_say(doctor: Doctor, tmp_path: Path) -> None:
    ran = doctor("--rules", BANK_RULES, "--json", "--", *bank(tmp_path))
    assert (ran.code, ran.json["broken"]) == (0, [])
    (server,) = ran.json["servers"]
    told = {key: server[key] for key in ("name", "fault", "era", "version", "calls_itself", "own_version")}
    assert told == {
        "name": "bank", "fault": None, "era": "modern", "version": "2026-07-28", "calls_itself": "bank",
        "own_version": "1",
    }  # fmt: skip
    stand = standings(server)
    assert stand["balance_get"] == ("passes", "it reads")
    assert stand["transfer"] == ("gated", "irreversible")
    enough = {each["tool"]: each["enough"] for each in server["standings"]}
    assert (enough["balance_get"], enough["transfer"]) == ([], SAFE)
    assert enough["invoices_archive"] == ["the client's form", *SAFE]
    assert len(server["tools"]) == len(stand) == 7


def test_the_same_is_told_in_words(doctor: Doctor, tmp_path: Path) -> None:
    ran = doctor("--rules", BANK_RULES, "--", *bank(tmp_path))
    assert ran.code == 0, ran.out
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert 'bank: calls itself "bank" "1", speaks 2026-07-28 (modern), 7 tools' in lines
    assert "balance_get passes it reads not pinned" in lines
    assert "invoices_archive gated reversible not pinned the client's form, the answer page, a terminal" in lines
    assert "clients: no client seen yet that was asked something" in lines
    assert any(line.startswith(f"rules {BANK_RULES}: load, 7 tools") for line in lines)
    assert any(line.startswith(f"{BANK_RULES / 'bank.yaml'} 20") and line.endswith(" ago") for line in lines)
    assert "broken:" not in lines


def test_a_server_that_cannot_be_seen_is_told_with_its_reason_and_the_others_are_seen(
    doctor: Doctor, shop: str, tmp_path: Path
) -> None:
    servers = doctor.servers(
        bank=bank(tmp_path), modern=MODERN, everything=everything(), shop=shop, missing=["/no/such/server"],
        ends=[sys.executable, "-c", ""], silent=[sys.executable, "-c", "import time; time.sleep(60)"],
        nowhere="http://127.0.0.1:9/mcp", elsewhere=shop + "/not",
    )  # fmt: skip
    ran = doctor("--servers", servers, "--timeout", "12", "--json", "--rules", doctor.ruled(bank={}))
    assert ran.code == 1
    found = {server["name"]: server for server in ran.json["servers"]}
    eras = {name: (server["era"], server["version"]) for name, server in found.items() if server["era"]}
    assert eras == {
        "bank": ("modern", "2026-07-28"), "modern": ("modern", "2026-07-28"), "shop": ("modern", "2026-07-28"),
        "everything": ("handshake", "2025-11-25"),
    }  # fmt: skip
    assert [len(found[name]["tools"]) for name in eras] == [7, 4, 16, 1]
    faults = {name: server["fault"] for name, server in found.items() if server["fault"]}
    assert list(faults) == ["missing", "ends", "silent", "nowhere", "elsewhere"]
    assert "`/no/such/server` cannot be started" in faults["missing"]
    assert "did not answer the greeting" in faults["ends"]
    assert faults["silent"] == "the server `silent` did not answer within 12 seconds"
    assert "ConnectError" in faults["nowhere"]
    assert "HTTP 404 Not Found" in faults["elsewhere"]
    assert ran.json["broken"] == list(faults.values())


def test_a_server_at_an_address(doctor: Doctor, shop: str) -> None:
    ran = doctor("--rules", doctor.ruled(shop={"order": {"effect": "reversible"}}), "--url", shop)
    assert ran.code == 0, ran.out
    assert 'shop: calls itself "shop" "3", speaks 2026-07-28 (modern), 1 tools' in ran.out


LISTS = {
    "tools": ({"result": {"tools": [{"name": "a", "inputSchema": {}}, {"name": "b\u0007"}]}}, ["a", "b\u0007"], None),
    "none": ({"error": {"code": -32601, "message": "what is that"}}, [], None),
    "an error": ({"error": {"code": -32603, "message": "not now"}}, None, "the server `old` lists no tools: not now"),
}


@pytest.mark.parametrize(("answer", "tools", "fault"), LISTS.values(), ids=LISTS)
def test_an_old_server_is_greeted_as_it_wants_to_be_and_what_it_says_is_made_visible(
    doctor: Doctor, answer: Any, tools: list[str] | None, fault: str | None
) -> None:
    command = [sys.executable, str(HERE / "stubborn.py"), "--list", json.dumps(answer)]
    given = ("--name", "old", "--rules", doctor.ruled(old={}))
    ran = doctor(*given, "--json", "--", *command)
    (server,) = ran.json["servers"]
    assert (server["era"], server["version"], server["tools"], server["fault"]) == (
        "handshake", "2024-11-05", tools, fault,
    )  # fmt: skip
    assert ran.code == (1 if fault else 0)
    text = doctor(*given, "--", *command).out
    assert '"old\\u{202e}\\u{001b}[31m"' in text
    assert not any(char in text for char in "\u202e\u001b\u0007")
    if tools:
        assert standings(server) == {
            "a": ("gated", "no rule names it, so it counts as irreversible"),
            "b\u0007": ("held", "it cannot be read as a tool: has control or invisible characters"),
        }


class Odd(BaseHTTPRequestHandler):
    """A server that answers every request with the same bytes."""

    answer = (b"", b"")

    def do_POST(self) -> None:
        kind, body = self.answer
        self.rfile.read(int(self.headers.get("content-length", 0)))
        head = b"HTTP/1.1 200 fine\x1b[31m\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n" % (kind, len(body))
        self.wfile.write(head + body)
        self.close_connection = True

    def do_GET(self) -> None:
        self.do_POST()

    def log_message(self, *_said: object) -> None:
        pass


NO_MESSAGE = "it is no JSON-RPC 2.0 message"
ODD = {
    "a page": (b"text/html", b"<html>\x1b[31m", "it is `text/html`, not JSON"),
    "a type": (b"text/\x1b]0;owned\x07", b"hi", "it is `text/\\u{001b}]0;owned\\u{0007}`, not JSON"),
    "no object": (b"application/json", b"[1", NO_MESSAGE),
    "empty": (b"application/json", b"{}", NO_MESSAGE),
    "no result": (b"application/json", b'{"jsonrpc":"2.0","id":1,"result":["\\u001b[31m"]}', NO_MESSAGE),
    "no event": (b"text/event-stream", b"data: \x1b[2J\xe2\x80\xae\n\n", NO_MESSAGE),
    "an error": (
        b"application/json",
        b'{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"\\u001b[31mX\\u202e"}}',
        "\\u{001b}[31mX\\u{202e}",
    ),
}


@pytest.mark.parametrize(("kind", "body", "told"), ODD.values(), ids=ODD)
def test_nothing_that_a_server_sends_reaches_a_terminal_as_it_came(
    doctor: Doctor, kind: bytes, body: bytes, told: str
) -> None:
    handler = type("Same", (Odd,), {"answer": (kind, body)})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        serving = Thread(target=server.serve_forever)
        serving.start()
        try:
            ran = doctor("--url", f"http://127.0.0.1:{server.server_address[1]}/mcp", "--name", "odd")
        finally:
            server.shutdown()
            serving.join()
    assert (ran.code, ran.err) == (1, "")
    assert "  the server `odd` did not answer the greeting: " in ran.out
    assert told in ran.out
    assert "pydantic" not in ran.out
    assert all(char == "\n" or char.isprintable() for char in ran.out)


def test_a_name_with_two_definitions_is_held_and_told(doctor: Doctor) -> None:
    #
    one, other = ({"name": "a", "description": text, "inputSchema": {}} for text in ("reads", "reads more"))
    tools = {"result": {"tools": [one, {"name": "b", "inputSchema": {}}, other]}}
    command = [sys.executable, str(HERE / "stubborn.py"), "--list", json.dumps(tools)]
    rules = doctor.ruled(old={"a": {"effect": "read"}, "b": {"effect": "read"}})
    ran = doctor("--name", "old", "--rules", rules, "--json", "--", *command)
    assert ran.code == 1
    why = "the server lists its name more than once, with different definitions"
    assert standings(ran.json["servers"][0]) == {"a": ("held", why), "b": ("passes", "it reads")}
    assert ran.json["broken"] == [
        "`old` lists `a` more than once, with different definitions; have it name them apart"
    ]  # fmt: skip


def test_rules_about_what_is_not_there_name_what_is_nearest(doctor: Doctor, tmp_path: Path) -> None:
    transfer: dict[str, Any] = {"fields": {"amuont": {"role": "quantity"}}, "conditions": [
        {"id": "enough", "expression": "measured.account.balance > 0"}]}  # fmt: skip
    measures = {"account": {"mcp": {"server": "bank", "tool": "balance_gett"}}}
    rules = doctor.rules(
        measures=measures,
        servers={
            "bank": {"tools": {"transfer": transfer, "transfr": {}, "ledger_list": {"effect": "read"}}},
            "bnak": {"tools": {"a": {}, "b": {}}},
            "": {"tools": {"plain": {}}},
        },
        users={"minji": {"servers": {"bank": {"tools": {"invoices_archiv": {"effect": "irreversible"}}}}}},
    )
    ran = doctor("--rules", rules, "--servers", doctor.servers(bank=bank(tmp_path)), "--json")
    assert ran.code == 1
    told = [text.partition(": ")[2] for text in ran.json["broken"]]
    assert [text.removeprefix("1:1: ") for text in told] == [
        "the tool has no field `amuont`; did you mean `amount`?",
        "`bank` lists no tool `transfr`; did you mean `transfer`?",
        "no server here is called `bnak`; did you mean `bank`?",
        "`bank` lists no tool `invoices_archiv`; did you mean `invoices_archive`?",
        "the measure `account` reads `balance_gett` of `bank`, which lists no such tool; did you mean `balance_get`?",
    ]
    assert all(text.startswith(f"{rules}:1:") for text in ran.json["broken"])


def test_rules_for_other_servers_are_no_fault_of_one_that_is_looked_at_alone(doctor: Doctor) -> None:
    rules = doctor.ruled(modern={"look": {"effect": "read"}}, far={"x": {}})
    assert doctor("--rules", rules, "--name", "modern", "--", *MODERN).code == 0
    ran = doctor("--rules", rules, "--name", "modrn", "--json", "--", *MODERN)
    assert ran.code == 1
    assert "no server here is called `modern`; did you mean `modrn`?" in ran.json["broken"][0]


def test_measures_of_servers_that_are_not_there_are_told(doctor: Doctor) -> None:
    look = {"fields": {"line": {"measure": "rate"}}, "measures": {"rate": {"mcp": {"server": "rates", "tool": "get"}}}}
    ran = doctor("--rules", doctor.ruled(modern={"write": look}), "--json", "--", *MODERN)
    assert ran.code == 1
    (told,) = ran.json["broken"]
    assert "the measure `rate` reads `get` of `rates`, which is no server here; known: `modern`" in told


def test_pins_and_what_is_forbidden(doctor: Doctor) -> None:
    first = doctor("--name", "modern", "--rules", doctor.ruled(modern={}), "--json", "--", *MODERN).json
    listed = {each["tool"]: each["listed"] for each in first["servers"][0]["standings"]}
    tools = {
        "look": {"effect": "read", "pin": listed["look"]},
        "write": {"effect": "reversible", "pin": WRONG},
        "grow": {"effect": "read", "forbidden": True, "pin": listed["grow"]},
    }
    ran = doctor("--rules", doctor.ruled(modern=tools), "--json", "--", *MODERN)
    assert ran.code == 1
    (server,) = ran.json["servers"]
    assert {each["tool"]: each["pin"] for each in server["standings"]} == {
        "look": "as pinned", "write": "changed", "guarded": "not pinned", "grow": "as pinned",
    }  # fmt: skip
    stand = standings(server)
    assert stand["look"] == ("passes", "it reads")
    assert stand["write"] == ("held", "it is not the tool that was accepted")
    assert stand["grow"] == ("held", "the rules forbid it")
    (told,) = ran.json["broken"]
    assert told.startswith("`modern` lists a `write` that is not the one that was pinned; ")
    assert told.endswith(f"`pin: {listed['write']}`")
    accepted = {**tools, "write": {"effect": "reversible", "pin": listed["write"]}}
    assert doctor("--rules", doctor.ruled(modern=accepted), "--", *MODERN).code == 0


def test_a_user_sees_the_rules_as_tight_as_they_are_for_them(doctor: Doctor) -> None:
    tighter = {"servers": {"modern": {"tools": {"look": {"effect": "irreversible"}}}}}
    rules = doctor.rules(servers={"modern": {"tools": {"look": {"effect": "read"}}}}, users={"minji": tighter})
    seen = {
        user: standings(doctor("--rules", rules, "--user", user, "--json", "--", *MODERN).json["servers"][0])["look"]
        for user in ("joonho", "minji")
    }
    assert seen == {"joonho": ("passes", "it reads"), "minji": ("gated", "irreversible")}


def test_rules_that_do_not_load_are_told_and_the_servers_still_seen(doctor: Doctor) -> None:
    path = doctor.folder / "rules.yaml"
    path.write_text("version: 1\nservers: {modern: {tools: {look: {efect: read}}}}\n", encoding="utf-8")
    ran = doctor("--rules", path, "--json", "--", *MODERN)
    assert ran.code == 1
    assert ran.json["rules"]["faults"] == ran.json["broken"]
    assert "did you mean `effect`?" in ran.json["broken"][0]
    (server,) = ran.json["servers"]
    assert (server["name"], server["standings"], len(server["tools"])) == ("unnamed", None, 4)
    text = doctor("--rules", path, "--", *MODERN).out
    assert "do not load" in text
    assert "look, write, guarded, grow; without rules" in text


def test_rules_that_are_not_there(doctor: Doctor) -> None:
    ran = doctor(PREFLIGHT_RULES="/no/such/rules")
    assert ran.code == 1
    assert "/no/such/rules:1:1: there is no such file" in ran.out
    found = doctor("--json", PREFLIGHT_RULES="/no/such/rules").json["rules"]
    assert found["files"] == [{"path": "/no/such/rules", "changed_at": None, "age_seconds": None}]


def test_one_way_to_name_servers_at_a_time(doctor: Doctor) -> None:
    ran = doctor("--rules", BANK_RULES, "--url", "http://127.0.0.1:9", "--", *MODERN)
    assert ran.code == 2
    assert "give one of" in ran.err
