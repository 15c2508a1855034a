from __future__ import annotations

from pathlib import Path

import mcp.client.stdio  # noqa: F401  it keeps the `sys.stderr` of its first import: not one that a test put there
import pytest

from tests.acceptance.terminal import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)
