"""A host's configuration file with this program's entries in it, or without them; the rest of it stays as it is."""

from __future__ import annotations

import difflib
import os
import tempfile
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from preflight.errors import InvalidInput
from preflight.hosts.jsonc import Node, NotJson, insert, read, remove
from preflight.hosts.layout import Entry, Host, entries, is_ours

_MOST_BYTES = 4_000_000
_EMPTY = "{\n}\n"


class Change(NamedTuple):
    """What is to become of one file. `before` is None where there is none, `after` where none is to stay."""

    path: Path
    before: str | None
    after: str | None

    @property
    def needed(self) -> bool:
        """Whether anything is to be written."""
        return self.before != self.after

    def diff(self) -> str:
        """Return the change as a unified diff."""
        old, new = (self.before or "").splitlines(), (self.after or "").splitlines()
        return "\n".join(difflib.unified_diff(old, new, str(self.path), str(self.path), lineterm=""))


def path_of(host: Host, project: Path | None) -> Path:
    """Return the file of a host: of a project's folder, or the user's."""
    return host.user_file() if project is None else project / host.project_file


def installing(host: Host, project: Path | None = None, *, trust_unlabelled: bool = False) -> Change:
    """Return the change that puts the entries in place; nothing changes where they stand already.

    Raises InvalidInput for a file that cannot be read or is not what the host expects.
    """
    path = path_of(host, project)
    before = _text(path)
    wanted = entries(host, shared=project is not None, trust_unlabelled=trust_unlabelled)
    after = _new(host) if before is None or not before.strip() else before
    after = _without(path, host, after, keep=wanted)
    for entry in wanted:
        after = _with(path, host, after, entry)
    return Change(path, before, after)


def uninstalling(host: Host, project: Path | None = None) -> Change:
    """Return the change that takes the entries out, and what only they needed.

    A file in which nothing else stands is removed. Raises InvalidInput like `installing`.
    """
    path = path_of(host, project)
    before = _text(path)
    if before is None or not before.strip():
        return Change(path, before, before)
    after = _without(path, host, before, keep=[])
    alone = after != before and _parsed(path, host, after).value in ({}, dict(host.new))
    return Change(path, before, None if alone and not path.is_symlink() else after)


def installed(host: Host, project: Path | None = None) -> list[str]:
    """Return the events for which an entry of this program stands in the host's file; raises InvalidInput."""
    path = path_of(host, project)
    text = _text(path)
    if text is None or not text.strip():
        return []
    hooks = _hooks(path, _parsed(path, host, text))
    if hooks is None:
        return []
    found = {event: _items(path, event, node) for event, _, node in hooks.members}
    return [event for event, items in found.items() if any(_ours(item.value) for _, _, item in items)]


def switched_off(host: Host, project: Path | None = None) -> str | None:
    """Return why a host does not run hooks at all, where its configuration says so."""
    if host.name != "codex":
        return None
    path = path_of(host, project).with_name("config.toml")
    with suppress(OSError, ValueError):  # a broken file is Codex's to complain about
        features = tomllib.loads(path.read_text(encoding="utf-8")).get("features")
        if isinstance(features, dict) and features.get("hooks", features.get("codex_hooks")) is False:
            return f"`{path}` switches hooks off (`[features] hooks = false`)"
    return None


def write(change: Change) -> None:
    """Carry a change out: whole or not at all, and not over an edit that was made meanwhile.

    Raises InvalidInput when the file cannot be written or is not what it was.
    """
    path = change.path.resolve()  # a link stays a link
    try:
        if _text(path) != change.before:
            raise InvalidInput(str(path), "it changed meanwhile; nothing was written", "run the command again")
        if change.after is None:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, change.after.encode())
    except OSError as fault:
        raise InvalidInput(str(path), f"cannot be written: {fault.strerror}", "see who may write there") from fault


