"""Which alternative of an object holds: chosen by what came back known, never by a claim (R-35)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

import msgspec
from msgspec import UNSET

from preflight.core.schema.found import Found
from preflight.core.schema.keywords import Raw
from preflight.core.schema.view import Group, View


class Object(Protocol):
    """What the judgement may ask about the object whose alternatives these are."""

    @property
    def found(self) -> Mapping[str, Found]:
        """The members looked up so far."""
        ...

    def wanted(self, name: str) -> bool:
        """Whether a member is required outside of the alternatives, claimed or offered."""
        ...

    def declares(self, name: str) -> bool:
        """Whether a member has a schema outside of the alternatives."""
        ...

    def fits(self, raws: tuple[Raw, ...], value: object) -> bool:
        """Whether a value is valid for these schemas."""
        ...

    def union(self, branches: tuple[tuple[Raw, ...], ...]) -> tuple[Raw, ...]:
        """What fits any of several schemas."""
        ...


class Judged(msgspec.Struct, frozen=True):
    """What came of a group.

    `chosen` branches; else `probes`, the members to look up before one can be chosen, with their schemas,
    while `waiting` members are held back; else the `problem`, if it is one.
    """

    chosen: tuple[View, ...] = ()
    probes: dict[str, tuple[Raw, ...]] = {}
    waiting: frozenset[str] = frozenset()
    problem: Literal["branch_unresolved", "branch_conflict"] | None = None


def judge(group: Group, members: Object) -> Judged:
    """Judge one group by what is known now.

    First by the members that only some branches have; the ones all branches have, with schemas that
    differ (a discriminator), wait, so that they are looked up with the chosen branch's schema. Only if
    that chooses none are they looked up too, with what any branch admits.
    """
    probes = _own_probes(group, members)
    if probes:
        return Judged(probes=probes, waiting=group.differing - members.found.keys())
    touched = [branch for branch, own in zip(group.branches, group.own, strict=True) if _touched(branch, own, members)]
    chosen = _choose(group, touched, members)
    if chosen:
        return Judged(chosen=chosen)
    probes = _differing_probes(group, members)
    if probes:
        return Judged(probes=probes)
    touched = [branch for branch in _consistent(group, members) if branch in touched or _told(group, branch, members)]
    chosen = _choose(group, touched, members)
    if chosen:
        return Judged(chosen=chosen)
    if group.trivial:
        return Judged()
    several = len(touched) > 1 and group.kind == "oneOf"
    return Judged(problem="branch_conflict" if several else "branch_unresolved")


def _own_probes(group: Group, members: Object) -> dict[str, tuple[Raw, ...]]:
    probes: dict[str, tuple[Raw, ...]] = {}
    for branch, own in zip(group.branches, group.own, strict=True):
        for name in (*branch.required, *branch.properties):
            if name not in own or name in members.found:
                continue
            raws = _any_branch(group, name, members)
            if (raws or members.declares(name)) and (name in branch.required or members.wanted(name)):
                probes[name] = raws
    return probes


def _differing_probes(group: Group, members: Object) -> dict[str, tuple[Raw, ...]]:
    return {
        name: _any_branch(group, name, members)
        for name in sorted(group.differing)
        if name not in members.found and (name in group.shared or members.wanted(name))
    }


def _any_branch(group: Group, name: str, members: Object) -> tuple[Raw, ...]:
    having = tuple(branch.properties[name] for branch in group.branches if name in branch.properties)
    return members.union(having) if having else ()


def _choose(group: Group, touched: list[View], members: Object) -> tuple[View, ...]:
    if len(touched) == 1:
        return (touched[0],)
    if group.kind == "oneOf":
        return ()
    return tuple(branch for branch in touched if _satisfied(branch, members))


def _satisfied(branch: View, members: Object) -> bool:
    return all(name in members.found and not members.found[name].blocked for name in branch.required)


def _touched(branch: View, own: frozenset[str], members: Object) -> bool:
    return _agrees(branch, members) and any(name in members.found and members.found[name].known for name in own)


def _consistent(group: Group, members: Object) -> list[View]:
    return [branch for branch in group.branches if _agrees(branch, members)]


def _agrees(branch: View, members: Object) -> bool:
    """No known value contradicts what the branch says of it."""
    return all(
        members.fits(raws, members.found[name].value)
        for name, raws in branch.properties.items()
        if name in members.found and members.found[name].known and members.found[name].value is not UNSET
    )


def _told(group: Group, branch: View, members: Object) -> bool:
    """A known value of a member that all branches have tells this branch from another."""
    for name in group.differing:
        member = members.found.get(name)
        if member is None or not member.known or member.value is UNSET:
            continue
        others = [other.properties.get(name, ()) for other in group.branches if other is not branch]
        if any(not members.fits(raws, member.value) for raws in others if raws):
            return True
    return False


__all__ = ["Judged", "judge"]
