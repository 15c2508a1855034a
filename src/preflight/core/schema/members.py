"""The members of one object: which are in force now, which are still to be looked up, what came of them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import UNSET

from preflight.core.schema.branches import Judged, judge
from preflight.core.schema.found import Found
from preflight.core.schema.keywords import Raw
from preflight.core.schema.plan import Plan
from preflight.core.schema.shape import NOT_CHOSEN, NOT_CONFIRMED, OBJECTS, UNDECLARED, Path, Policy, Shape
from preflight.core.schema.view import Condition, Group, View
from preflight.model.pointer import name_of
from preflight.model.slot import BranchProblem, DroppedClaim

Fresh = list[tuple[str, tuple[Raw, ...], bool]]


class Members:
    """One object while it is walked.

    `found` is filled by the walker; `fresh` says what to look up next.
    """

    def __init__(self, plan: Plan, shape: Shape, view: View, path: Path, claim: object) -> None:
        """Start with nothing looked up."""
        self.plan = plan
        self.shape = shape
        self.view = view
        self.path = path
        self.claim = claim
        self.claims: Mapping[str, object] = claim if isinstance(claim, OBJECTS) else {}
        self.found: dict[str, Found] = {}
        self._hints: dict[str, bool] = {}
        self._effort = 0
        self._views = [view]
        self._members = view.properties
        self._judged: list[tuple[Group, Judged]] = []
        self._required: dict[str, None] = dict.fromkeys(view.required)

    def fresh(self) -> Fresh:
        """The names to look up next, each with its schemas and whether it is required; none at the end."""
        for _ in range(len(self.view.declared) + 2):  # what is in force settles long before
            before = self._views
            self._collect()
            found = self._new()
            if found or self._views == before:
                return found
        return []

    def _new(self) -> Fresh:
        waiting = {name for _, judged in self._judged for name in judged.waiting}
        probed = {name: raws for _, judged in self._judged for name, raws in judged.probes.items()}
        names: dict[str, bool] = {name: True for name in self._required if name not in waiting}
        for name in self._members:
            if name not in names and name not in waiting and name not in probed and self.hinted(name):
                names[name] = False
        names.update((name, True) for name in probed if name not in names)
        fresh = [(name, self._raws(name, probed.get(name, ())), needed) for name, needed in names.items()]
        return [item for item in fresh if item[0] not in self.found and item[1]]

    def take_effort(self) -> int:
        """How many views, groups and conditions were gone through since this was last asked."""
        effort, self._effort = self._effort, 0
        return effort

    def hinted(self, name: str) -> bool:
        """Whether the member is claimed, or held by the user's answers or settings."""
        if name not in self._hints:
            self._hints[name] = name in self.claims or self.shape.offered((*self.path, name)) is not UNSET
        return self._hints[name]

    def wanted(self, name: str) -> bool:
        """Whether the member is required by what is in force, or hinted."""
        return name in self._required or self.hinted(name)

    def name(self, member: str) -> str:
        """The slot's name of a member."""
        return name_of((*self.path, member))

    def declares(self, name: str) -> bool:
        """Whether the member has a schema in what was in force so far."""
        return name in self._members

    def fits(self, raws: tuple[Raw, ...], value: object) -> bool:
        """Whether a value is valid for some of this tool's schemas."""
        return self.plan.checks.fits(raws, value)

    def union(self, branches: tuple[tuple[Raw, ...], ...]) -> tuple[Raw, ...]:
        """What fits any of several branches' schemas of one member."""
        return self.plan.nodes.union(branches)

    def result(self) -> Found:
        """Assemble the object, required members first, in the order of `required`."""
        result = Found(name_of(self.path) if self.path else "", self.claim)
        value: dict[str, object] = {}
        loose: dict[str, object] | None = {}
        for name in self._required:
            member = self.found.get(name)
            if member is None:
                result.blocked = True
                loose = None
                continue
            result.absorb(member)
            if member.value is not UNSET:
                value[name] = member.value
            if member.loose is not UNSET and loose is not None:
                loose[name] = member.loose
            elif member.blocked:
                loose = None
        self._add_optional(result, value, loose)
        self._add_problems(result)
        result.dropped += self._left_out()
        result.value = UNSET if result.blocked and self.path else value
        result.loose = UNSET if loose is None or result.branches else loose
        return result

    def _collect(self) -> None:
        """Work out anew, from what is known now, which views are in force (R-35; `if` and dependents)."""
        payload = self._payload()
        views = [self.view]
        self._judged = []
        for view in views:  # grows while it runs
            for group in view.groups:
                judged = judge(group, self)
                self._judged.append((group, judged))
                views.extend(judged.chosen)
            added = (self._added_by(condition, payload) for condition in view.conditions)
            views.extend(more for more in added if more is not None)
            self._effort += 1 + len(view.groups) + len(view.conditions)
        if views != self._views:
            self._views = views
            self._members = _merged(views)
        self._required = {name: None for view in views for name in view.required}
        for group, judged in self._judged:
            self._required.update(dict.fromkeys(group.shared if not judged.chosen else ()))

    def _added_by(self, condition: Condition, payload: dict[str, object]) -> View | None:
        if condition.trigger in payload:
            return condition.then
        if condition.test is None or any(self._open(name) for name in condition.names):
            return None
        return condition.then if self.fits((condition.test,), payload) else condition.otherwise

    def _open(self, name: str) -> bool:
        """Whether a member is not looked up yet, or blocks the call anyway."""
        member = self.found.get(name)
        if member is None:
            return self.wanted(name)
        return member.blocked and (name in self._required or self._policy(member) == "ask")

    def _policy(self, member: Found) -> Policy:
        """R-36: what happens to an unsettled optional member. Without a claim there is nothing to leave out."""
        if member.claim is UNSET:
            return "ask"
        policy = self.shape.optional(member.name)
        if policy == "drop" or (policy == "allow" and member.loose is not UNSET):
            return policy
        return "ask"  # anything else, a broken answer included, is the careful side

    def _is_spare(self, name: str, member: Found) -> bool:
        """Whether a member was looked up only to tell alternatives apart, and was not needed: nobody wants it."""
        if not member.blocked or name in self.claims or (self.hinted(name) and not self._declined(name)):
            return False
        open_groups = [group for group, judged in self._judged if judged.problem or judged.probes]
        undecided = any(name in branch.declared for group in open_groups for branch in group.branches)
        return not undecided and not any(state.lookup_failed for state in member.fields)

    def _declined(self, name: str) -> bool:
        """Whether the user said that there is none (R-46)."""
        return self.shape.offered((*self.path, name)) is None

    def _payload(self) -> dict[str, object]:
        """The members that would be sent, as far as they are known now."""
        payload: dict[str, object] = {}
        for name, member in self.found.items():
            if name not in self._members:
                continue
            if not member.blocked:
                payload[name] = member.value
            elif name not in self._required and self._policy(member) == "allow":
                payload[name] = member.loose
        return {name: value for name, value in payload.items() if value is not UNSET}

    def _raws(self, name: str, more: tuple[Raw, ...]) -> tuple[Raw, ...]:
        """Every schema in force for a member; of a group not chosen from, what any branch admits."""
        raws = list(self._members.get(name, ()))
        if not more:
            for group, judged in self._judged:
                having = tuple(b.properties[name] for b in group.branches if name in b.properties)
                if not judged.chosen and len(having) == len(group.branches):
                    raws.extend(self.union(having))
        return (*raws, *more)

    def _add_optional(self, result: Found, value: dict[str, object], loose: dict[str, object] | None) -> None:
        for name, member in self.found.items():
            if name in self._required or name not in self._members or self._is_spare(name, member):
                continue
            policy = self._policy(member) if member.blocked else "settled"
            if policy == "drop" or (member.blocked and self._declined(name)):
                result.dropped.append(DroppedClaim(member.name, member.claim, NOT_CONFIRMED))
                continue
            result.extra += [s for s in (*member.fields, *member.extra) if s.settled or policy != "allow"]
            result.dropped += member.dropped
            result.allowed += member.allowed
            result.branches += member.branches
            sent = member.value
            if policy == "allow":
                result.allowed += member.loans
                sent = member.loose
            elif policy == "settled":
                result.known |= member.known
            else:
                continue
            if sent is not UNSET:
                value[name] = sent
                if loose is not None:
                    loose[name] = sent

    def _add_problems(self, result: Found) -> None:
        for group, judged in self._judged:
            problem = judged.problem or ("branch_unresolved" if judged.probes else None)
            if problem is None:
                continue
            options = tuple(
                tuple(self.name(name) for name in (branch.required or tuple(branch.properties)))
                for branch in group.branches
            )
            result.branches.append(BranchProblem(result.name, problem, options))
            result.blocked = True
            declared = frozenset().union(*(branch.declared for branch in group.branches))
            for name, member in self.found.items():
                if name in declared and name not in self._members and name not in self._required:
                    result.extra += [state for state in (*member.fields, *member.extra) if state.settled]

    def _left_out(self) -> list[DroppedClaim]:
        """Claims for members that the tool does not declare, or that do not apply as things stand."""
        open_groups = any(judged.problem for _, judged in self._judged)
        left: list[DroppedClaim] = []
        for name, claim in self.claims.items():
            if name not in self.view.declared:
                left.append(DroppedClaim(self.name(name), claim, UNDECLARED))
            elif name not in self._members and not open_groups and name not in self._required:
                left.append(DroppedClaim(self.name(name), claim, NOT_CHOSEN))
        return left


def _merged(views: list[View]) -> dict[str, tuple[Raw, ...]]:
    """Each member with every schema that any of `views` has for it."""
    members: dict[str, tuple[Raw, ...]] = {}
    for view in views:
        for name, raws in view.properties.items():
            members[name] = (*members.get(name, ()), *raws)
    return members


__all__ = ["Members"]
