"""Hot reload: good rules in at once, broken ones refused loudly, the last good ones kept (R-67)."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest

from preflight.rules import LiveRules, RulesError
from tests.unit.rules.samples import put

READ = "version: 1\nservers: {s: {tools: {t: {effect: read}}}}\n"
WRITE = "version: 1\nservers: {s: {tools: {t: {effect: reversible}}}}\n"


class Watch:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def effect(live: LiveRules) -> str:
    return live.current().for_tool("s", "t").effect


def edit(path: Path, text: str) -> None:
    """Replace a file as editors do, so that its inode changes even within one tick of the file system's clock."""
    put(path.parent, {path.name + ".new": text})
    path.with_name(path.name + ".new").replace(path)


def test_an_edit_is_in_force_after_the_interval_and_not_looked_for_before(tmp_path: Path) -> None:
    watch, path = Watch(), put(tmp_path, {"a.yaml": READ}) / "a.yaml"
    live = LiveRules(path, interval=2.0, clock=watch)
    first = live.current()
    edit(path, WRITE)
    watch.time += 1.9
    assert live.current() is first
    watch.time += 0.1
    assert effect(live) == "reversible"
    assert live.current().digest != first.digest
    assert first.for_tool("s", "t").effect == "read"


def test_files_that_did_not_change_are_not_read_again(tmp_path: Path) -> None:
    watch = Watch()
    live = LiveRules(put(tmp_path, {"a.yaml": READ}), clock=watch)
    first = live.current()
    for _ in range(3):
        watch.time += 5
        assert live.current() is first


def test_a_broken_edit_is_refused_loudly_and_the_last_good_rules_stay(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    watch, path = Watch(), put(tmp_path, {"a.yaml": READ}) / "a.yaml"
    live = LiveRules(path, clock=watch)
    digest = live.current().digest
    edit(path, "version: 1\nservers: {s: {tools: {t: {efect: read}}}}\n")
    with caplog.at_level(logging.INFO, logger="preflight.rules"):
        for _ in range(3):
            watch.time += 1
            assert live.current().digest == digest
        assert isinstance(live.fault, RulesError)
        assert "did you mean `effect`?" in str(live.fault)
        errors = [record for record in caplog.records if record.levelno == logging.ERROR]
        assert len(errors) == 1
        assert "the last good ones stay" in errors[0].getMessage()
        assert "a.yaml:2:27" in errors[0].getMessage()
        path.touch()
        watch.time += 1
        live.current()
        assert len([record for record in caplog.records if record.levelno == logging.ERROR]) == 1
        edit(path, "version: 1\n:\n")
        watch.time += 1
        live.current()
        assert len([record for record in caplog.records if record.levelno == logging.ERROR]) == 2
        edit(path, WRITE)
        watch.time += 1
        assert effect(live) == "reversible"
    assert live.fault is None
    assert caplog.records[-1].getMessage() == f"rules loaded: {live.current().digest}"


def test_a_file_that_is_saved_unchanged_says_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    watch, path = Watch(), put(tmp_path, {"a.yaml": READ}) / "a.yaml"
    live = LiveRules(path, clock=watch)
    edit(path, "# a comment\n" + READ)
    watch.time += 1
    with caplog.at_level(logging.INFO, logger="preflight.rules"):
        live.current()
    assert caplog.records == []


def test_a_broken_edit_that_is_taken_back_leaves_no_fault(tmp_path: Path) -> None:
    watch, path = Watch(), put(tmp_path, {"a.yaml": READ}) / "a.yaml"
    live = LiveRules(path, clock=watch)
    digest = live.current().digest
    edit(path, "x")
    watch.time += 1
    live.current()
    assert live.fault is not None
    edit(path, READ)
    watch.time += 1
    assert live.current().digest == digest
    assert live.fault is None


def test_files_that_come_and_go_in_a_folder_are_seen(tmp_path: Path) -> None:
    watch = Watch()
    live = LiveRules(put(tmp_path, {"a.yaml": READ}), clock=watch)
    put(tmp_path, {"b.yaml": "version: 1\nservers: {s: {tools: {u: {effect: read}}}}\n"})
    watch.time += 1
    assert live.current().for_tool("s", "u").effect == "read"
    (tmp_path / "b.yaml").unlink()
    watch.time += 1
    assert live.current().for_tool("s", "u").effect == "irreversible"


def test_a_file_that_is_gone_keeps_the_last_good_rules(tmp_path: Path) -> None:
    watch, path = Watch(), put(tmp_path, {"a.yaml": READ}) / "a.yaml"
    live = LiveRules(path, clock=watch)
    path.unlink()
    watch.time += 1
    assert effect(live) == "read"
    assert "there is no such file" in str(live.fault)


def test_an_included_file_is_watched_also_when_the_edit_that_brought_it_was_broken(tmp_path: Path) -> None:
    watch = Watch()
    path = put(tmp_path, {"main.yaml": READ, "more/b.yaml": "broken: ["}) / "main.yaml"
    live = LiveRules(path, clock=watch)
    edit(path, READ + "include: [more/b.yaml]\n")
    watch.time += 1
    live.current()
    assert live.fault is not None
    edit(tmp_path / "more" / "b.yaml", "version: 1\nservers: {s: {tools: {u: {effect: read}}}}\n")
    watch.time += 1
    assert live.current().for_tool("s", "u").effect == "read"
    assert live.fault is None
    edit(tmp_path / "more" / "b.yaml", "version: 1\n")
    watch.time += 1
    assert live.current().for_tool("s", "u").effect == "irreversible"


def test_without_rules_to_begin_with_there_is_nothing_to_fall_back_to(tmp_path: Path) -> None:
    with pytest.raises(RulesError):
        LiveRules(put(tmp_path, {"a.yaml": "x"}))


def test_while_one_thread_reads_the_others_go_on_with_the_last_good_rules(tmp_path: Path) -> None:
    watch, path = Watch(), put(tmp_path, {"a.yaml": READ}) / "a.yaml"
    live = LiveRules(path, clock=watch)
    edit(path, WRITE)
    watch.time += 1
    with live._lock:
        found: list[str] = []
        thread = threading.Thread(target=lambda: found.append(effect(live)))
        thread.start()
        thread.join(10)
        assert found == ["read"]
    assert effect(live) == "reversible"
