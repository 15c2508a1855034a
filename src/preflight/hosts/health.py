"""What is in place: which hosts have the hooks, and whether the user's words arrive."""

from __future__ import annotations

import time
from pathlib import Path

from preflight.errors import InvalidInput
from preflight.hosts.events import EVENTS
from preflight.hosts.files import installed, path_of, switched_off
from preflight.hosts.layout import HOSTS, Host
from preflight.hosts.store import Said, Store, StoreFault


def hooks_of(host: Host, project: Path | None = None) -> str:
    """Say whether the hooks stand in a host's file, and what keeps them from working."""
    try:
        events = installed(host, project)
    except InvalidInput as fault:
        return f"unknown: {fault}"
    if not events:
        return "no"
    if off := switched_off(host, project):
        return f"installed, and not run: {off}"
    missing = [event for event in EVENTS[host.name] if event not in events and event != "preToolUse"]
    return f"installed, but for {', '.join(missing)}" if missing else "installed"


def hosts_with_hooks(project: Path) -> list[str]:
    """Return a line for each file in which something of the hooks stands, the user's and the project's."""
    found = []
    for host in HOSTS.values():
        for where in (None, project):
            state = hooks_of(host, where)
            if state != "no":
                found.append(f"{host.name}: {state} ({path_of(host, where)})")
    return found


def words_arrive(path: str | None = None, *, now: float | None = None) -> str:
    """Say whether what users say in a host reaches the gate and counts; without, source `instruction` is dead there."""
    dead = (
        "calls that come from hosts have no words to stand on: the source `instruction` is dead, "
        "and every value is asked for"
    )
    try:
        store = Store(path, create=False)
        try:
            newest = store.newest()
            looked_up = newest is not None and store.called_since(newest)
        finally:
            store.close()
    except FileNotFoundError:
        return f"none arrived yet; {dead} (`preflight host install`)"
    except (StoreFault, OSError) as fault:
        return f"cannot be read: {fault}; {dead}"
    if newest is None:
        return f"none of the last 7 days; {dead}"
    return _told(newest, time.time() if now is None else now, dead, looked_up=looked_up)


def _told(said: Said, now: float, dead: str, *, looked_up: bool) -> str:
    age = f"the last {ago(now - said.at)} ago, from {said.session.host}"
    if said.trust == "user":
        return f"arrive: {age}"
    if said.origin.endswith(":unlabelled"):
        if not looked_up:
            return f"arrive; whether a person typed the last is looked up at the next call of a server's tool: {age}"
        return f"arrive without saying who spoke, so they do not count: {age}; {dead} (docs/howto/claude-code.md)"
    return f"arrive, and the last is not a person's: {age}"


def ago(seconds: float) -> str:
    """Return an age in its largest unit of which there are two or more."""
    for size, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds // size:.0f} {unit}"
    return f"{max(seconds, 0):.0f} seconds"
