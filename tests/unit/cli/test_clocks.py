"""In which zone days are counted: the one that is named, else the machine's."""

from __future__ import annotations

import sys

import pytest

from preflight.cli.clocks import zone_here, zone_named
from preflight.errors import InvalidInput


@pytest.mark.parametrize("name", ["Mars/Olympus", "", "..", "/etc/passwd", "KST", "\x00"])
def test_a_zone_that_there_is_not_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="is no time zone"):
        zone_named(name)


def test_the_machine_s_zone_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Seoul")
    assert zone_here() == "Asia/Seoul"


def test_where_nobody_can_tell_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tzlocal", None)
    assert zone_here() is None
