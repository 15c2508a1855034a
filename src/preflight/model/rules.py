"""What the adopter's rules say about a tool and a user, as the core and the hooks read it (R-67).

Rules are data: `preflight.rules` makes these values of files. Each value knows where it was declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

import msgspec

from preflight.model.channel import AskBy, Channel
from preflight.model.slot import SOURCES, Source

Effect = Literal["read", "reversible", "irreversible"]
EFFECTS: tuple[Effect, ...] = get_args(Effect)
"""From the least harm to the most."""
Unconfirmed = Literal["drop", "ask", "allow"]
Role = Literal["target", "object", "quantity", "time", "option", "content"]
DeclaredBy = Literal["organisation", "user", "provider"]
Via = Literal["mcp", "http", "sql", "python", "given"]
ValueType = Literal["string", "integer", "number", "boolean", "array", "object"]
ConditionCheck = Literal["expression", "measure", "confirmation"]

NOTHING: Mapping[str, object] = MappingProxyType({})
DECISION = "preflight/decision"
"""The slot under which a settling measure gets the id of the decision: what the tool was given to tell calls apart."""


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where a rule stands: a file and a line, counted from 1."""

    file: str
    line: int


class MeasureRule(msgspec.Struct, frozen=True, gc=False):
    """How a value is measured (R-15): one read, its arguments, and where the value stands in the result.

    `via` says which of the others apply: `mcp` (`server`, `tool`), `http` (`url`, a GET), `sql`
    (`database`, `query`), `python` (`entry`, as `module:function`), `given` (the caller hands it over in
    `measured_data`). An argument `{"slot": NAME}` takes the
    confirmed value of a slot, anything else is sent as it stands. `pointer` is a JSON Pointer into the
    result. Seconds: `max_age` after which a measurement counts no more, `timeout` of one read.
    """

    name: str
    via: Via
    server: str = ""
    tool: str = ""
    url: str = ""
    database: str = ""
    query: str = ""
    entry: str = ""
    arguments: Mapping[str, object] = NOTHING
    pointer: str = ""
    max_age_seconds: float | None = None
    timeout_seconds: float = 10.0
    value_type: ValueType | None = None
    place: Place | None = None


class ReferenceRule(msgspec.Struct, frozen=True, gc=False):
    """How the user's words select a measured value: "the landlord" is a row of the contacts (R-58).

    `measure` names the measure that returns rows at `rows` (a JSON Pointer to a list). A row is selected
    when the text at `match` (a pointer into the row) stands in the user's words; the slot's value stands
    at `value`. With `argument`, the measure is called with the user's words in that argument.
    """

    measure: str
    rows: str = ""
    match: str = "/name"
    value: str = ""
    argument: str | None = None
    place: Place | None = None


class MembersRule(msgspec.Struct, frozen=True, gc=False):
    """A measured closed set, any member of which the adopter accepts for a slot, whoever picked it.

    The claim is looked up in the set and comes from there (R-3, R-7): `measure` returns rows at `rows` (a list,
    or an object whose values count; a step `*` takes every element on the way), and the member stands at `value`
    in a row. For a slot that is a list every element must be a member.
    """

    measure: str
    rows: str = ""
    value: str = ""
    place: Place | None = None


