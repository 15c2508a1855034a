"""Every interleaving of three workers over one decision, with a crash at every step: a model check.

The world is one decision's chain of records, whether its time has run out, whether its tool has changed,
and three workers. A worker looks (at the chain, the clock and the tool), claims, calls, and writes the
outcome; it may die between any two of these and start anew. Recovery marks the start of a dead worker
`in_doubt`, and a person settles it. Time runs out and the tool changes at any moment. A start bears the
moment of its worker's look, so "no start after expiry" speaks of that moment. That recovery knows dead
workers from slow ones is an assumption here, not a result.

Which record may follow which is asked of `core/lifecycle.py`. Each rule is there to be needed: a design
without it, or with a slip in the table, is shown to break the promise that the rule keeps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

import msgspec
import pytest

from preflight.core import lifecycle
from preflight.model.record import RecordState

WORKERS = 3
CRASHES = 3  # in all; each brings a worker back to its beginning

MayFollow = Callable[[RecordState | None, RecordState], bool]


class Design(msgspec.Struct, frozen=True):
    """The rules of execution; switching one off, or another table, is a seeded bug."""

    claim_is_atomic: bool = True
    doubt_is_final: bool = True
    checks_expiry: bool = True
    checks_pin: bool = True
    may_follow: MayFollow = lifecycle.may_follow


class Worker(msgspec.Struct, frozen=True):
    """Where a worker is, and what it saw when it looked."""

    at: str = "idle"
    saw_expired: bool = False
    saw_changed: bool = False


class World(msgspec.Struct, frozen=True):
    """One state of the model; `owner` is the living worker that made the start."""

    chain: tuple[RecordState, ...] = ("execute",)
    expired: bool = False
    changed: bool = False
    workers: tuple[Worker, ...] = (Worker(),) * WORKERS
    owner: int | None = None
    calls: int = 0
    crashes: int = 0
    broken: str = ""


Step = tuple[str, World]


def replace(world: World, number: int, worker: Worker, **changes: object) -> World:
    workers = (*world.workers[:number], worker, *world.workers[number + 1 :])
    return msgspec.structs.replace(world, workers=workers, **changes)


def look(design: Design, world: World, number: int) -> World:
    """Read the chain, the clock and the tool, and go on to the claim or give up."""
    worker = Worker("claim", world.expired, world.changed)
    last = world.chain[-1]
    if (design.checks_expiry and world.expired) or (design.checks_pin and world.changed):
        return replace(world, number, Worker("done"))
    if not design.doubt_is_final and world.owner is None and last in ("executing", "in_doubt"):
        return replace(world, number, Worker("call"))  # the bug: what is not known to have happened is tried again
    if not design.claim_is_atomic and not design.may_follow(last, "executing"):
        return replace(world, number, Worker("done"))  # the bug: the chain is looked at here, and written later
    return replace(world, number, worker)


def claim(design: Design, world: World, number: int) -> World:
    if design.claim_is_atomic and not design.may_follow(world.chain[-1], "executing"):
        return replace(world, number, Worker("done"))
    worker = world.workers[number]
    broken = ""
    if "executing" in world.chain:
        broken = "started twice"
    elif worker.saw_expired:
        broken = "started after expiry"
    elif worker.saw_changed:
        broken = "started with a changed tool"
    chain = (*world.chain, "executing")
    return replace(world, number, Worker("call"), chain=chain, owner=number, broken=broken)


def call(world: World, number: int) -> World:
    broken = "called twice" if world.calls else "called after doubt" if "in_doubt" in world.chain else ""
    return replace(world, number, Worker("outcome"), calls=world.calls + 1, broken=broken)


def outcomes(design: Design, world: World, number: int) -> Iterator[Step]:
    for state in lifecycle.FOLLOWS["executing"]:
        chain = (*world.chain, state) if design.may_follow(world.chain[-1], state) else world.chain
        yield f"worker {number} writes {state}", replace(world, number, Worker("done"), chain=chain)


def worker_steps(design: Design, world: World, number: int) -> Iterator[Step]:
    at = world.workers[number].at
    if at == "idle":
        yield f"worker {number} looks", look(design, world, number)
    if at == "claim":
        yield f"worker {number} claims", claim(design, world, number)
    if at == "call":
        yield f"worker {number} calls", call(world, number)
    if at == "outcome":
        yield from outcomes(design, world, number)
    if world.crashes < CRASHES and at != "idle":
        owner = None if world.owner == number else world.owner
        yield f"worker {number} dies", replace(world, number, Worker(), owner=owner, crashes=world.crashes + 1)


def steps(design: Design, world: World) -> Iterator[Step]:
    """Every next state, with what leads to it."""
    for number in range(WORKERS):
        yield from worker_steps(design, world, number)
    if not world.expired:
        yield "time runs out", msgspec.structs.replace(world, expired=True)
    if not world.changed:
        yield "the tool changes", msgspec.structs.replace(world, changed=True)
    last = world.chain[-1]
    if last == "executing" and world.owner is None and design.may_follow(last, "in_doubt"):
        yield "recovery doubts", msgspec.structs.replace(world, chain=(*world.chain, "in_doubt"))
    if last == "in_doubt" and design.may_follow(last, "settled"):
        yield "a person settles", msgspec.structs.replace(world, chain=(*world.chain, "settled"))


def explore(design: Design) -> tuple[dict[str, list[str]], set[World]]:
    """Return the shortest story to each broken promise, and every state that was reached."""
    first = World()
    came_from: dict[World, tuple[World, str] | None] = {first: None}
    broken: dict[str, list[str]] = {}
    waiting = deque([first])
    while waiting:
        world = waiting.popleft()
        for said, following in steps(design, world):
            if following in came_from:
                continue
            came_from[following] = (world, said)
            if following.broken:
                broken.setdefault(following.broken, story(came_from, following))
            else:
                waiting.append(following)
    return broken, set(came_from)


def story(came_from: dict[World, tuple[World, str] | None], world: World) -> list[str]:
    told: list[str] = []
    while (before := came_from[world]) is not None:
        world, said = before
        told.insert(0, said)
    return told


def test_the_design_keeps_every_promise() -> None:
    broken, worlds = explore(Design())
    assert broken == {}
    assert all(world.calls <= 1 and world.chain.count("executing") <= 1 for world in worlds)
    assert len(worlds) > 5_000, "every interleaving"
    chains = {world.chain for world in worlds}
    for outcome in ("executed", "failed", "in_doubt"):
        assert ("execute", "executing", outcome) in chains, "every outcome is reached"
    assert any(world.calls == 0 and world.chain[-1] == "settled" for world in worlds), "died before its call"


def test_nothing_waits_for_ever() -> None:
    """Whatever happened, recovery and a person can bring every started decision to its end."""
    _, worlds = explore(Design())
    for world in worlds:
        if lifecycle.unfinished(world.chain[-1]):
            said = {word.split()[0] for word, _ in steps(Design(), world)}
            assert world.owner is not None or said & {"recovery", "a"}


def a_way_back_from(state: RecordState) -> MayFollow:
    return lambda before, after: lifecycle.may_follow(before, after) or (before, after) == (state, "executing")


@pytest.mark.parametrize(
    ("design", "promise"),
    [
        (Design(claim_is_atomic=False), "started twice"),
        (Design(doubt_is_final=False), "called twice"),
        (Design(doubt_is_final=False), "called after doubt"),
        (Design(checks_expiry=False), "started after expiry"),
        (Design(checks_pin=False), "started with a changed tool"),
        (Design(may_follow=a_way_back_from("in_doubt")), "started twice"),
        (Design(may_follow=a_way_back_from("failed")), "started twice"),
        (Design(may_follow=a_way_back_from("settled")), "started twice"),
        (Design(may_follow=a_way_back_from("executing")), "started twice"),
    ],
)
def test_a_design_without_a_rule_breaks_its_promise(design: Design, promise: str) -> None:
    broken, _ = explore(design)
    assert promise in broken, "the seeded bug was not found"
    assert broken[promise][-1].split()[-1] in ("claims", "calls")
