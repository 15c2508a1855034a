"""Step 4, lookup: a slot's value is looked up at five sources, in one order, and never made (R-40 to R-46).

Unknown is what is left when every source was looked at; nobody says it, least of all the model (R-2).
"""

from __future__ import annotations

from collections.abc import Generator, Mapping

import msgspec
from msgspec import UNSET

from preflight.core.needs import Failed, Need
from preflight.core.policy import ruled, validated
from preflight.errors import InvalidInput
from preflight.grounding import Context, support
from preflight.model.evidence import Evidence, Located, NotGrounded
from preflight.model.instruction import Segment, approved
from preflight.model.json_value import confirmation_id, freeze, is_object
from preflight.model.pointer import descend, nearest
from preflight.model.request import Request
from preflight.model.rules import FieldRules
from preflight.model.slot import SOURCES, FieldState, Route, Slot, Source

ORIGINS = frozenset({"user_answer", "instruction", "pre_set_data", "measured_data"})
NOTHING = NotGrounded()
NEEDS_CONFIRMATION = "needs_confirmation"
"""The reason of a slot whose text the model wrote and the user has not approved (R-57)."""
_WORDS: Mapping[str, object] = {"type": "string"}
_PERSONAL = frozenset({"user_answer", "instruction", "pre_set_data"})


class Lookup:
    """The lookups of one run: what every slot of it shares."""

    __slots__ = ("answers", "context", "known", "now", "prior", "prior_at", "request", "rules")

    def __init__(self, request: Request) -> None:
        """Prepare the lookups of `request`."""
        self.request = request
        self.rules = request.rules
        self.answers = request.user_answers
        self.known: dict[str, object] = {}
        self.now = request.utterance.now
        prior = request.prior_execution_state
        self.prior = prior_fields(prior)
        at = prior.get("timestamp") if is_object(prior) else None
        self.prior_at = at if type(at) is str else None
        self.context = Context.of(request.utterance, request.said_at)

    def look_up(self, slot: Slot) -> Generator[Need, object, FieldState]:
        """Search the sources, then let the field policy and the slot's schema have their say."""
        state = yield from self._search(slot, self.rules.field(slot.name))
        if state.lookup_failed:
            return state  # the field policy is not run
        state = ruled(state, (yield Need("apply_field_policy", (state, slot, self.request), slot.name)))
        if state.status != "known":
            return state
        state = validated(state, (yield Need("validate_field_schema", (slot, state.value, self.request), slot.name)))
        if state.status == "known":
            self.known[slot.name] = state.value
        return state

    def _search(self, slot: Slot, rules: FieldRules) -> Generator[Need, object, FieldState]:
        """Ask the sources in their order; the first that answers ends the search (R-40)."""
        sources, request = rules.sources, self.request  # other sources are not consulted
        found: FieldState | NotGrounded | None = None
        why = NOTHING
        if self.answers and "user_answer" in sources:
            found = self._answered(slot)
        if found is None and "instruction" in sources:
            found = self._said(slot, (yield Need("extract_from_instruction", (slot, request), slot.name)))
            if type(found) is NotGrounded:
                why, found = found, None
        if found is None and "pre_set_data" in sources:
            found = self._set_before(slot)
        if found is None and "measured_data" in sources:
            found = self._measured(slot, (yield Need("measure_from_environment", (slot, request), slot.name)))
            if found is None and rules.measured:
                # what was measured before is only selected from; a measurement may take its time
                hook = "select_measured" if rules.measures_of() <= request.measured_data.keys() else "measure_by_rule"
                found = self._measured(slot, (yield Need(hook, (slot, request, dict(self.known)), slot.name)))
        if found is None and "prior_state" in sources:
            found = self._inherited(slot)
        if type(found) is FieldState:
            return found
        return self._unknown(slot, found if type(found) is NotGrounded else why, sources)

    # the sources, in their order

    def _answered(self, slot: Slot) -> FieldState | None:
        value = descend(*nearest(self.answers, slot.path))
        if value is not None or slot.nullable or not slot.required:
            return self._found(slot, value, "user_answer", absent=True)
        return self._unknown(slot, NotGrounded("none_given"), SOURCES)  # no lower source overrules the user

    def _said(self, slot: Slot, named: object) -> FieldState | NotGrounded:
        if type(named) is NotGrounded:
            return self._approved(slot) or named if named.reason == NEEDS_CONFIRMATION else named
        if named is None:
            return NOTHING
        if type(named) is not Located and not is_object(named):  # it raised, or returned garbage
            return self._failed(slot, "extract_from_instruction")
        place = located(named)
        if place is None:
            return NOTHING
        # without segments there is nowhere a value could stand
        # whoever names the place is not believed; code reads the text that stands there
        rules = self.rules.field(slot.name)
        evidence = support(
            self.request.segments or (), place, slot.schema, self.context,
            name=slot.name, role=rules.role, hints=rules.hints,
        )  # fmt: skip
        if evidence is None:
            return NOTHING
        grade = "carried" if _is_earlier(self.request.segments or (), evidence) else evidence.grade
        if grade not in ("stated", "derived"):
            return NotGrounded(grade, (evidence,))
        return self._known(slot, place.value, "instruction", evidence=evidence)

    def _approved(self, slot: Slot) -> FieldState | None:
        """Text that the model may write is known once the user approved exactly it, as shown (R-38, R-57)."""
        if slot.claim is UNSET:
            return None
        if self.rules.field(slot.name).unconfirmed == "allow":  # waived by the adopter's own rule
            return self._known(slot, slot.claim, "pre_set_data", "rules")
        approved = self.request.checklist_answers.get(confirmation_id(slot.name, slot.claim)) is True
        return self._known(slot, slot.claim, "user_answer") if approved else None

    def _set_before(self, slot: Slot) -> FieldState | None:
        wrapper, inner = nearest(self.request.pre_set_data, slot.path)
        if not approved(wrapper):
            return None
        origin = wrapper.get("origin")
        value = descend(wrapper.get("value", UNSET), inner)
        return self._found(slot, value, "pre_set_data", origin if type(origin) is str else None)

    def _measured(self, slot: Slot, measured: object) -> FieldState | NotGrounded | None:
        if type(measured) is Failed:
            return self._failed(slot, "measure_from_environment")
        if type(measured) is NotGrounded:
            return measured  # the user's words select several rows
        if not is_object(measured) or measured.get("valid") is not True:
            return None
        by = measured.get("by")
        found = self._found(slot, measured.get("value", UNSET), "measured_data", by if type(by) is str else None)
        words = measured.get("selected_by")
        if found is None or words is None:
            return found
        # the words that select the row are read where they are said to stand
        place = words if type(words) is Located else located(words)
        evidence = place and support(self.request.segments or (), place, _WORDS, self.context)
        return msgspec.structs.replace(found, evidence=evidence) if evidence else None

    def _inherited(self, slot: Slot) -> FieldState | None:
        prior = self.prior.get(slot.name)
        if prior is None:
            return None
        return self._known(slot, prior["value"], "prior_state", self.prior_at, first=str(prior["origin_source"]))

    # what comes of a search

    def _found(
        self, slot: Slot, value: object, source: Source, origin: str | None = None, *, absent: bool = False
    ) -> FieldState | None:
        """Take a value as it was found; only where a person may say so is None an answer (R-46)."""
        if value is UNSET or (value is None and not absent):
            return None
        if value is None:
            return FieldState(slot.name, "null", source, source, self.now, None, origin)
        return self._known(slot, value, source, origin)

    def _known(
        self,
        slot: Slot,
        value: object,
        source: Source,
        origin: str | None = None,
        *,
        evidence: Evidence | None = None,
        first: str | None = None,
    ) -> FieldState:
        try:
            if type(value) is not str or not value.isascii():
                value = freeze(value, slot.name)
        except InvalidInput:  # what a hook brought is no JSON value
            return self._failed(slot, source)
        return FieldState(slot.name, "known", source, first or source, self.now, value, origin, evidence)

    def _failed(self, slot: Slot, hook: str) -> FieldState:
        """A broken lookup settles the slot: no lower source may stand in for it (R-43)."""
        return FieldState(
            slot.name, "unknown", None, None, self.now,
            note=f"{hook} failed", route="definition_repair", lookup_failed=True,
        )  # fmt: skip

    def _unknown(self, slot: Slot, why: NotGrounded, sources: tuple[Source, ...]) -> FieldState:
        return FieldState(
            slot.name, "unknown", None, None, self.now,
            note=why.reason, route=_route(sources), mentions=why.mentions, choices=why.choices,
        )  # fmt: skip


