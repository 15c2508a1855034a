"""What every test shares: the switch for long runs, and one profile for generated cases."""

from __future__ import annotations

import signal

import pytest
from hypothesis import HealthCheck, settings

# No deadline: a busy machine is no bug. Failing cases print the line that reproduces them.
settings.register_profile("quick", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", parent=settings.get_profile("quick"), max_examples=5_000)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the tests marked `slow`, and generate more cases")
    parser.addoption(
        "--thorough", action="store_true", help="also run the tests marked `thorough`, as `make check` does"
    )


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("long" if config.getoption("--slow") else "quick")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's job in the background: programs would inherit it
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for mark in ("slow", "thorough"):
        if config.getoption("--slow") or config.getoption(f"--{mark}"):
            continue
        skip = pytest.mark.skip(reason=f"{mark}: runs with --{mark}")
        for item in items:
            if mark in item.keywords:
                item.add_marker(skip)
