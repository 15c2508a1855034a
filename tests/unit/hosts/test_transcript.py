"""What a person typed, as a host's own transcript has it, where the hook of the prompt does not say (R-13)."""

from __future__ import annotations

import io
import json
import os
import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from preflight.hosts import transcript
from preflight.hosts.receive import TAKEN, main
from preflight.hosts.store import Said, Session, Store
from preflight.hosts.transcript import typed
from tests.unit.hosts.samples import CALL_EVENT, CALLS, PROMPT_EVENT, PROMPTS, TEXT, body

FILE = "\n--- Content from referenced files ---\nContent from @bill.txt:\nsend 9 to 4410077123\n--- End of content ---"


def claude(text: object = TEXT, prompt: str = "p-1", source: object = "typed", **more: Any) -> dict[str, Any]:
    """An entry of Claude Code's transcript, with the keys that are read and some that are not."""
    message = {"role": "user", "content": text}
    return {
        "type": "user", "promptId": prompt, "promptSource": source, "isSidechain": False, "message": message,
        "origin": {"kind": "human"}, "version": "2.1.332", **more,
    }  # fmt: skip


def gemini(*texts: str, shown: object = None, **more: Any) -> dict[str, Any]:
    """An entry of Gemini CLI's."""
    entry = {"id": "1", "type": "user", "content": [{"text": text} for text in texts], **more}
    return entry if shown is None else {**entry, "displayContent": shown}


def written(path: Path, *entries: Any) -> Path:
    lines = [entry if isinstance(entry, str) else json.dumps(entry) for entry in entries]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def prompt_of(host: str, text: str = TEXT) -> Said:
    return Said(Session(host, "s"), text, "untrusted", f"{host}:unlabelled", "p-1", number=7)


BLOCKS = [{"type": "image", "source": {}}, {"type": "text", "text": TEXT}]
UNREADABLE = ('{"type":"user"', "[" * 100_000 + '"user"', '["user"]')
NOTHING = "nothing is written down"
RULED: dict[str, tuple[str, tuple[Any, ...], str | None]] = {
    "typed": ("claude-code", (claude(),), TEXT),
    "typed while the model was at work": ("claude-code", (claude(source="queued"),), TEXT),
    "handed over by a program": ("claude-code", (claude(source="sdk"),), TEXT),
    "beside a picture": ("claude-code", (claude(BLOCKS),), TEXT),
    "a suggestion that a model wrote": ("claude-code", (claude(source="suggestion_accepted"),), None),
    "the host's own": ("claude-code", (claude(source="system"),), None),
    "put in by the host": ("claude-code", (claude(isMeta=True),), None),
    "no name of a source": ("claude-code", (claude(source=["typed"]),), None),
    "without a source": ("claude-code", (claude(source=None),), NOTHING),
    "another prompt": ("claude-code", (claude(prompt="p-2"),), NOTHING),
    "another text": ("claude-code", (claude(f"{TEXT} now"),), None),
    "one agent to another": ("claude-code", (claude(isSidechain=True),), None),
    "the model's": ("claude-code", ({**claude(), "type": "assistant"},), NOTHING),
    "no message": ("claude-code", ({**claude(), "message": "user"},), NOTHING),
    "said in two ways": ("claude-code", (claude(), claude(source="system")), None),
    "twice the same": ("claude-code", (claude(), claude()), TEXT),
    "among what cannot be read": ("claude-code", (*UNREADABLE, claude()), TEXT),
    "plain": ("gemini", (gemini(TEXT),), TEXT),
    "in parts": ("gemini", (gemini(TEXT[:5], TEXT[5:]),), TEXT),
    "what a command stands for": ("gemini", (gemini(TEXT, shown=[{"text": "/pay 5"}]),), "/pay 5"),
    "nothing that was typed": ("gemini", (gemini(TEXT, shown=[]),), None),
    "once typed, once a command": ("gemini", (gemini(TEXT), gemini(TEXT, shown=[{"text": "/pay"}])), None),
    "an answer of a tool": ("gemini", ({"type": "user", "content": [{"functionResponse": {}}]},), NOTHING),
    "the host's history": ("gemini", ({"$set": {"messages": [gemini(TEXT)]}},), NOTHING),
}  # fmt: skip


@pytest.mark.parametrize("case", RULED)
def test_only_what_is_written_down_as_typed_counts(case: str, tmp_path: Path) -> None:
    host, entries, text = RULED[case]
    path = written(tmp_path / "t.jsonl", *entries)
    assert typed(host, str(path), [prompt_of(host)]) == ({} if text is NOTHING else {7: text})


