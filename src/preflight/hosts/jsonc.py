"""Changes a JSON text without touching what is around the change: order, spacing, numbers and comments stay."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

MOST_DEPTH = 64
_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+)|(?P<comment>//[^\r\n]*|/\*.*?\*/)|(?P<mark>[{}\[\],:])"
    r'|(?P<string>"(?:[^"\\\x00-\x1f]|\\.)*")|(?P<word>[-+.\w]+)',
    re.DOTALL,
)
_INDENT = re.compile(r"\n([ \t]+)\S")


class NotJson(Exception):
    """The text is no JSON; `at` is the place, in code points."""

    def __init__(self, what: str, text: str, at: int) -> None:
        """Say what is wrong, with line and column."""
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        super().__init__(f"line {line}, column {column}: {what}")


class Node(NamedTuple):
    """A value with its place: `text[start:end]`. `commas` are the places of the commas between its members."""

    value: Any
    start: int
    end: int
    members: tuple[tuple[str, int, Node], ...] = ()
    """Of an object: key, the place of the key, value. Of an array the key is empty and the place the value's."""
    commas: tuple[int, ...] = ()

    def member(self, key: str) -> Node | None:
        """Return the value under a key of an object."""
        return next((node for name, _, node in self.members if name == key), None)


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


def read(text: str, *, comments: bool = False) -> Node:
    """Parse a JSON text, with comments where the program that reads it allows them; raises NotJson."""
    reader = _Reader(text, comments=comments)
    node = reader.value(0)
    reader.expect_end()
    return node


class _Reader:
    def __init__(self, text: str, *, comments: bool) -> None:
        self._text = text
        self._tokens = self._scan(comments=comments)
        self._next = next(self._tokens)

    def _scan(self, *, comments: bool) -> Iterator[_Token]:
        at, text = 0, self._text
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise NotJson(f"`{text[at]!a}` is not expected", text, at)
            kind = str(match.lastgroup)
            if kind == "comment" and not comments:
                raise NotJson("a comment, which this file may not have", text, at)
            if kind not in ("space", "comment"):
                yield _Token(kind, match[0], at)
            at = match.end()
        yield _Token("end", "", at)
        yield _Token("end", "", at)

    def _take(self) -> _Token:
        token, self._next = self._next, next(self._tokens)
        return token

    def _fail(self, token: _Token, wanted: str) -> NotJson:
        shown = f"`{token.text[:20]}`" if token.text else "the end"
        return NotJson(f"{shown} where {wanted} is expected", self._text, token.at)

    def expect_end(self) -> None:
        if self._next.kind != "end":
            raise self._fail(self._next, "the end")

    def value(self, depth: int) -> Node:
        token = self._take()
        if depth > MOST_DEPTH:
            raise NotJson(f"more than {MOST_DEPTH} levels", self._text, token.at)
        if token.text in ("{", "["):
            return self._container(token, depth)
        if token.kind not in ("string", "word"):
            raise self._fail(token, "a value")
        return Node(self._scalar(token), token.at, token.at + len(token.text))

    def _scalar(self, token: _Token) -> object:
        try:
            return json.loads(token.text)
        except ValueError:
            raise self._fail(token, "a value") from None

    def _container(self, opened: _Token, depth: int) -> Node:
        closing = "}" if opened.text == "{" else "]"
        members: list[tuple[str, int, Node]] = []
        commas: list[int] = []
        while commas or self._next.text != closing:
            members.append(self._member(depth, named=closing == "}"))
            token = self._take()
            if token.kind == "mark" and token.text == closing:
                return self._made(opened, token, members, commas)
            if token.kind != "mark" or token.text != ",":
                raise self._fail(token, f"`,` or `{closing}`")
            commas.append(token.at)
        return self._made(opened, self._take(), members, commas)

    def _member(self, depth: int, *, named: bool) -> tuple[str, int, Node]:
        at = self._next.at
        if not named:
            return "", at, self.value(depth + 1)
        token = self._take()
        if token.kind != "string":
            raise self._fail(token, "a key")
        colon = self._take()
        if colon.kind != "mark" or colon.text != ":":
            raise self._fail(colon, "`:`")
        return str(self._scalar(token)), at, self.value(depth + 1)

    def _made(self, opened: _Token, closed: _Token, members: list[tuple[str, int, Node]], commas: list[int]) -> Node:
        names = [name for name, _, _ in members]
        value: Any = [node.value for _, _, node in members]
        if closed.text == "}":
            if len(set(names)) != len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise NotJson(f"the key `{twice}` stands twice", self._text, opened.at)
            value = dict(zip(names, value, strict=True))
        return Node(value, opened.at, closed.at + 1, tuple(members), tuple(commas))


def insert(text: str, node: Node, value: object, key: str | None = None) -> str:
    """Return the text with a value added at the end of an array, or under `key` of an object."""
    unit, line = _unit(text), "\r\n" if "\r\n" in text else "\n"
    depth = _depth(text, node)
    own = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    outer = unit * depth
    if node.members and line not in text[node.start : node.end]:  # written on one line, and kept so
        last = node.members[-1][2].end
        return text[:last] + ", " + own + json.dumps(value, ensure_ascii=False) + text[last:]
    body = own + json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", line + outer + unit)
    if not node.members:
        inside = text[node.start + 1 : node.end - 1].rstrip()
        return text[: node.start + 1] + inside + line + outer + unit + body + line + outer + text[node.end - 1 :]
    last = node.members[-1][2].end
    kept = text[last : node.end - 1].rstrip()
    return text[:last] + "," + kept + line + outer + unit + body + text[last + len(kept) :]


def remove(text: str, node: Node, place: int) -> str:
    """Return the text without the member at a place of an object or array, and without its comma."""
    _, start, gone = node.members[place]
    before = len(text[:start].rstrip(" \t\r\n"))
    if place < len(node.commas):  # the comma behind it goes too, and what is written between them
        return text[:before] + text[node.commas[place] + 1 :]
    if not node.commas:
        inside = text[node.start + 1 : before] + text[gone.end : node.end - 1]
        return text[: node.start + 1] + (inside if inside.strip() else "") + text[node.end - 1 :]
    comma = node.commas[-1]
    return text[:comma] + text[comma + 1 : before] + text[gone.end :]


def _unit(text: str) -> str:
    """Return what one level is indented by: the smallest indentation, which is that of the first level."""
    found = [match[1] for match in _INDENT.finditer(text)]
    return min(found, key=len) if found else "  "


def _depth(text: str, node: Node) -> int:
    """Return how deep a container stands: how many of those around it are open there."""
    root = read(text, comments=True)
    depth, inner = 0, root
    while (inner.start, inner.end) != (node.start, node.end):
        inner = next(child for _, _, child in inner.members if child.start <= node.start and node.end <= child.end)
        depth += 1
    return depth
