"""Findings as SARIF 2.1.0, which code hosts show beside a change (OASIS standard, 27 March 2020)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from urllib.parse import quote

import msgspec

from preflight.lint.catalogue import RULES
from preflight.lint.finding import Finding, Rule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_INDEX = {rule: number for number, rule in enumerate(RULES)}


def sarif(findings: tuple[Finding, ...], files: Mapping[str, str] | None = None, version: str = "") -> str:
    """Return one SARIF run with the findings.

    `files` maps a server's name to the saved list it was read from, as a path relative to the project; a
    finding about a server without one has a logical place only. `version` is the linter's.
    """
    driver: dict[str, object] = {"name": "preflight lint", "rules": [_rule(rule) for rule in RULES.values()]}
    if version:
        driver["version"] = version
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, (files or {}).get(finding.server)) for finding in findings],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return msgspec.json.format(msgspec.json.encode(log), indent=2).decode() + "\n"


def _rule(rule: Rule) -> dict[str, object]:
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": f"{rule.title}."},
        "fullDescription": {"text": f"{rule.title}: {rule.why}."},
        "defaultConfiguration": {"level": rule.level},
    }


def _result(finding: Finding, file: str | None) -> dict[str, object]:
    place: dict[str, object] = {
        "logicalLocations": [{"fullyQualifiedName": _qualified(finding), "name": finding.tool or finding.server}]
    }
    if file is not None:
        uri = quote(file.replace("\\", "/"))
        place["physicalLocation"] = {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}
    return {
        "ruleId": finding.rule,
        "ruleIndex": _INDEX[finding.rule],
        "level": finding.level,
        "message": {"text": f"{finding.message}. {finding.do}."},
        "locations": [place],
        "partialFingerprints": {"preflightFinding/v1": _fingerprint(finding)},
    }


def _qualified(finding: Finding) -> str:
    return f"{finding.server}/{finding.tool}#{finding.pointer}"


def _fingerprint(finding: Finding) -> str:
    """The same finding at the same place keeps its fingerprint, whatever its message says by then."""
    parts = [finding.rule, finding.server, finding.tool, finding.pointer]
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:32]


__all__ = ["SCHEMA", "sarif"]
