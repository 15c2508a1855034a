"""The parts of SARIF 2.1.0 that a code host reads, as a schema written from the standard's sections 3.13 to 3.52."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from preflight.lint import RULES, Finding, lint_list, sarif
from tests.unit.lint.samples import tool

TEXT = {"type": "object", "properties": {"text": {"type": "string", "minLength": 1}}, "required": ["text"]}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
REPORTING_DESCRIPTOR = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "minLength": 1},
        "name": {"type": "string"},
        "shortDescription": TEXT,
        "fullDescription": TEXT,
        "defaultConfiguration": {"type": "object", "properties": {"level": LEVEL}, "additionalProperties": False},
    },
    "required": ["id"],
    "additionalProperties": False,
}
LOCATION = {
    "type": "object",
    "properties": {
        "physicalLocation": {
            "type": "object",
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "properties": {"uri": {"type": "string", "format": "uri-reference"}},
                },
                "region": {"type": "object", "properties": {"startLine": {"type": "integer", "minimum": 1}}},
            },
            "required": ["artifactLocation"],
            "additionalProperties": False,
        },
        "logicalLocations": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "fullyQualifiedName": {"type": "string"}},
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}
RESULT = {
    "type": "object",
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": LEVEL,
        "message": TEXT,
        "locations": {"type": "array", "items": LOCATION},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["message"],
    "additionalProperties": False,
}
DRIVER = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "version": {"type": "string"},
        "rules": {"type": "array", "uniqueItems": True, "items": REPORTING_DESCRIPTOR},
    },
    "required": ["name"],
    "additionalProperties": False,
}
LOG = {
    "type": "object",
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "tool": {"type": "object", "properties": {"driver": DRIVER}, "required": ["driver"]},
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "results": {"type": "array", "items": RESULT},
                },
                "required": ["tool"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["version", "runs"],
    "additionalProperties": False,
}

FOUND = lint_list([tool("delete_bill", annotations={"readOnlyHint": True}), tool("b", description="")])


def run_of(findings: tuple[Finding, ...], **options: Any) -> dict[str, Any]:
    log = json.loads(sarif(findings, **options))
    jsonschema_rs.Draft202012Validator(LOG, validate_formats=True).validate(log)
    (run,) = log["runs"]
    assert isinstance(run, dict)
    return run


def test_each_finding_is_a_result() -> None:
    run = run_of(FOUND)
    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [
        ("PF020", "error"),
        ("PF002", "warning"),
    ]
    assert run["results"][0]["message"]["text"].startswith("`readOnlyHint` is true, and the name says")


def test_each_result_finds_its_rule() -> None:
    run = run_of(FOUND)
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(RULES)
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == ["PF020", "PF002"]


def test_a_saved_list_is_the_place() -> None:
    (location,) = run_of(FOUND, files={"bank": "lists/my bank.json"})["results"][0]["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "lists/my%20bank.json"},
        "region": {"startLine": 1},
    }
    assert location["logicalLocations"] == [
        {"fullyQualifiedName": "bank/delete_bill#/annotations/readOnlyHint", "name": "delete_bill"}
    ]


def test_a_running_server_has_a_logical_place_only() -> None:
    (location,) = run_of(FOUND)["results"][0]["locations"]
    assert location.keys() == {"logicalLocations"}


def test_a_finding_about_the_list_is_named_for_the_server() -> None:
    (result,) = run_of(lint_list([tool(annotations=None)]))["results"]
    assert result["locations"][0]["logicalLocations"][0]["name"] == "bank"


def test_fingerprints_tell_places_apart_and_outlive_a_message() -> None:
    first = Finding("PF012", "warning", "bank", "pay", "/a", "one", "do")
    places = [
        first,
        Finding("PF012", "warning", "bank", "pay", "/b", "one", "do"),
        Finding("PF012", "note", "bank", "pay", "/a", "other", ""),
    ]
    prints = [result["partialFingerprints"]["preflightFinding/v1"] for result in run_of(tuple(places))["results"]]
    assert prints[0] != prints[1]
    assert prints[0] == prints[2]


@pytest.mark.parametrize("version", ["", "0.1.0"])
def test_the_version_stands_where_it_is_known(version: str) -> None:
    assert run_of((), version=version)["tool"]["driver"].get("version", "") == version
