"""The tools of twenty public servers, where their lists lie beside the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from preflight.lint import lint_listings, read_listing, starting_rules, text
from preflight.rules import load_rules

LISTS = Path(__file__).resolve().parents[3] / "../shared/mcp_tools"
FILES = sorted(LISTS.glob("*.json"))
if not FILES:
    pytest.skip("needs the tool lists in ../shared/mcp_tools", allow_module_level=True)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_real_list_is_refused_or_called_grave(path: Path) -> None:
    listing = read_listing(path)
    found = lint_listings([listing])
    assert listing.refused == ()
    assert [finding for finding in found if finding.level == "error"] == []
    # Useful is what a person reads through: few blocks of warnings, however many tools they are about.
    assert text(found, "warning").count("    do: ") < 30


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_starting_rules_load_and_are_no_laxer_than_none(path: Path, tmp_path: Path) -> None:
    listing = read_listing(path)
    file = tmp_path / "rules.yaml"
    file.write_text(starting_rules(listing.server, listing.tools, pins=True), encoding="utf-8")
    rules = load_rules(file)
    for tool in listing.tools:
        found = rules.for_tool(tool.server, tool.name)
        assert rules.checked_against(tool) == ()
        assert found.pin == tool.fingerprint
        assert found.effect in ("read", "irreversible")
        hints = tool.annotations or {}
        assert found.effect == "irreversible" or (hints["readOnlyHint"] is True and found.fields == {})  # type: ignore[index]
        assert not found.conditions
        assert not found.trust_labels
        assert {field.unconfirmed for field in found.fields.values()} <= {None}


def test_all_lists_side_by_side() -> None:
    found = lint_listings([read_listing(path) for path in FILES])
    assert {finding.rule for finding in found if finding.level == "error"} == set()
    shared = {(f.server, f.tool) for f in found if f.rule == "PF004"}
    assert ("email", "send_email") in shared
    assert ("gmail", "send_email") in shared


def test_the_page_of_findings_is_the_one_in_the_documentation() -> None:
    from preflight.lint.table import page

    written = (Path(__file__).resolve().parents[3] / "docs" / "findings.md").read_text(encoding="utf-8")
    assert page([read_listing(path) for path in FILES]) == written
