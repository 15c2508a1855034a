"""CEL, as rules use it: compiled for the types its inputs have, and only exactly true is true (R-60).

Compiled by Google's `cel-expr-python`. Two of its manners are changed here: whole numbers and fractions
compare with one another (JSON has one kind of number), and types are checked where the library would answer
false without a word (`status != "frozen"` of a number).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from preflight.errors import ConstructionError
from preflight.rules.expression import EXACT, HAS, IS_NULL, IS_VALUE, NOW, ROOTS, Complaint, Expression

Codes = tuple[str, ...]
"""The types of an expression's reads, one code each: i whole, d fraction, s text, b flag, m map, l and an item's
code list, - anything."""

_ORDERED = ("bool", "int", "uint", "double", "string", "bytes", "google.protobuf.Timestamp", "google.protobuf.Duration")
_MIXED = (("int", "double"), ("double", "int"))
_TIME, _SPAN = _ORDERED[-2:]
_FAULT = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)")
_REASONS = (
    ("No matching overload", "its inputs are of types that do not go together"),
    ("by zero", "it divides by zero"),
    ("overflow", "a number is beyond 64 bits"),
    ("out of range", "a number is beyond 64 bits"),
    ("Key not found", "it reads a key that is not there"),
    ("no such key", "it reads a key that is not there"),
    ("Index error", "it reads an item that is not there"),
    ("invalid regular expression", "it has an invalid regular expression"),
    ("Iteration budget", "it takes too many steps"),
    ("conver", "a value cannot be converted"),
    ("No value with name", "it reads an input that is not there"),
)


class CelFault(msgspec.Struct, frozen=True):
    """What CEL says about an expression, with offsets into its text."""

    complaints: tuple[Complaint, ...]

    @property
    def text(self) -> str:
        """All of it in one line."""
        return "; ".join(complaint.what for complaint in self.complaints)


class Program(msgspec.Struct, frozen=True):
    """A compiled expression; `returns` is `BOOL`, `DYN` or another type's name."""

    run: Any
    returns: str


class Failed(msgspec.Struct, frozen=True):
    """An evaluation without a result; `why` names no value."""

    why: str


def compile_code(expression: Expression, codes: Codes) -> Program | CelFault:
    """Compile an expression for reads of these types; returns what is wrong when it does not fit them."""
    variables = {NOW: "t"} | {read.variable + use: "b" for read in expression.reads for use in (HAS, IS_NULL, IS_VALUE)}
    variables |= {read.variable: code for read, code in zip(expression.reads, codes, strict=True)}
    try:
        run = _environment(variables).compile(expression.code)
    except Exception as fault:  # noqa: BLE001  the library raises RuntimeError, and TypeError for text it cannot encode
        return CelFault(_complaints(str(fault), expression.code))
    return Program(run, run.return_type().name())


def run(program: Program, data: dict[str, object]) -> bool | Failed:
    """Evaluate; the result is exactly True, exactly False, or why there is none.

    An evaluation error comes back from the library as a text, which Python takes for true: hence the care.
    """
    try:
        result = program.run.eval(data=data)
        value, kind = result.value(), result.type().name()
    except Exception as fault:  # noqa: BLE001  an input CEL cannot take, or its budget of steps
        return Failed(_reason(str(fault)))
    if kind == "BOOL" and (value is True or value is False):
        return value
    return Failed(_reason(value) if kind == "ERROR" and isinstance(value, str) else "it is not true or false")


def constant(program: Program) -> bool | None:
    """Return what an expression is whatever its inputs are, or None when it depends on them."""
    result = run(program, {})
    return None if isinstance(result, Failed) else result


def bad_pattern(literal: str) -> bool:
    """Tell whether a literal of CEL is no regular expression of RE2, or too large a one."""
    probe = Expression("", f'"".matches({literal})', (), now=False, fraction=False, big=False, patterns=())
    program = compile_code(probe, ())
    return isinstance(program, Program) and isinstance(run(program, {}), Failed)


@lru_cache(maxsize=1)
def _library() -> Any:
    try:
        from cel_expr_python import cel  # type: ignore[import-untyped]  # noqa: PLC0415  its absence is told in words, and only where it is needed
    except ImportError as fault:
        raise ConstructionError(
            "expressions in rules need the package `cel-expr-python`, which is not installed or has no build for this "
            "platform (it has none for musl, Windows on ARM and free-threaded Python); install it with "
            "`pip install cel-expr-python`, on another platform if need be, or write conditions as `measure` or "
            f"`confirmation` ({fault})"
        ) from fault
    return cel


def _environment(variables: Mapping[str, str]) -> Any:
    cel = _library()
    types = {name: _type(code) for name, code in variables.items()}
    return cel.NewEnv(config=_config(), variables=types, function_impls=_MIXED_ARITHMETIC)


@lru_cache(maxsize=256)
def _type(code: str) -> Any:
    types = _library().Type
    if code.startswith("l"):
        return types.List(_type(code[1:] or "-"))
    if code == "m":
        return types.Map(types.STRING, types.DYN)
    names = {"i": "INT", "d": "DOUBLE", "s": "STRING", "b": "BOOL", "t": "TIMESTAMP"}
    return getattr(types, names.get(code, "DYN"))


