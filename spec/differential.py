"""How an answer of the core is held to `spec/reference.py`: key by key, without the free text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from spec.reference import decide, execute

Object = dict[str, Any]
Run = Callable[[Object], Object]


class DisagreementError(AssertionError):
    """The core and the reference answer one vector differently; the text shows the vector and both answers."""


def expected(vector: Object) -> Object:
    """The reference's answer to a vector: `expect`, with `execution` where the vector has a `call`."""
    answer = decide(vector["input"], vector["hooks"])
    if "call" in vector:
        answer["execution"] = execute(answer, vector["call"])
    return answer


def differences(wanted: Object, got: Object) -> list[str]:
    """The keys of `wanted` whose value in `got` is another; within objects too, only what `wanted` names counts."""
    return [key for key, value in wanted.items() if not covers(got.get(key, "absent"), value)]


def covers(got: Any, wanted: Any) -> bool:
    """Whether `got` has all of `wanted`: lists with the same length and order, other values equal in type too."""
    if type(wanted) is dict:
        return isinstance(got, dict) and all(key in got and covers(got[key], part) for key, part in wanted.items())
    if type(wanted) is list:
        return isinstance(got, list) and len(got) == len(wanted) and all(map(covers, got, wanted))
    return type(got) is type(wanted) and repr(got) == repr(wanted)


def hold(run: Run, vector: Object) -> Object:
    """The reference's answer, once the core has given the same; raises `DisagreementError` otherwise."""
    wanted, got = expected(vector), run(vector)
    wrong = differences(wanted, got) + hidden_failures(wanted, got)
    if wrong:
        raise DisagreementError(
            f"core and reference differ in {', '.join(wrong)}\n"
            f"reference: {show(wanted)}\n     core: {show(got)}\n   vector: {show(vector)}"
        )
    return wanted


def hidden_failures(wanted: Object, got: Object) -> list[str]:
    """`lookup_failed` is named only where it is true, so its absence is compared here."""
    pairs = zip(wanted["fields"] or [], got.get("fields") or [], strict=False)
    hidden = [ours for ours, theirs in pairs if theirs.get("lookup_failed") and not ours.get("lookup_failed")]
    return [f"lookup_failed of `{field['name']}`" for field in hidden]


def disagreements(run: Run, vectors: Iterable[Object]) -> int:
    """How many of the vectors the core and the reference answer differently; a crash of the core is one too."""
    count = 0
    for vector in vectors:
        try:
            hold(run, vector)
        except Exception:  # noqa: BLE001  # a total function answers every input (R-11)
            count += 1
    return count


def show(value: Any) -> str:
    """A value as JSON, with what is no JSON shown by its `repr`."""
    return json.dumps(value, ensure_ascii=True, default=repr)