def _replace(path: Path, body: bytes) -> None:
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _text(path: Path) -> str | None:
    try:
        body = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as fault:
        raise InvalidInput(str(path), f"cannot be read: {fault.strerror}", "see who may read it") from fault
    if len(body) > _MOST_BYTES:
        raise InvalidInput(str(path), f"has more than {_MOST_BYTES} bytes", "nothing was written")
    try:
        return body.decode()
    except UnicodeDecodeError as fault:
        raise InvalidInput(str(path), f"is no UTF-8 text at byte {fault.start}", "mend the file first") from None


def _new(host: Host) -> str:
    text = _EMPTY
    for key, value in host.new:
        text = insert(text, read(text), value, key)
    return text


def _parsed(path: Path, host: Host, text: str) -> Node:
    try:
        node = read(text, comments=host.comments)
    except NotJson as fault:
        raise InvalidInput(str(path), f"is no JSON that {host.title} reads: {fault}", "mend the file first") from None
    if not isinstance(node.value, dict):
        raise InvalidInput(str(path), "holds no JSON object", "mend the file first")
    return node


def _hooks(path: Path, root: Node) -> Node | None:
    hooks = root.member("hooks")
    if hooks is not None and not isinstance(hooks.value, dict):
        raise InvalidInput(str(path), "`hooks` is no object", "mend the file first")
    return hooks


def _items(path: Path, event: str, node: Node) -> tuple[tuple[str, int, Node], ...]:
    if not isinstance(node.value, list):
        raise InvalidInput(str(path), f"`hooks.{event}` is no list", "mend the file first")
    return node.members


def _ours(item: Any) -> bool:
    """Whether an entry starts this program, alone or in a group with others."""
    if not isinstance(item, dict):
        return False
    inner = item.get("hooks")
    return is_ours(item.get("command")) or (isinstance(inner, list) and any(_ours(each) for each in inner))


def _with(path: Path, host: Host, text: str, entry: Entry) -> str:
    root = _parsed(path, host, text)
    hooks = _hooks(path, root)
    if hooks is None:
        return insert(text, root, {entry.event: [entry.value]}, "hooks")
    node = hooks.member(entry.event)
    if node is None:
        return insert(text, hooks, [entry.value], entry.event)
    items = _items(path, entry.event, node)
    return text if any(item.value == entry.value for _, _, item in items) else insert(text, node, entry.value)


def _without(path: Path, host: Host, text: str, *, keep: list[Entry]) -> str:
    """Take out every entry of this program, but the first of each that is to be kept."""
    while (smaller := _one_less(path, host, text, keep)) is not None:
        text = smaller
    return text


def _one_less(path: Path, host: Host, text: str, keep: list[Entry]) -> str | None:
    root = _parsed(path, host, text)
    hooks = _hooks(path, root)
    if hooks is None:
        return None
    for event, (_, _, node) in zip(hooks.value, hooks.members, strict=True):
        kept = [entry.value for entry in keep if entry.event == event]
        for place, (_, _, item) in enumerate(_items(path, event, node)):
            if item.value in kept:
                kept.remove(item.value)
            elif _ours(item.value):
                return _taken_out(text, root, event, place)
    return None


def _taken_out(text: str, root: Node, event: str, place: int) -> str:
    """Remove one entry, and around it what would be left empty."""
    hooks = root.member("hooks")
    assert hooks is not None  # noqa: S101  the entry stands in it
    node = hooks.member(event)
    assert node is not None  # noqa: S101
    item = node.members[place][2]
    inner = item.member("hooks")
    if inner is not None and not all(_ours(each) for each in inner.value):
        mine = next(at for at, each in enumerate(inner.value) if _ours(each))
        return remove(text, inner, mine)
    if len(node.members) > 1:
        return remove(text, node, place)
    if len(hooks.members) > 1:
        return remove(text, hooks, list(hooks.value).index(event))
    return remove(text, root, list(root.value).index("hooks"))
