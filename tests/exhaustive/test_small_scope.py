"""Every combination in a small scope: the core answers as `spec/reference.py` does.

Where a whole space would take longer than a few seconds, every n-th vector is compared: n is prime and divides no
dimension of the space, so each pair of states is still met. `--slow` compares the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pytest

from preflight.conformance import run_vector
from spec.differential import hold
from spec.reference import value_gate
from tests.exhaustive.spaces import decision_space, intent_gate_space, lookup_space, span_space, tool_gate_space

Object = dict[str, Any]
Space = Callable[[], Iterator[Object]]

# The space, its size, and the step of the quick run.
SPACES: list[tuple[Space, int, int]] = [
    (lookup_space, 29_400, 11),
    (span_space, 6_561, 5),
    (decision_space, 1_134, 1),
    (tool_gate_space, 1_356, 1),
    (intent_gate_space, 13_365, 7),
]


@pytest.mark.parametrize(("space", "size", "step"), SPACES)
def test_the_core_answers_as_the_reference_does(space: Space, size: int, step: int) -> None:
    compared = [hold(run_vector, vector) for vector in islice(space(), 0, None, step)]
    assert len(compared) == len(range(0, size, step))


@pytest.mark.slow
@pytest.mark.parametrize(("space", "size", "_"), SPACES)
def test_the_core_answers_as_the_reference_does_on_the_whole_space(space: Space, size: int, _: int) -> None:
    assert sum(1 for vector in space() if hold(run_vector, vector)) == size


@pytest.mark.parametrize(
    ("routes", "payload_valid", "unmet", "decision"),
    [
        ([], True, False, "execute"),
        ([], False, False, "hold"),
        (["definition_repair"], True, False, "hold"),
        (["system_lookup"], True, False, "hold"),
        (["definition_repair", "ask_user"], False, False, "ask_user"),
        (["ask_user"], True, True, "hold"),
        ([], True, True, "hold"),
    ],
)
def test_the_reference_decides_in_the_order_of_r30(
    *, routes: list[str], payload_valid: bool, unmet: bool, decision: str
) -> None:
    assert value_gate(routes, payload_valid=payload_valid, unmet=unmet)[0] == decision
