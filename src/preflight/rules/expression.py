"""What an expression reads: found in its text, before CEL sees it (R-60).

Everything an expression knows stands under one of six fixed roots. Each path under a root (`args.amount`,
`args["to account"]`, `measured.balance`) becomes a variable of its own. So a missing input is found before
evaluation, a value's type is checked where it is used, and nothing that is not used is handed to CEL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

import msgspec

from preflight.model.pointer import name_of
from preflight.rules.bounds import DEFAULT_BOUNDS, Bounds

Root = Literal["args", "measured", "preset", "user", "record"]
ROOTS: tuple[Root, ...] = ("args", "measured", "preset", "user", "record")
NOW = "now"
EXACT = 2**53
"""The largest magnitude up to which every whole number is a double."""

HAS, IS_NULL, IS_VALUE = "_h", "_n", "_v"
"""Endings of the variables that stand for a question about an input."""
_NULLS = {"==": IS_NULL, "!=": IS_VALUE}
_OPENS = frozenset(("", "(", "[", ",", "?", ":", "&&", "||"))
_CLOSES = frozenset(("", ")", "]", ",", "?", ":", "&&", "||"))

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    |(?P<string>(?:[bB]?[rR])(?:\"\"\".*?\"\"\"|'''.*?'''|"[^"\n]*"|'[^'\n]*')
       |[bB]?(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
    |(?P<number>0[xX][0-9a-fA-F]+[uU]?|(?:[0-9]+\.[0-9]+|\.[0-9]+|[0-9]+)(?:[eE][+-]?[0-9]+)?[uU]?)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<sign>&&|\|\||==|!=|<=|>=|.)""",
    re.VERBOSE | re.DOTALL,
)
_PLAIN_STRING = re.compile(r"""(["'])([^\\\n]*)\1""")


class Token(NamedTuple):
    """A piece of an expression; `sort` is string, number, name or sign."""

    sort: str
    text: str
    start: int
    end: int


class Complaint(NamedTuple):
    """What is wrong with an expression, by offset into its text."""

    offset: int
    what: str
    do: str = ""


class Read(msgspec.Struct, frozen=True):
    """One input: the path under a root, and the CEL variables that stand for it.

    `variable` stands for its value, `variable` and `_h` for `has(...)` of it, `_n` for that it is null, `_v` for
    that it is not. `required`: missing, it makes the condition unknown; not so when the expression asks `has(...)`.
    `nullable`: the expression compares it with null; any other input that is null counts as missing.
    """

    root: Root
    steps: tuple[str, ...]
    variable: str
    required: bool
    nullable: bool

    @property
    def label(self) -> str:
        """The root and the slot-like name: `args.recipient/iban`, `measured.balance`."""
        return f"{self.root}.{name_of(self.steps)}"


class Expression(msgspec.Struct, frozen=True):
    """An expression ready for CEL: `code` is the text with its paths replaced, offsets kept.

    `fraction` and `big`: it has a literal with a fraction, or a whole one that no double holds exactly.
    `patterns` are the regular expressions written in it, with their offsets.
    """

    text: str
    code: str
    reads: tuple[Read, ...]
    now: bool
    fraction: bool
    big: bool
    patterns: tuple[tuple[int, str], ...]


class _Path(NamedTuple):
    """One place where a path stands, with the `has(...)` or the comparison with null that `use` says it stands in."""

    root: Root
    steps: tuple[str, ...]
    start: int
    end: int
    use: str


def scan(text: str, bounds: Bounds = DEFAULT_BOUNDS) -> tuple[Expression | None, list[Complaint]]:
    """Find what an expression reads; the complaints say what cannot be read off its text."""
    if len(text) > bounds.expression_length:
        return None, [Complaint(0, f"an expression of more than {bounds.expression_length} characters")]
    scanner = _Scanner(tuple(_tokens(text)))
    paths = list(scanner.paths())
    reads = _reads(paths, {token.text for token in scanner.tokens if token.sort == "name"})
    complaints = scanner.complaints
    if len(reads) > bounds.expression_reads:
        complaints.append(Complaint(0, f"an expression that reads more than {bounds.expression_reads} inputs"))
    if complaints:
        return None, complaints
    return Expression(
        text, _replaced(text, paths, reads), tuple(reads.values()), scanner.now, *scanner.literals(),
        tuple(scanner.patterns()),
    ), []  # fmt: skip


def _tokens(text: str) -> Iterator[Token]:
    for found in _TOKEN.finditer(text):
        if found.lastgroup != "space":
            yield Token(str(found.lastgroup), found[0], found.start(), found.end())


