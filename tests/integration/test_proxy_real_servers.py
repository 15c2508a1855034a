"""Official servers, with and without the proxy: what passes is equal to the letter; what writes asks, and runs once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest

from tests.integration.browser import Browser, Form
from tests.integration.test_proxy_words import SESSION, say
from tests.integration.upstreams.real import command_of
from tests.integration.wire import Message, Wire, connected, proxy, said

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
ABLE: Message = {"elicitation": {"form": {}}, "sampling": {}, "roots": {}}
CITY = {"location": "Chicago"}
NOON = {"source_timezone": "Europe/London", "time": "12:00", "target_timezone": "Asia/Seoul"}


class Server(NamedTuple):
    """A server: what it needs, what is called of it, and which call writes."""

    prepare: Callable[[Path], list[str]]
    calls: list[tuple[str, Any]]
    others: Sequence[tuple[str, Message]] = ()
    write: tuple[str, Any] | None = None
    words: str = ""
    effect: str = "reversible"
    written: Callable[[Path], object] = lambda _folder: None


def nothing(_folder: Path) -> list[str]:
    return []


def files(folder: Path) -> list[str]:
    (folder / "files").mkdir(exist_ok=True)
    (folder / "files" / "a.txt").write_text("first\nsecond\n", encoding="utf-8")
    return [str(folder / "files")]


def repository(folder: Path) -> list[str]:
    path = folder / "repo"
    if not path.exists():
        for command in (["init", "-q", str(path)], ["-C", str(path), "commit", "-q", "--allow-empty", "-m", "first"]):
            subprocess.run(["git", *IDENTITY, *command], check=True)
        for key, value in (("user.email", "a@example.com"), ("user.name", "a")):
            subprocess.run(["git", "-C", str(path), "config", key, value], check=True)
        (path / "a.txt").write_text("a\n", encoding="utf-8")
        subprocess.run(["git", "-C", str(path), "add", "a.txt"], check=True)
    return []


BOB = {"name": "Bob", "entityType": "person", "observations": ["likes tea"]}
EVE = {"name": "Eve", "entityType": "spy", "observations": ["knows the code"]}


def remembered(folder: Path) -> list[Any]:
    path = folder / "memory.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [{key: value for key, value in json.loads(line).items() if key != "type"} for line in lines]


IDENTITY = ["-c", "user.email=a@example.com", "-c", "user.name=a"]


def commits(folder: Path) -> int:
    listed = subprocess.run(["git", "-C", str(folder / "repo"), "log", "--oneline"], capture_output=True, check=True)
    return len(listed.stdout.splitlines())


def rows(folder: Path) -> int:
    import sqlite3

    with sqlite3.connect(folder / "data.db") as db:
        return int(db.execute("SELECT count(*) FROM item").fetchone()[0])


def database(folder: Path) -> list[str]:
    import sqlite3

    with sqlite3.connect(folder / "data.db") as db:
        db.execute("CREATE TABLE IF NOT EXISTS item (name TEXT)")
    db.close()
    return ["--db-path", str(folder / "data.db")]


SERVERS: dict[str, Server] = {
    "everything": Server(
        nothing,
        [
            ("echo", {"message": "hi"}), ("get-sum", {"a": 1, "b": 2.5}), ("get-tiny-image", {}),
            ("get-structured-content", CITY), ("get-resource-links", {"count": 2}),
            ("get-annotated-message", {"messageType": "error", "includeImage": True}),
            ("get-resource-reference", {"resourceType": "Blob", "resourceId": -1}),
            ("trigger-long-running-operation", {"duration": 0.2, "steps": 2}),
            ("trigger-elicitation-request", {}), ("trigger-sampling-request", {"prompt": "hi"}),
        ],
        [
            ("prompts/list", {}), ("prompts/get", {"name": "simple-prompt"}), ("prompts/get", {"name": "nowhere"}),
            ("resources/list", {}), ("resources/templates/list", {}), ("resources/read", {"uri": "demo://nowhere"}),
            ("completion/complete", {
                "ref": {"type": "ref/prompt", "name": "completable-prompt"},
                "argument": {"name": "department", "value": "E"},
            }),
            ("nowhere/at-all", {}),
        ],
    ),
    "filesystem": Server(
        files,
        [
            ("list_directory", {"path": "FOLDER/files"}), ("read_text_file", {"path": "FOLDER/files/a.txt", "head": 1}),
            ("read_text_file", {"path": "/etc/passwd"}), ("list_allowed_directories", {}),
            ("read_multiple_files", {"paths": ["FOLDER/files/a.txt", "FOLDER/files/nowhere"]}),
        ],
        [("resources/list", {})],
        ("write_file", {"path": "FOLDER/files/new.txt", "content": "hello"}),
        'write "hello" to "FOLDER/files/new.txt" now',
        written=lambda folder: (folder / "files" / "new.txt").read_text(encoding="utf-8") == "hello",
    ),
    "memory": Server(
        nothing, [("read_graph", {}), ("search_nodes", {"query": "x"}), ("open_nodes", {"names": ["a"]})],
        [("resources/list", {})],
        ("create_entities", {"entities": [BOB]}),
        'create the entity "Bob", entity type "person", observation "likes tea", now',
        written=lambda folder: remembered(folder) == [BOB],
    ),
    "git": Server(
        repository,
        [
            ("git_status", {"repo_path": "FOLDER/repo"}), ("git_diff_staged", {"repo_path": "FOLDER/repo"}),
            ("git_show", {"repo_path": "FOLDER/repo", "revision": "nowhere"}),
            ("git_log", {"repo_path": "FOLDER/repo", "max_count": 1}), ("git_status", {"repo_path": "FOLDER/nowhere"}),
        ],
        [],
        ("git_commit", {"repo_path": "FOLDER/repo", "message": "second one"}),
        'commit "second one" in "FOLDER/repo" now',
        written=lambda folder: commits(folder) == 2,
    ),
    "time": Server(nothing, [("convert_time", NOON), ("convert_time", {**NOON, "time": "noon"})]),
    "sqlite": Server(
        database,
        [
            ("list_tables", {}), ("describe_table", {"table_name": "item"}), ("read_query", {"query": "SELECT 1"}),
            ("read_query", {"query": "SELECT nowhere"}),
        ],
        [("prompts/list", {}), ("resources/list", {}), ("resources/read", {"uri": "memo://insights"})],
        ("write_query", {"query": "INSERT INTO item VALUES ('x')"}),
        "write \"INSERT INTO item VALUES ('x')\" now",
        written=lambda folder: rows(folder) == 1,
    ),
}  # fmt: skip


def placed(value: Any, folder: Path) -> Any:
    """Put the test's folder where the table says FOLDER."""
    return json.loads(json.dumps(value).replace("FOLDER", str(folder)))