class FieldRules(msgspec.Struct, frozen=True, gc=False):
    """Rules for one slot.

    `sources` narrows where it may be looked up (R-45). `role` says what the field is (R-57). `unconfirmed`
    says what happens to an optional claim that no source confirms (R-36); None follows the tool's effect.
    `derivations` names the reversible rules that may derive it (None: those of its role). `hints` are
    grounding hints as in `x-*` keywords (synonyms, labels, unit, locale, may_share). `carry_seconds` lets the
    value of a prior run be inherited for so long (R-42). `pending_at_trigger` lets it stay open until a
    deferred run fires (R-29). `confirm` has the user approve the shown value. `secret` masks it wherever it
    leaves. `measure`, `reference` and `members` name how it is measured.
    """

    sources: tuple[Source, ...] = SOURCES
    role: Role | None = None
    unconfirmed: Unconfirmed | None = None
    derivations: tuple[str, ...] | None = None
    hints: Mapping[str, object] = NOTHING
    carry_seconds: float | None = None
    pending_at_trigger: bool = False
    confirm: bool = False
    secret: bool = False
    measure: str | None = None
    reference: ReferenceRule | None = None
    members: tuple[MembersRule, ...] = ()
    place: Place | None = None

    @property
    def measured(self) -> bool:
        """Whether rules say how the slot is measured."""
        return self.measure is not None or self.reference is not None or bool(self.members)

    def measures_of(self) -> frozenset[str]:
        """Return the names of the measures that the slot is measured by."""
        named = {self.measure, self.reference.measure if self.reference else None, *(m.measure for m in self.members)}
        return frozenset(name for name in named if name is not None)


class ConditionRule(msgspec.Struct, frozen=True, gc=False):
    """Something that must hold when the call starts (R-60).

    `check` is one of: `expression` (CEL over `args`, `measured`, `preset`, `user`, `record`, `now`),
    `measure` (a measure whose value must be exactly true), `confirmation` (the user says so in this run).
    `message` is what people read when it does not hold. `max_age_seconds` is how old the outcome may be when
    the call starts; None: as old as the decision.
    """

    id: str
    declared_by: DeclaredBy
    check: ConditionCheck
    text: str
    description: str = ""
    message: str = ""
    max_age_seconds: float | None = None
    place: Place | None = None


class LimitRule(msgspec.Struct, frozen=True, gc=False):
    """A limit over the record log (R-66): what was executed in the window, this call included, at most `at_most`.

    `kind` `sum` adds the values of `field`; `count` counts calls; the window is in seconds. `per` says whose
    records count together.
    """

    id: str
    kind: Literal["sum", "count"]
    at_most: int | float
    window_seconds: float
    field: str | None = None
    per: Literal["user", "tenant", "key"] = "user"
    declared_by: DeclaredBy = "organisation"
    message: str = ""
    place: Place | None = None


class TriggerRule(msgspec.Struct, frozen=True, gc=False):
    """What a deferred run may wait for: an event, or a condition that is looked at again and again (R-81).

    `phrases` are the words by which users mean it. Exactly one of `event`, the name under which it is pushed, and
    `condition` is there; `match` are values that the event's content must have. Seconds: `deadline` after which
    nobody waits any more, `poll` between two looks at the condition. `measures` are those that it reads.
    """

    name: str
    phrases: tuple[str, ...] = ()
    event: str | None = None
    match: Mapping[str, object] = NOTHING
    condition: ConditionRule | None = None
    measures: Mapping[str, MeasureRule] = MappingProxyType({})
    deadline_seconds: float = 30 * 86_400
    poll_seconds: float = 60
    place: Place | None = None


Misfire = Literal["run_once", "skip", "hold"]
"""What becomes of an occurrence whose time passed while nobody looked (R-83)."""


Unattended = Literal["run", "park", "hold"]
UNATTENDED: tuple[Unattended, ...] = ("run", "park", "hold")
"""What a call may do that nobody attends, from the laxest: run when everything is known and holds, wait in the inbox
until a person confirmed exactly this call, or not run at all."""


class UnattendedRules(msgspec.Struct, frozen=True, gc=False):
    """What calls may do that nobody attends, by what they do, where a tool's own rules do not say otherwise."""

    reversible: Unattended = "run"
    irreversible: Unattended = "park"