def _is_earlier(segments: tuple[Segment, ...], evidence: Evidence) -> bool:
    """Whether some of the words belong to an earlier request of the conversation, where requests are numbered."""
    number = segments[evidence.segment_index].request
    if number is None and not evidence.parts:
        return False
    if any(_is_earlier(segments, part) for part in evidence.parts):
        return True
    return number is not None and number != max(s.request for s in segments if s.grounds and s.request is not None)


def _route(sources: tuple[Source, ...]) -> Route:
    """Where nothing was found: to the user, unless only systems may know (R-45)."""
    if not _PERSONAL.isdisjoint(sources):
        return "ask_user"
    return "system_lookup" if sources else "definition_repair"


def located(named: object) -> Located | None:
    """Read the place a hook names: `{value, segment_index, span: [start, end]}` or a `Located` (R-41)."""
    if type(named) is Located:
        return named
    if not is_object(named):
        return None
    span, value = named.get("span"), named.get("value")
    if type(span) not in (list, tuple) or len(span) != 2 or value is None:  # type: ignore[arg-type]
        return None
    return Located(value, named.get("segment_index"), *span)  # type: ignore[arg-type,misc]


def prior_fields(prior: object) -> Mapping[str, Mapping[str, object]]:
    """Return the fields of a prior run by name; only an executed run counts (R-42)."""
    if not is_object(prior) or prior.get("execution_decision") != "executed":
        return {}
    fields = prior.get("fields")
    if type(fields) is not tuple:
        return {}
    named: dict[str, Mapping[str, object]] = {}
    for field in fields:
        if is_object(field) and usable_prior(field):
            named.setdefault(str(field["name"]), field)
    return named


def usable_prior(field: Mapping[str, object]) -> bool:
    """Whether a prior field has a known value and a first source that can be inherited (R-4, R-42)."""
    known = field.get("status") == "known" and field.get("value") is not None
    first = field.get("origin_source")
    return known and type(first) is str and first in ORIGINS and type(field.get("name")) is str