def answer(method: str, params: Message) -> Message:
    if method == "roots/list":
        return {"roots": []}
    if method == "sampling/createMessage":
        return {"role": "assistant", "content": {"type": "text", "text": "yo"}, "model": "m", "stopReason": "endTurn"}
    return {"action": "accept", "content": dict.fromkeys(params["requestedSchema"]["properties"], True)}


async def exchanged(wire: Wire, server: Server, folder: Path) -> list[Any]:
    listed = (await wire.request("tools/list"))["result"]["tools"]
    found: list[Any] = [sorted(listed, key=lambda tool: str(tool["name"]))]
    for name, arguments in server.calls:
        params = {"name": name, "arguments": placed(arguments, folder), "_meta": {"progressToken": f"p-{name}"}}
        found.append([name, await wire.request("tools/call", params)])
    for method, params in server.others:
        found.append([method, await wire.request(method, params)])
    progress = [told["params"] for told in wire.told if told["method"] == "notifications/progress"]
    asked = [message["method"] for message in wire.asked]
    return [*found, progress, [method for method in asked if method != "roots/list"]]  # asked for on a timer


def rules_for(name: str, server: Server, tools: list[str], folder: Path) -> Path:
    reads: dict[str, Message] = {tool: {"effect": "read"} for tool in tools}
    if server.write is not None:
        fields = {field: {"sources": ["user_answer", "instruction"]} for field in server.write[1]}
        verb = server.words.split()[0]
        reads[server.write[0]] = {"effect": server.effect, "intents": [verb], "changes": ["create"], "fields": fields}
    path = folder / "rules.yaml"
    path.write_text(json.dumps({"version": 1, "servers": {name: {"tools": reads}}}), encoding="utf-8")
    return path


async def names_of(command: list[str]) -> list[str]:
    async with connected(command, able=ABLE, answer=answer) as wire:
        return [tool["name"] for tool in (await wire.request("tools/list"))["result"]["tools"]]


