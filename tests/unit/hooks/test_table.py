"""Hooks and storage are checked at construction (R-100, R-102)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from preflight import ShippedHooks, create_async_preflight, create_preflight
from preflight.errors import ConstructionError
from preflight.hooks.protocol import ALL, DEFAULTED, OPTIONAL, REQUIRED, SIGNATURES
from preflight.hooks.table import collect
from preflight.testing import MemoryStorage
from tests.unit.gates import HOOKS, hooks, request


def test_every_hook_has_a_signature_to_tell() -> None:
    assert set(SIGNATURES) == set(ALL) == {*REQUIRED, *DEFAULTED, *OPTIONAL}


@pytest.mark.parametrize("name", REQUIRED)
def test_a_missing_hook_is_named_with_what_it_must_be(name: str) -> None:
    table = {key: hook for key, hook in HOOKS.items() if key != name}
    with pytest.raises(ConstructionError, match=f"`{name}`\\("):
        create_preflight(hooks=table, storage=MemoryStorage())


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("clasify_when_case", "did you mean `classify_when_case`?"),
        ("classifyWhenCase", "did you mean `classify_when_case`?"),
        ("formatReason", "did you mean `format_reason`?"),
        ("xyz", "the hooks are classify_when_case, "),
        (5, "`5` is not a hook"),
    ],
)
def test_a_misspelt_hook_is_named(name: Any, hint: str) -> None:
    with pytest.raises(ConstructionError) as fault:
        collect({**HOOKS, name: lambda: None}, strict=True)
    assert hint in str(fault.value)


def test_a_misspelt_method_of_an_object_is_named() -> None:
    class Hooks(ShippedHooks):
        def mesure_from_environment(self, *_: object) -> None:
            """Never called: its name is no hook's."""

        def measure(self) -> None:
            """A helper's name, near to none."""

    with pytest.raises(ConstructionError, match="did you mean `measure_from_environment`") as fault:
        create_preflight(hooks=Hooks(), storage=MemoryStorage())
    assert "`mesure_from_environment` is not a hook" in str(fault.value)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.5, "`hook_seconds` is a `float`; map names of hooks to seconds"),
        ({"mesure": 1.0}, "`hook_seconds` has `mesure`, which is no hook here; the hooks are "),
        ({"build_action_key": -1}, "`hook_seconds` of `build_action_key` is no length of time"),
        ({"build_action_key": "1"}, "is no length of time; give seconds"),
        ({"build_action_key": float("nan")}, "is no length of time; give seconds"),
    ],
)
def test_a_time_limit_that_could_not_hold_is_refused(seconds: Any, said: str) -> None:
    with pytest.raises(ConstructionError) as fault:
        create_preflight(hooks=HOOKS, storage=MemoryStorage(), hook_seconds=seconds)
    assert said in str(fault.value)
    made = create_preflight(hooks=HOOKS, storage=MemoryStorage(), hook_seconds={"build_action_key": 5})
    assert made.check(request()).decision == "execute"


@pytest.mark.parametrize("hook", [None, "immediate", 5, {"returns": None}])
def test_a_hook_that_cannot_be_called_is_named(hook: Any) -> None:
    with pytest.raises(ConstructionError, match=r"hook `classify_when_case` is a `.*`, not callable"):
        collect({**HOOKS, "classify_when_case": hook}, strict=True)


@pytest.mark.parametrize("given", [5, object(), "hooks"])
def test_what_has_no_hook_at_all_is_refused(given: Any) -> None:
    with pytest.raises(ConstructionError, match="without any hook"):
        create_preflight(hooks=given, storage=MemoryStorage())


@pytest.mark.parametrize("name", DEFAULTED)
def test_a_default_that_verifies_nothing_is_refused_unless_it_is_asked_for(name: str) -> None:
    table = {key: hook for key, hook in HOOKS.items() if key != name}
    with pytest.raises(ConstructionError, match=f"no hook for `{name}`: their defaults verify nothing"):
        create_preflight(hooks=table, storage=MemoryStorage())
    made = create_preflight(hooks=table, storage=MemoryStorage(), strict=False)
    assert made.unsafe_defaults == (name,)
    assert made.check(request()).decision == "execute"


def test_the_default_policy_carries_no_prior_value() -> None:
    #
    table = {key: hook for key, hook in hooks().items() if key != "apply_field_policy"}
    made = create_preflight(hooks=table, storage=MemoryStorage(), strict=False)
    field = {"name": "amount", "status": "known", "value": 5, "origin_source": "user_answer"}
    prior = {"execution_decision": "executed", "fields": [field, {**field, "name": "to", "value": "bob"}]}
    checked = made.check(request(claims={}, prior_execution_state=prior))
    assert {(s.status, s.note) for s in checked.record.fields or ()} == {
        ("unknown", "the value of a prior run is not carried over")
    }


def test_the_default_verifies_no_item() -> None:
    table = {key: hook for key, hook in hooks().items() if key != "verify_user_checklist_item"}
    made = create_preflight(hooks=table, storage=MemoryStorage(), strict=False)
    checked = made.check(request(user_checklist=[{"id": "rent"}], checklist_answers={"rent": True}))
    assert checked.decision == "ask_user"


def test_the_shipped_hooks_leave_no_default() -> None:
    table, unsafe = collect(ShippedHooks(), strict=True)
    assert unsafe == ()
    assert {*REQUIRED, *DEFAULTED} <= set(table)


@pytest.mark.parametrize("create", [create_preflight, create_async_preflight])
@pytest.mark.parametrize(
    ("storage", "why"), [(None, "no storage"), (5, "`int` is no storage: it has no `append`"), ({}, "is no storage")]
)
def test_missing_storage_is_named(create: Any, storage: Any, why: str) -> None:
    with pytest.raises(ConstructionError, match=why):
        create(hooks=HOOKS, storage=storage)


@pytest.mark.parametrize("form", [str, Path])
def test_a_path_is_an_sqlite_file(form: Any, tmp_path: Path) -> None:
    made = create_preflight(hooks=HOOKS, storage=form(tmp_path / "r.db"))
    made.close()
    assert (tmp_path / "r.db").exists()
