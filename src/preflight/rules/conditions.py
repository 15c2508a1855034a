"""Conditions with three outcomes: met, unmet, or unknown with what is missing (R-60, R-62)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

import msgspec
from msgspec import UNSET

from preflight.model.rules import ConditionRule
from preflight.rules.cel import CelFault, Codes, Failed, Program, compile_code, run
from preflight.rules.expression import HAS, IS_NULL, IS_VALUE, NOW, Expression, Read, scan
from preflight.rules.inputs import ANY, Seen, Unusable, find, take

_PROGRAMS = 64
_EXPRESSIONS = 4_096
_EMPTY: Mapping[str, object] = MappingProxyType({})
_MEASURED = "measured."


class Inputs(msgspec.Struct, frozen=True):
    """What conditions are checked against.

    `args` are the confirmed arguments of the call, `measured` the values of measurements that count, by name,
    `preset` the settings the user approved, `user` what is known of the user, `record` the prior executed
    record, `now` the moment of the check in ISO 8601 with its offset.
    """

    args: Mapping[str, object] = _EMPTY
    measured: Mapping[str, object] = _EMPTY
    preset: Mapping[str, object] = _EMPTY
    user: Mapping[str, object] = _EMPTY
    record: Mapping[str, object] = _EMPTY
    now: str = ""


class Outcome(msgspec.Struct, frozen=True):
    """Whether a condition holds.

    `missing` names the inputs without which it is unknown, as `needs` names them. `broken`: it is unknown
    since the condition, or a value it was given, is not what it must be (route `definition_repair`); `note`
    says why, and never quotes a value.
    """

    state: Literal["met", "unmet", "unknown"]
    missing: tuple[str, ...] = ()
    note: str | None = None
    broken: bool = False


MET = Outcome("met")
UNMET = Outcome("unmet")


def needs(rule: ConditionRule) -> tuple[str, ...]:
    """Return the inputs a condition reads: `args.recipient/iban`, `measured.balance`, `now`.

    Below `args` the name is the slot's; below the other roots it is what stands directly under the root.
    """
    if rule.check == "measure":
        return (_MEASURED + rule.text,)
    if rule.check == "confirmation":
        return (_confirmation(rule),)
    return _needs_of(rule.text)


def measures_read(rule: ConditionRule) -> tuple[str, ...]:
    """Return the names of the measures (or limits) a condition reads; a name may hold dots."""
    return tuple(need.removeprefix(_MEASURED) for need in needs(rule) if need.startswith(_MEASURED))


@lru_cache(maxsize=4096)
def _needs_of(text: str) -> tuple[str, ...]:
    expression, _ = scan(text)
    if expression is None:
        return ()
    names = [need_of(read) for read in expression.reads]
    return tuple(dict.fromkeys([*names, *([NOW] if expression.now else [])]))


def need_of(read: Read) -> str:
    """Return the name of the input that one read needs."""
    return read.label if read.root == "args" else f"{read.root}.{read.steps[0]}"


def _confirmation(rule: ConditionRule) -> str:
    return f"confirmation.{rule.id}"


class Conditions:
    """Evaluates conditions. Compiles each once for the types it is given; safe to use from many threads."""

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._compiled: dict[str, _Compiled] = {}

    def evaluate(self, rule: ConditionRule, inputs: Inputs) -> Outcome:
        """Return the outcome. Never raises: what goes wrong is an unknown that is broken.

        A confirmation is the user's to give, so here it is always unknown.
        """
        if rule.check == "measure":
            return _measured(rule, inputs)
        if rule.check == "confirmation":
            return Outcome("unknown", (_confirmation(rule),))
        compiled = self._compiled.get(rule.text)
        if compiled is None:
            if len(self._compiled) >= _EXPRESSIONS:  # what providers declare may be another text each time
                self._compiled.clear()
            compiled = self._compiled[rule.text] = _Compiled(rule.text)
        return compiled.evaluate(inputs)


def _measured(rule: ConditionRule, inputs: Inputs) -> Outcome:
    value = inputs.measured.get(rule.text)
    if value is True:
        return MET
    if value is False:
        return UNMET
    if value is None:
        return Outcome("unknown", needs(rule))
    return Outcome("unknown", note=f"`{rule.text}` is a `{type(value).__name__}`, not true or false", broken=True)


class _Compiled:
    """One expression, and its programs by the types of its inputs."""

    def __init__(self, text: str) -> None:
        self._expression, complaints = scan(text)
        self._faults = "; ".join(complaint.what for complaint in complaints)
        self._programs: dict[Codes, Program | CelFault] = {}

    def evaluate(self, inputs: Inputs) -> Outcome:
        expression = self._expression
        if expression is None:
            return _broken(self._faults)
        seen = Seen(expression.fraction, expression.big)
        data: dict[str, object] = {}
        try:
            codes, missing = self._collect(expression, inputs, seen, data)
            if missing:
                return Outcome("unknown", tuple(dict.fromkeys(missing)))
            if expression.now:
                data[NOW] = _moment(inputs.now)
        except Unusable as fault:
            return _broken(str(fault))
        except RecursionError:
            return _broken("a value that is nested too deeply")
        if seen.fraction and seen.big:  # CEL compares the two as doubles, which would round
            return _broken("a fraction and a whole number beyond 2^53 cannot be compared exactly")
        return self._run(expression, codes, data)

    def _collect(
        self, expression: Expression, inputs: Inputs, seen: Seen, data: dict[str, object]
    ) -> tuple[Codes, list[str]]:
        """Put the values into `data`; return the codes of their types and the names of the missing ones."""
        codes, missing = [], []
        for read in expression.reads:
            value = find(getattr(inputs, read.root), read.steps)
            there = value is not UNSET and value is not None
            code = ANY
            if there:
                code, data[read.variable] = take(value, seen)
            elif read.required and not (value is None and read.nullable):
                missing.append(_missing(read, inputs))
            codes.append(code)
            if not read.required:
                data[read.variable + HAS] = there
            if read.nullable:
                data[read.variable + IS_NULL], data[read.variable + IS_VALUE] = not there, there
        return tuple(codes), missing

    def _run(self, expression: Expression, codes: Codes, data: dict[str, object]) -> Outcome:
        program = self._programs.get(codes)
        if program is None:
            if len(self._programs) >= _PROGRAMS:
                self._programs.clear()
            program = self._programs[codes] = compile_code(expression, codes)
        if isinstance(program, CelFault):
            return _broken(program.text)
        result = run(program, data)
        if isinstance(result, Failed):
            return _broken(result.why)
        return MET if result is True else UNMET


def _missing(read: Read, inputs: Inputs) -> str:
    """Name a missing input; raises Unusable when a measurement is there and has not the part that is read."""
    if read.root == "measured" and inputs.measured.get(read.steps[0]) is not None:
        raise Unusable(f"`measured.{read.steps[0]}` has nothing at `/{'/'.join(read.steps[1:])}`")
    return need_of(read)


def _moment(now: str) -> datetime:
    try:
        moment = datetime.fromisoformat(now)
    except ValueError:
        raise Unusable("`now` is no moment") from None
    if moment.tzinfo is None:
        raise Unusable("`now` has no offset")
    return moment


def _broken(note: str) -> Outcome:
    return Outcome("unknown", note=note, broken=True)