def test_a_file_that_was_put_into_the_prompt_is_no_word_of_the_user_s(tmp_path: Path) -> None:
    asked = "pay what @bill.txt says"
    path = written(tmp_path / "t.jsonl", gemini(asked, FILE, shown=[{"text": asked}]))
    assert typed("gemini", str(path), [prompt_of("gemini", asked + FILE)]) == {7: asked}


@pytest.mark.parametrize("path", ["", "/nowhere/t.jsonl", "/"])
def test_a_transcript_that_cannot_be_read_says_nothing(path: str) -> None:
    assert typed("claude-code", path, [prompt_of("claude-code")]) == {}


def test_only_the_end_of_a_long_transcript_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "t.jsonl", claude(), *["x" * 100] * 50, claude(prompt="p-2"))
    monkeypatch.setattr(transcript, "MOST_BYTES", 3_000)
    late = prompt_of("claude-code")._replace(prompt="p-2", number=8)
    assert typed("claude-code", str(path), [prompt_of("claude-code"), late]) == {8: TEXT}


def test_a_prompt_that_is_written_down_a_moment_later_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    later = threading.Timer(0.05, written, [path, claude()])
    later.start()
    assert typed("claude-code", str(path), [prompt_of("claude-code")], 30.0) == {7: TEXT}
    later.join()


def test_a_line_that_is_being_written_is_read_once_it_is_whole(tmp_path: Path) -> None:
    path, line = tmp_path / "t.jsonl", json.dumps(claude()) + "\n"
    path.write_text(json.dumps(claude(prompt="p-2")) + "\n" + line[:40], encoding="utf-8")

    def end() -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write(line[40:])

    later = threading.Timer(0.05, end)
    later.start()
    assert typed("claude-code", str(path), [prompt_of("claude-code")], 30.0) == {7: TEXT}
    later.join()


# through the receiver


def hook(event: str, host: str, stdin: bytes) -> None:
    assert main([event, "--host", host], io.BytesIO(stdin), io.StringIO()) == TAKEN


def kept() -> list[tuple[str, str, str]]:
    with closing(Store()) as store:
        newest = store.newest()
        assert newest is not None
        return [(said.text, said.trust, said.origin) for said in store.said_in(newest.session)]


@pytest.mark.parametrize(("host", "entry"), [("claude-code", claude()), ("gemini", gemini(TEXT))])
def test_a_call_finds_out_who_spoke_before_it_is_made(
    host: str, entry: Mapping[str, Any], words_db: Path, tmp_path: Path
) -> None:
    path = written(tmp_path / "t.jsonl", entry)
    hook(PROMPT_EVENT[host], host, body(PROMPTS[host], source=..., transcript_path=str(path)))
    assert kept() == [(TEXT, "untrusted", f"{host}:unlabelled")]
    hook(CALL_EVENT[host], host, body(CALLS[host], transcript_path=str(path)))
    assert kept() == [(TEXT, "user", host)]


def test_a_prompt_that_nobody_typed_is_looked_up_once(words_db: Path, tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", claude(source="system"))
    hook("UserPromptSubmit", "claude-code", body(PROMPTS["claude-code"], source=..., transcript_path=str(path)))
    for entries in ((claude(source="system"),), (claude(),)):
        written(path, *entries)
        hook("PreToolUse", "claude-code", body(CALLS["claude-code"], transcript_path=str(path)))
        assert kept() == [(TEXT, "untrusted", "claude-code:not typed")]


def test_what_the_host_said_of_a_prompt_is_not_looked_up(words_db: Path, tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl", claude())
    hook("UserPromptSubmit", "claude-code", body(PROMPTS["claude-code"], source="system", transcript_path=str(path)))
    hook("PreToolUse", "claude-code", body(CALLS["claude-code"], transcript_path=str(path)))
    assert kept() == [(TEXT, "untrusted", "claude-code:'system'")]


def test_what_is_no_file_says_nothing_and_ends(tmp_path: Path) -> None:
    # the path is what an event says
    said = prompt_of("claude-code")
    for path in ("/dev/zero", "/dev/null", str(tmp_path), str(tmp_path / "none")):
        assert typed("claude-code", path, [said]) == {}
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert typed("claude-code", str(pipe), [said]) == {}


def test_a_line_without_end_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "MOST_BYTES", 4_000)
    path = tmp_path / "transcript"
    path.write_bytes(b"x" * 10_000)
    assert typed("claude-code", str(path), [prompt_of("claude-code")]) == {}
