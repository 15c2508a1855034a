"""Whatever a rules file says, it loads or is refused with its faults; nothing else is ever raised (R-67)."""

from __future__ import annotations

import json
import string

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from preflight.core.strict_json import parse
from preflight.errors import InvalidInput
from preflight.model.json_value import same_value
from preflight.rules import RulesError, RuleSet, load_rules
from preflight.rules.bounds import DEFAULT_BOUNDS
from preflight.rules.faults import Refused
from preflight.rules.json_text import read_json
from preflight.rules.node import plain
from preflight.rules.yaml_text import read_yaml

KEYS = (
    "version include servers tools measures effect intents fields conditions limits id expression measure kind given "
    "confirmation sources role users organisations settings value approved_by approved_at checklist at_most window "
    "reference match mcp http confirm pin s t bank"
).split()
WORDS = st.sampled_from(
    [
        "read",
        "irreversible",
        "1d",
        "args.x > 1",
        "measured.m == 1",
        "target",
        "sum",
        "anna",
        "2026-11-01T10:00:00Z",
        "/a",
        "0" * 64,
        "s.yaml",
        "\0",
        "instruction",
        *KEYS,
    ]
)
SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=False) | WORDS | st.text(max_size=6)
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=25,
)
TEXTS = st.text(st.sampled_from(string.printable + "é\u2028\u0085\ufeff\x00\ud800"), max_size=80)


def load_or_refuse(folder: object, name: str, body: bytes) -> RuleSet | None:
    path = f"{folder}/{name}"
    with open(path, "wb") as stream:  # noqa: PTH123  once for each of many examples
        stream.write(body)
    try:
        return load_rules(path)
    except RulesError as refused:
        found = refused.faults
    assert found
    assert all(fault.line >= 1 and fault.column >= 1 and fault.what for fault in found)
    return None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> object:
    return tmp_path_factory.mktemp("rules")


@given(text=TEXTS, name=st.sampled_from(["r.yaml", "r.json"]))
@example(text="version: 1\n? ? ? a\n", name="r.yaml")
@example(text="%YAML 9.9\n---\nversion: 1\n", name="r.yaml")
@example(text="%TAG ! tag:x,2000:\n---\n!a b\n", name="r.yaml")
@example(text="- - - - &a\n", name="r.yaml")
@example(text='"\\U00110000"', name="r.yaml")
@example(text="\ufeffversion: 1\n", name="r.json")
def test_any_text_loads_or_is_refused(folder: object, text: str, name: str) -> None:
    load_or_refuse(folder, name, text.encode("utf-8", "surrogatepass"))


@given(body=st.binary(max_size=40))
def test_any_bytes_load_or_are_refused(folder: object, body: bytes) -> None:
    load_or_refuse(folder, "r.yaml", body)


@given(tree=TREES, entry=st.sampled_from(["servers", "users", "organisations", "measures", "include"]))
def test_any_tree_loads_or_is_refused_and_says_the_same_as_json_and_as_yaml(
    folder: object, tree: object, entry: str
) -> None:
    rules = {"version": 1, entry: tree}
    as_json = load_or_refuse(folder, "r.json", json.dumps(rules).encode())
    as_yaml = load_or_refuse(folder, "r.yaml", yaml.safe_dump(rules, allow_unicode=True, default_style='"').encode())
    if as_json is not None and as_yaml is not None:
        assert as_json.digest == as_yaml.digest


@given(tree=TREES)
def test_json_is_read_as_the_reader_of_requests_reads_it(tree: object) -> None:
    text = json.dumps(tree)
    try:
        expected = parse(text)
    except InvalidInput:
        with pytest.raises(Refused):
            read_json(text, "r.json", DEFAULT_BOUNDS)
        return
    assert same_value(plain(read_json(text, "r.json", DEFAULT_BOUNDS)), expected)


@given(tree=TREES)
def test_quoted_yaml_is_read_as_the_text_that_it_is(tree: object) -> None:
    """Quoted, nothing is guessed: what comes back has the texts, and numbers as texts."""
    text = yaml.safe_dump({"a": tree}, default_style='"')
    if "!!" not in text:
        assert plain(read_yaml(text, "r.yaml", DEFAULT_BOUNDS)) == {"a": tree}