class _Scanner:
    def __init__(self, tokens: tuple[Token, ...]) -> None:
        self.tokens = tokens
        self.complaints: list[Complaint] = []
        self.now = False

    def paths(self) -> Iterator[_Path]:
        """Yield every path under a root."""
        for at, token in enumerate(self.tokens):
            if token.text == "`":
                self._complain(token, "a name in backquotes", 'write `args["the name"]`')
            elif token.text == "." and not self._is_operand(at - 1):
                self._complain(token, "a name that begins with a dot", "leave the dot out")
            elif token.text in ("/", "%") and not self._divides_safely(at + 1):
                self._complain(token, "a division by what may be zero", "divide by a number, or multiply instead")
            elif token.text == "double" and self._text(at + 1) == "(":
                self._complain(
                    token, "`double(...)`, which makes `nan` and `inf` of texts", "compare numbers as they are"
                )
            elif token.sort == "name" and self._text(at - 1) != ".":
                yield from self._root(at)

    def literals(self) -> tuple[bool, bool]:
        """Tell whether there is a literal with a fraction, and a whole one that no double holds exactly."""
        numbers = [token.text.lower().rstrip("u") for token in self.tokens if token.sort == "number"]
        fractions = [number for number in numbers if not number.startswith("0x") and re.search("[.e]", number)]
        whole = [int(number, 0 if number.startswith("0x") else 10) for number in numbers if number not in fractions]
        return bool(fractions), any(number > EXACT for number in whole)

    def patterns(self) -> Iterator[tuple[int, str]]:
        """Yield the regular expressions that are written out: the last argument of `matches`."""
        for at, token in enumerate(self.tokens):
            if token.text == "matches" and self._text(at + 1) == "(":
                last = self.tokens[self._closing(at + 1) - 1]
                if last.sort == "string":
                    yield last.start, last.text

    def _root(self, at: int) -> Iterator[_Path]:
        token = self.tokens[at]
        if token.text == NOW:
            self.now = True
        if token.text not in ROOTS:
            return
        steps, after = self._steps(at + 1)
        if not steps:
            self._complain(token, f"`{token.text}` stands alone", f"name what is read of it, as in `{token.text}.x`")
            return
        first, last, use = self._use(at, after - 1)
        if use == HAS and token.text == "measured" and len(steps) == 1:  # it is unknown then, never false
            self._complain(token, "`has` of a measurement", "leave it out: a missing one makes this unknown")
        yield _Path(token.text, steps, self.tokens[first].start, self.tokens[last].end, use)

    def _use(self, first: int, last: int) -> tuple[int, int, str]:
        """Return the first and last token of a path with what is asked of it: its value, `has`, null or not null."""
        if self._text(first - 2) == "has" and self._text(first - 1) == "(" and self._text(last + 1) == ")":
            return first - 2, last + 1, HAS
        if self._text(last + 2) == "null" and self._text(last + 1) in _NULLS:
            begin, end, sign = first, last + 2, self._text(last + 1)
        elif self._text(first - 2) == "null" and self._text(first - 1) in _NULLS:
            begin, end, sign = first - 2, last, self._text(first - 1)
        else:
            return first, last, ""
        if self._text(begin - 1) not in _OPENS or self._text(end + 1) not in _CLOSES:
            self._complain(self.tokens[begin], "a comparison with null inside another", "put it in parentheses")
        return begin, end, _NULLS[sign]

    def _steps(self, at: int) -> tuple[tuple[str, ...], int]:
        """Follow `.name` and `["name"]` from a root; return the names and the first token after them."""
        steps: list[str] = []
        while True:
            if self._text(at) == "." and self._sort(at + 1) == "name" and self._text(at + 2) != "(":
                steps.append(self.tokens[at + 1].text)
                at += 2
            elif self._text(at) == "[" and self._sort(at + 1) == "string" and self._text(at + 2) == "]":
                plain = _PLAIN_STRING.fullmatch(self.tokens[at + 1].text)
                if plain is None:
                    self._complain(self.tokens[at + 1], "a name with an escape or a prefix", "write it plainly")
                    return (), at
                steps.append(plain[2])
                at += 3
            else:
                return tuple(steps), at

    def _divides_safely(self, at: int) -> bool:
        """Tell whether a divisor is a number above zero: a fraction divided by zero is infinite, and no error."""
        return self._sort(at) == "number" and any(digit in "123456789" for digit in self._text(at).split("e")[0])

    def _closing(self, at: int) -> int:
        depth = 0
        for i in range(at, len(self.tokens)):
            depth += {"(": 1, ")": -1}.get(self.tokens[i].text, 0)
            if depth == 0:
                return i
        return len(self.tokens)

    def _is_operand(self, at: int) -> bool:
        return self._sort(at) in ("name", "string", "number") or self._text(at) in (")", "]", "}")

    def _text(self, at: int) -> str:
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def _sort(self, at: int) -> str:
        return self.tokens[at].sort if 0 <= at < len(self.tokens) else ""

    def _complain(self, token: Token, what: str, do: str) -> None:
        self.complaints.append(Complaint(token.start, what, do))


_Where = tuple[Root, tuple[str, ...]]


def _reads(paths: list[_Path], taken: set[str]) -> dict[_Where, Read]:
    """Give each path its variables; their names are ones the expression does not use."""
    mark = "p"
    while any(name.startswith(f"_{mark}") for name in taken):
        mark += "p"
    wanted: list[_Where] = list(dict.fromkeys((path.root, path.steps) for path in paths))
    # of a part of a measurement `has` may be asked, of the measurement it is in never: that one is required
    inside = ((path.root, path.steps[:1]) for path in paths if path.use == HAS and path.root == "measured")
    wanted += [where for where in dict.fromkeys(inside) if where not in wanted]
    tested = {(path.root, path.steps) for path in paths if path.use == HAS}
    nullable = {(path.root, path.steps) for path in paths if path.use in _NULLS.values()}
    return {
        where: Read(*where, f"_{mark}{i}", where not in tested, where in nullable) for i, where in enumerate(wanted)
    }


def _replaced(text: str, paths: list[_Path], reads: dict[_Where, Read]) -> str:
    """Put the variables in place of the paths, padded so that offsets stay what they were."""
    pieces, done = [], 0
    for path in paths:
        read = reads[path.root, path.steps]
        variable = read.variable + path.use
        rest = text[path.start + len(variable) : path.end]
        pieces += [text[done : path.start], variable, "".join(char if char == "\n" else " " for char in rest)]
        done = path.end
    return "".join([*pieces, text[done:]])
