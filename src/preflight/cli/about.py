"""What this program is: its version, and those of what it stands on."""

from __future__ import annotations


def own_version() -> str:
    """Return the version that is installed; a bare source tree has none."""
    return installed("execution-state-preflight") or "unknown: not installed"


def installed(distribution: str) -> str | None:
    """Return a distribution's version, or None where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return None