@pytest.mark.parametrize("name", SERVERS)
async def test_what_passes_is_equal_to_the_letter(name: str, tmp_path: Path) -> None:
    server = SERVERS[name]
    command = [*command_of(name), *server.prepare(tmp_path)]
    rules = rules_for(name, server, await names_of(command), tmp_path)
    environment = {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}
    async with connected(command, able=ABLE, answer=answer, environment=environment) as wire:
        expected = await exchanged(wire, server, tmp_path)
    proxied = proxy(tmp_path / "records.db", rules, command, name=name)
    async with connected(proxied, able=ABLE, answer=answer, environment=environment) as wire:
        got = await exchanged(wire, server, tmp_path)
    assert json.dumps(got) == json.dumps(expected)


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize("name", [name for name, server in SERVERS.items() if server.write])
async def test_what_writes_asks_is_answered_and_runs_once(name: str, era: str, tmp_path: Path) -> None:
    server = SERVERS[name]
    assert server.write is not None
    command = [*command_of(name), *server.prepare(tmp_path)]
    rules = rules_for(name, server, await names_of(command), tmp_path)
    words, asked = placed(server.words, tmp_path), []

    def say(method: str, params: Message) -> Message:
        if method == "roots/list":
            return {"roots": [{"uri": f"file://{tmp_path}/files"}]}
        asked.append(params)
        return {"action": "accept", "content": {"restatement": words}}

    proxied = proxy(tmp_path / "records.db", rules, command, name=name)
    environment = {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}
    async with connected(proxied, able={"elicitation": {}}, answer=say, era=era, environment=environment) as wire:
        tool, arguments = server.write
        response = await wire.call(tool, placed(arguments, tmp_path))
    assert not response["result"].get("isError"), said(response)
    assert len(asked) == 1
    assert server.written(tmp_path)


@asynccontextmanager
async def remembering(folder: Path, **more: Any) -> AsyncIterator[Wire]:
    """Yield a client of the memory server behind the proxy, after the user asked for one entity of a name."""
    server = SERVERS["memory"]
    command = command_of("memory")
    rules = rules_for("memory", server, await names_of(command), folder)
    say(folder, 'create the entity "Bob" now')
    environment = {
        "MEMORY_FILE_PATH": str(folder / "memory.jsonl"), "PREFLIGHT_WORDS": str(folder / "words.db"),
        "CLAUDE_CODE_SESSION_ID": SESSION,
    }  # fmt: skip
    proxied = proxy(folder / "records.db", rules, command, name="memory")
    async with connected(proxied, environment=environment, **more) as wire:
        yield wire


ASKED = ["entities/0/entityType", "entities/0/observations", *(f"entities/1/{name}" for name in EVE)]


async def test_entities_that_only_the_model_named_are_answered_on_the_page(tmp_path: Path) -> None:
    browser = Browser()

    async def fill_in(_method: str, params: Message) -> Message:
        await anyio.to_thread.run_sync(browser.get, params["url"])
        assert [name for name in Form(browser.html).names if name[0] == "s"] == [f"s{n}" for n in range(len(ASKED))]
        typed = {"s0": "person", "s1": '["likes tea"]', "n2": "true"}
        await anyio.to_thread.run_sync(browser.post, typed)
        return {"action": "accept"}

    async with remembering(tmp_path, able={"elicitation": {"url": {}}}, answer=fill_in) as wire:
        response = await wire.call("create_entities", {"entities": [BOB, EVE]})
    assert not response["result"].get("isError"), said(response)
    assert remembered(tmp_path) == [BOB]
    assert response["result"]["_meta"]["preflight/changed"] == {"entities": [BOB]}


async def test_entities_that_only_the_model_named_are_answered_at_a_terminal(tmp_path: Path) -> None:
    async with remembering(tmp_path) as wire:
        waiting = await wire.call("create_entities", {"entities": [BOB, EVE]})
        question = waiting["result"]["_meta"]["preflight/question"]
        assert all(f"`{name}`" in said(waiting) for name in ASKED)
        words = ["entities/0/entityType=person", 'entities/0/observations:=["likes tea"]', "--none", ASKED[2]]
        command = ["answer", question, *words, "--channel", "script", "--person", "joonho"]
        environment = {**os.environ, "PREFLIGHT_CHANNELS": "script", "PREFLIGHT_DB": str(tmp_path / "records.db")}
        environment["PREFLIGHT_RULES"] = str(tmp_path / "rules.yaml")
        done = await anyio.run_process([sys.executable, "-m", "preflight", *command], env=environment, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        response = await wire.call("create_entities", {"entities": [BOB, EVE]})
        assert not response["result"].get("isError"), said(response)
        again = await wire.call("create_entities", {"entities": [BOB, EVE]})
    assert remembered(tmp_path) == [BOB]
    assert "preflight/decision" in again["result"]["_meta"]
