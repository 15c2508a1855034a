"""Files and folders, includes, and what several files say together."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from preflight.rules import RulesError, RuleSet, load_rules
from preflight.rules.bounds import Bounds
from tests.unit.rules.samples import put

TOOL = "version: 1\nservers: {s: {tools: {t: {effect: read}}}}\n"
OTHER = "version: 1\nservers: {s: {tools: {u: {effect: reversible}}}}\n"


def faults(*paths: Path, bounds: Bounds | None = None) -> list[str]:
    with pytest.raises(RulesError) as caught:
        load_rules(*paths, bounds=bounds or Bounds())
    root = str(paths[0].parent if paths[0].suffix else paths[0])
    return [str(fault).replace(root + "/", "").replace(root, "FOLDER") for fault in caught.value.faults]


def names(rules: RuleSet) -> set[tuple[str, str]]:
    return set(rules.tools)


def test_a_folder_is_all_its_files(tmp_path: Path) -> None:
    put(
        tmp_path,
        {"a.yaml": TOOL, "deep/er/b.yml": OTHER, "c.json": '{"version": 1}', "notes.txt": "{{", "deep/x.md": "x"},
    )
    assert names(load_rules(tmp_path)) == {("s", "t"), ("s", "u")}


def test_example_requests_and_hidden_files_are_no_rules(tmp_path: Path) -> None:
    put(tmp_path, {"a.yaml": TOOL, "tests/case.json": "[]", ".git/b.yaml": "x: [", ".hidden.yaml": "x: ["})
    assert names(load_rules(tmp_path)) == {("s", "t")}


def test_neither_order_nor_names_nor_splitting_of_files_changes_the_digest(tmp_path: Path) -> None:
    put(tmp_path, {"one/a.yaml": TOOL, "one/b.yaml": OTHER, "two/x.yaml": OTHER, "two/y.yaml": TOOL})
    whole = "version: 1\nservers:\n  s:\n    tools:\n      u: {effect: reversible}\n      t: {effect: read}\n"
    put(tmp_path, {"three/all.yaml": whole, "four/main.yaml": TOOL + "include: [../two/x.yaml]\n"})
    folders = [tmp_path / name for name in ("one", "two", "three", "four")]
    assert len({load_rules(folder).digest for folder in folders}) == 1
    one, two = tmp_path / "one" / "a.yaml", tmp_path / "one" / "b.yaml"
    assert load_rules(one, two).digest == load_rules(two, one).digest == load_rules(tmp_path / "one").digest


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    put(tmp_path, {"a.yaml": "version: 1\ninclude: [b.yaml, ./b.yaml]\n", "b.yaml": TOOL})
    assert names(load_rules(tmp_path, tmp_path / "a.yaml", tmp_path / "b.yaml")) == {("s", "t")}


def test_an_include_is_relative_to_its_file(tmp_path: Path) -> None:
    put(tmp_path, {"main.yaml": "version: 1\ninclude: [in/a.yaml]\n", "in/a.yaml": "version: 1\ninclude: [b.json]\n"})
    put(tmp_path, {"in/b.json": '{"version": 1, "servers": {"s": {"tools": {"t": {}}}}}'})
    assert names(load_rules(tmp_path / "main.yaml")) == {("s", "t")}


def test_includes_that_go_round_are_refused(tmp_path: Path) -> None:
    put(tmp_path, {"a.yaml": "version: 1\ninclude: [b.yaml]\n", "b.yaml": "version: 1\ninclude:\n  - a.yaml\n"})
    put(tmp_path, {"self.yaml": "version: 1\ninclude: [self.yaml]\n"})
    message = "a file that includes itself, by way of others or at once; leave it out"
    assert faults(tmp_path / "a.yaml") == [f"b.yaml:3:5: {message}"]
    assert faults(tmp_path / "self.yaml") == [f"self.yaml:2:11: {message}"]


@pytest.mark.parametrize(
    ("include", "message"),
    [
        ("[no.yaml]", "a.yaml:2:11: there is no file `no.yaml`"),
        ("[/etc/passwd]", "a.yaml:2:11: not a relative path to a file; name it relative to this file"),
        ("[1]", "a.yaml:2:11: not a relative path to a file; name it relative to this file"),
        ('["a\\0b"]', "a.yaml:2:11: not a relative path to a file; name it relative to this file"),
        ("b.yaml", "a.yaml:2:10: `b.yaml` is text, not a list; write a list"),
    ],
)
def test_an_include_that_leads_nowhere_is_named(tmp_path: Path, include: str, message: str) -> None:
    put(tmp_path, {"a.yaml": f"version: 1\ninclude: {include}\n"})
    assert message in faults(tmp_path / "a.yaml")


def test_what_is_declared_twice_is_refused_with_both_places(tmp_path: Path) -> None:
    put(
        tmp_path,
        {"a.yaml": TOOL, "b.yaml": "version: 1\nservers:\n  s:\n    tools:\n      t: {effect: irreversible}\n"},
    )
    first = tmp_path / "a.yaml"
    assert faults(tmp_path) == [f"b.yaml:5:7: `t` is declared twice; it is first declared at {first.name}:2:22"[:-3]]


def test_servers_users_and_organisations_may_be_spread_and_single_settings_may_not(tmp_path: Path) -> None:
    put(tmp_path, {
        "a.yaml": "version: 1\nmeasures: {a: {given: true}}\nusers: {u: {}}\norganisations: {o: {users: {x: {}}}}\n"
                  "servers: {s: {trust_labels: true, measures: {c: {given: true}}}}\n",
        "b.yaml": "version: 1\nmeasures: {b: {given: true}}\nusers: {v: {}}\n"
                  "organisations: {o: {users: {y: {}}, servers: {s: {tools: {t: {}}}}}, p: {}}\n"
                  "servers: {s: {measures: {d: {given: true}}, tools: {t: {conditions: [{id: a, "
                  "expression: measured.a == measured.b && measured.c == measured.d}]}}}}\n",
    })  # fmt: skip
    rules = load_rules(tmp_path)
    assert set(rules.for_tool("s", "t").measures) == {"a", "b", "c", "d"}
    assert rules.for_tool("s", "t").trust_labels is True
    assert set(rules.people.users) == {("", "u"), ("", "v"), ("o", ""), ("o", "x"), ("o", "y"), ("p", "")}
    put(
        tmp_path,
        {"c.yaml": "version: 1\nservers: {s: {trust_labels: true}}\nmeasures: {a: {given: true}}\nusers: {u: {}}\n"},
    )
    assert [fault.partition(";")[0] for fault in faults(tmp_path)] == [
        "c.yaml:2:15: `trust_labels` is declared twice",
        "c.yaml:3:12: `a` is declared twice",
        "c.yaml:4:9: `u` is declared twice",
    ]


def test_a_wrong_shape_in_one_of_two_files_is_named(tmp_path: Path) -> None:
    put(tmp_path, {"a.yaml": TOOL, "b.yaml": "version: 1\nservers: [s]\nnonsense: 1\n"})
    assert "b.yaml:2:1: `servers` is declared twice; it is first declared at a.yaml:2" in faults(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]\n", "a.yaml:1:1: a rules file is a mapping; begin it with `version: 1`"),
        ("servers: {}\n", "a.yaml:1:1: a rules file has no `version`; begin it with `version: 1`"),
        ("version: 1\nx: [\n", "a.yaml:3:1: not YAML: expected the node content, but found '<stream end>'"),
    ],
)
def test_a_file_that_is_no_rules_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    put(tmp_path, {"a.yaml": text})
    assert message in faults(tmp_path / "a.yaml")


def test_every_broken_file_is_named(tmp_path: Path) -> None:
    put(tmp_path, {"a.yaml": "x: [", "b.yaml": "version: 1\nuser: 1\n", "c.json": "{"})
    assert [fault.split(":")[0] for fault in faults(tmp_path)] == ["a.yaml", "b.yaml", "c.json"]


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"version: 1\n# caf\xe9\n")
    assert faults(tmp_path / "latin.yaml") == ["latin.yaml:2:1: not UTF-8 at byte 16; save it as UTF-8"]
    (tmp_path / "large.yaml").write_bytes(b"#" * 101)
    assert faults(tmp_path / "large.yaml", bounds=Bounds(file_bytes=100)) == [
        "large.yaml:1:1: larger than 100 bytes; split it"
    ]
    put(
        tmp_path, {"unseen.yaml": "version: 1\n# read only\u2028servers: {}\n", "turned.json": '{"version": "\u202e1"}'}
    )
    assert faults(tmp_path / "unseen.yaml") == [
        "unseen.yaml:2:12: U+2028, which breaks or turns lines unseen; write it as an escape in double quotes"
    ]
    assert faults(tmp_path / "turned.json")[0].startswith("turned.json:1:14: U+202E")
    os.mkfifo(tmp_path / "pipe.yaml")
    assert faults(tmp_path / "pipe.yaml") == ["pipe.yaml:1:1: there is no such file"]
    (tmp_path / "empty").mkdir()
    assert faults(tmp_path / "empty") == ["FOLDER:1:1: a folder without rules; put a `.yaml` or `.json` file there"]
    assert faults(tmp_path / ("x" * 300 + ".yaml"))[0].endswith(":1:1: cannot be read: file name too long")


def test_so_many_files_make_a_set_and_no_more(tmp_path: Path) -> None:
    put(tmp_path, {"a.yaml": "version: 1\ninclude: [b.yaml, c.yaml]\n", "b.yaml": TOOL, "c.yaml": OTHER})
    assert faults(tmp_path / "a.yaml", bounds=Bounds(files=2)) == ["a.yaml:2:19: more than 2 files; join some"]
    assert faults(tmp_path, bounds=Bounds(files=2)) == ["a.yaml:2:19: more than 2 files; join some",
                                                        "c.yaml:1:1: more than 2 files; join some"]  # fmt: skip