def _exactly(number: float) -> float:
    """Return a number as a double; raises ValueError when it would be rounded (R-47)."""
    if abs(number) > EXACT and type(number) is int:
        raise ValueError("overflow of a double")
    return float(number)


def _mixed(operation: Callable[[float, float], float]) -> Callable[[float, float], float]:
    return lambda left, right: operation(_exactly(left), _exactly(right))


_OPERATIONS: dict[str, Callable[[float, float], float]] = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
}  # fmt: skip
_MIXED_ARITHMETIC = {
    f"{name}_{_a}_{_b}_mixed": _mixed(operation) for name, operation in _OPERATIONS.items() for _a, _b in _MIXED
}


@lru_cache(maxsize=1)
def _config() -> Any:
    """The standard functions, with the overloads for mixed numbers added: the library takes whole lists only."""
    functions = [_compared(sign, name) for sign, name in _COMPARISONS] + [_equal("_==_"), _equal("_!=_"), _contained()]
    functions += [_calculated(sign, name) for sign, name in _ARITHMETIC]
    excluded = [{"name": function["name"]} for function in functions]
    text = json.dumps({"stdlib": {"exclude_functions": excluded}, "functions": functions})
    return _library().NewEnvConfigFromYaml(text)


_COMPARISONS = (("_<_", "less"), ("_<=_", "less_equals"), ("_>_", "greater"), ("_>=_", "greater_equals"))
_ARITHMETIC = (("_+_", "add"), ("_-_", "subtract"), ("_*_", "multiply"), ("_/_", "divide"))
_MORE: dict[str, tuple[tuple[str, str, str], ...]] = {
    "add": (
        ("string",) * 3, ("bytes",) * 3, ("list(A)",) * 3, (_TIME, _SPAN, _TIME), (_SPAN, _TIME, _TIME), (_SPAN,) * 3,
    ),
    "subtract": ((_TIME, _TIME, _SPAN), (_TIME, _SPAN, _TIME), (_SPAN,) * 3),
    "multiply": (),
    "divide": (),
}  # fmt: skip


def _compared(sign: str, name: str) -> dict[str, object]:
    pairs = [(kind, kind) for kind in _ORDERED] + list(_MIXED)
    return _function(sign, [(f"{name}_{i}", (*pair, "bool")) for i, pair in enumerate(pairs)])


def _equal(sign: str) -> dict[str, object]:
    pairs = (("A", "A"), *_MIXED)
    return _function(sign, [(f"same{sign}{i}", (*pair, "bool")) for i, pair in enumerate(pairs)])


def _contained() -> dict[str, object]:
    pairs = (("A", "list(A)"), ("A", "map(A,B)"), ("int", "list(double)"), ("double", "list(int)"))
    return _function("@in", [(f"in_{i}", (*pair, "bool")) for i, pair in enumerate(pairs)])


def _calculated(sign: str, name: str) -> dict[str, object]:
    same = [(kind, kind, kind) for kind in ("int", "uint", "double")] + list(_MORE[name])
    mixed = [(f"{name}_{a}_{b}_mixed", (a, b, "double")) for a, b in _MIXED]
    return _function(sign, [(f"{name}_{i}", row) for i, row in enumerate(same)] + mixed)


def _function(sign: str, overloads: Sequence[tuple[str, tuple[str, ...]]]) -> dict[str, object]:
    rows = [
        {"id": name, "args": [_written(kind) for kind in kinds[:-1]], "return": _written(kinds[-1])}
        for name, kinds in overloads
    ]
    return {"name": sign, "overloads": rows}


def _written(kind: str) -> dict[str, object]:
    outer, _, inner = kind.partition("(")
    if inner:
        return {"type_name": outer, "params": [_written(part) for part in inner[:-1].split(",")]}
    return {"type_name": kind, "is_type_param": True} if kind in ("A", "B") else {"type_name": kind}


def _complaints(text: str, code: str) -> tuple[Complaint, ...]:
    lines = code.split("\n")
    found = [
        Complaint(
            sum(len(line) + 1 for line in lines[: int(row) - 1]) + int(column) - 1, _said(message), _hint(message)
        )
        for row, column, message in _FAULT.findall(text)
    ]
    if not found:
        what = "nested too deeply" if "recursion limit" in text else "it cannot be read"
        found = [Complaint(0, f"not CEL: {what}")]
    return tuple(dict.fromkeys(found))


def _said(message: str) -> str:
    message = re.sub(r" (?:\(in container ''\)|expecting \{.*)$", "", message.removesuffix(" [INVALID_ARGUMENT]"))
    return "not CEL: " + message.replace("'", "`")


def _hint(message: str) -> str:
    if "undeclared reference" not in message:
        return ""
    return "inputs stand under " + ", ".join(f"`{root}`" for root in (*ROOTS, NOW))


def _reason(text: str) -> str:
    return next((reason for sign, reason in _REASONS if sign in text), "it failed")