class DeferralRules(msgspec.Struct, frozen=True, gc=False):
    """How deferred runs of a tool are treated. `missed_after_seconds` late, an occurrence counts as missed.

    `misfire` None is `hold` for irreversible tools, else `run_once`. `unresolved` is what becomes of an occurrence
    that cannot run when it fires: something is unknown or unmet, a limit is reached (R-82).
    """

    misfire: Misfire | None = None
    missed_after_seconds: float = 300
    unresolved: Literal["hold", "skip"] = "hold"


class ToolRules(msgspec.Struct, frozen=True, gc=False):
    """Rules for one tool. A tool nobody listed is irreversible (R-65).

    `intents` are the phrases users call it by; `changes` the state changes it makes (`create`, `update`,
    `delete`, `send`, ...). `trust_labels` lets `[Required]`, `[Verify]`, `[Notice]` and
    `_meta["preflight/checklist"]` of its server add conditions (R-63). `pin` is the accepted fingerprint (R-68).
    `settle` names the measure that tells whether a call in doubt took effect: exactly true or exactly false (R-75).
    `unattended` is what it may do where nobody attends the run; None: what `unattended_by_effect` says.
    A `forbidden` tool is held whatever anybody says (R-7).
    `ask_by` is the least channel by which answers about the tool count (R-91); None: that of its effect.
    """

    effect: Effect = "irreversible"
    forbidden: bool = False
    intents: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    fields: Mapping[str, FieldRules] = MappingProxyType({})
    measures: Mapping[str, MeasureRule] = MappingProxyType({})
    conditions: tuple[ConditionRule, ...] = ()
    limits: tuple[LimitRule, ...] = ()
    notices: tuple[str, ...] = ()
    trust_labels: bool = False
    pin: str | None = None
    constants_are_known: bool = False
    value_asks: int = 2
    decision_seconds: float = 60
    settle: str | None = None
    deferral: DeferralRules = DeferralRules()
    unattended: Unattended | None = None
    unattended_by_effect: UnattendedRules = UnattendedRules()
    ask_by: Channel | None = None
    ask_by_effect: AskBy = AskBy()
    place: Place | None = None

    @property
    def channel(self) -> Channel:
        """Return the least channel by which an answer counts (R-91)."""
        by_effect = self.ask_by_effect
        return self.ask_by or (by_effect.irreversible if self.effect == "irreversible" else by_effect.reversible)

    def field(self, name: str) -> FieldRules:
        """Return the rules for a slot, or the defaults."""
        return self.fields.get(name, FIELD) if self.fields else FIELD

    @property
    def misfire(self) -> Misfire:
        """Return what becomes of a missed occurrence (R-83)."""
        return self.deferral.misfire or ("hold" if self.effect == "irreversible" else "run_once")

    @property
    def when_unattended(self) -> Unattended:
        """Return what a call may do that nobody attends."""
        by_effect = self.unattended_by_effect
        return self.unattended or (by_effect.irreversible if self.effect == "irreversible" else by_effect.reversible)

    @property
    def unconfirmed(self) -> Unconfirmed:
        """Return what to do with optional claims that no source confirms, where nothing is said of the field (R-36)."""
        return "ask" if self.effect == "irreversible" else "drop"

    def optional(self, name: str) -> Unconfirmed:
        """Return what to do with an optional claim that no source confirms (R-36)."""
        return self.field(name).unconfirmed or self.unconfirmed


class UserRules(msgspec.Struct, frozen=True, gc=False):
    """What holds for one user: their checklist, and the settings they approved.

    `settings` maps names to `{value, trust: "user", origin}` as `pre_set_data` takes them (R-14);
    `checklist` holds `{id, description}` items (R-61) and `conditions` checks them or adds to the tool's;
    `measures` are those that the conditions read.
    """

    checklist: tuple[Mapping[str, object], ...] = ()
    settings: Mapping[str, object] = NOTHING
    conditions: tuple[ConditionRule, ...] = ()
    measures: Mapping[str, MeasureRule] = MappingProxyType({})
    place: Place | None = None


FIELD = FieldRules()
UNLISTED = ToolRules()
