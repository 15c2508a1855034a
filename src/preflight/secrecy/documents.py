"""Records, questions and answers without the secret values in them; these stand encrypted beside (R-78).

Theory of operation
-------------------
The rules say which slots are secret. Whatever stands at such a slot is taken out of the document and
encrypted, and so is every other text that repeats the value: a reason, a note, an error, the user's own words.
In its place stands a mask. `sealed` maps the JSON Pointer of each place to what was there, so that opening
puts everything back exactly. What is stored, returned, logged or printed is the masked document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from preflight import codec
from preflight.model.decision import Decision
from preflight.model.evidence import Evidence
from preflight.model.json_value import is_object, thaw
from preflight.model.pointer import Path, descend, escape, join, name_of, steps, tokens
from preflight.model.question import Answer, Question
from preflight.model.record import Record
from preflight.model.request import Request, Scope
from preflight.model.rules import ToolRules
from preflight.model.sealed import MASK
from preflight.model.tool import Tool
from preflight.secrecy.masking import NO_NEEDLES, Needles
from preflight.secrecy.vault import Subject, Vault

T = TypeVar("T", Record, Question, Answer)
R = TypeVar("R", Record, Question)
Shape = dict[str, Any]

# A document's own parts that hold ids, names, times, codes and digests: never anybody's words.
_STRUCTURE = frozenset(
    "schema_version phase execution_decision record_id decision_id question_id call_id scope user_id person channel "
    "tool timestamp request_digest rules_digest previous_digest not_before not_after status source origin_source "
    "resolved_at checked_at created_at expires_at answered_at route kind normaliser normaliser_version grade flags "
    "start end segment_index trust request result_digest declared_by c1_when_case c2_source c3_provider_action_name "
    "intent_fingerprint next_intent_attempt next_tool_attempt unknown_count unverified_checklist_count "
    "max_age_seconds place pending_at_trigger lookup_failed schema sealed name slot missing private nullable "
    "approved settled_as branch_options at said_at read_by required instructed repeats".split()
)
# Parts that hold JSON values of others: their keys are data, whatever they are called.
_DATA = frozenset("call_arguments deferred_input trigger value choices measured shown values when".split())
_READINGS = frozenset({"matched_text", "canonical", "alternatives"})
_SLOT_LISTS = ("fields", "extra_fields", "dropped_claims", "allowed_claims", "slots")
_SECRET_PARTS = ("value", "choices", "shown")
_HANDED_OVER = ("claims", "user_answers", "pre_set_data", "measured_data")
_LISTS = frozenset({"choices", "alternatives"})


class Secrecy:
    """Takes secret values out of what is stored, and puts them back for those who may have them."""

    def __init__(self, vault: Callable[[], Vault]) -> None:
        """Encrypt with `vault`, which is asked for when there is something secret and not before."""
        self._vault = vault

    def digest(self, request: Request, plain: str) -> str:
        """Return a request's digest as it is recorded: keyed where the request holds secrets that could be guessed."""
        if not has_secrets(request.rules):
            return plain
        return self._vault().keyed(_subject(request.scope, request.user_id), plain)

    def record(self, record: Record, rules: ToolRules, needles: Needles) -> Record:
        """Return a record as it is stored."""
        return self._sealed(record, record.decision_id, covered(rules), needles) if has_secrets(rules) else record

    def question(self, question: Question, rules: ToolRules, needles: Needles) -> Question:
        """Return a question as it is stored and shown; its answer is to be kept secret as a whole."""
        if not has_secrets(rules):
            return question
        private = msgspec.structs.replace(question, private=True)
        return self._sealed(private, question.question_id, covered(rules), needles)

    def answer(self, answer: Answer, question: Question) -> Answer:
        """Return an answer as it is stored: of a private question, only the names of what was answered."""
        if not question.private:
            return answer
        shape: Shape = msgspec.json.decode(codec.encode(answer))
        taken = {f"/{part}": shape[part] for part in ("values", "items", "restatement") if shape.get(part)}
        if "values" in shape:
            shape["values"] = dict.fromkeys(shape["values"], MASK)
        if "restatement" in shape:
            shape["restatement"] = MASK
        shape.pop("items", None)
        return self._closed(answer, shape, _subject(question.scope, question.user_id), question.question_id, taken, {})

    def opened(self, document: T, scope: Scope, user_id: str) -> T:
        """Return a document with its values put back; raises Erased when they cannot be read any more."""
        if not document.sealed:
            return document
        values = self._vault().open(_subject(scope, user_id), _name(document), document.sealed)
        shape: Shape = msgspec.json.decode(codec.encode(document))
        shape.pop("sealed")
        _put_back(shape, values)
        return _read(type(document), shape)

    def arguments(self, record: Record) -> Record:
        """Return a record with its call arguments put back, and nothing else: for the executor (R-78)."""
        places = {place: sealed for place, sealed in record.sealed.items() if place.startswith("/call_arguments")}
        if not places:
            return record
        values = self._vault().open(_subject(record.scope, record.user_id), record.decision_id, places)
        shape: Shape = {"call_arguments": thaw(record.call_arguments)}
        _put_back(shape, values)
        return msgspec.structs.replace(record, call_arguments=shape["call_arguments"])

    def paths(self, record: Record) -> tuple[Path, ...]:
        """Return where secret arguments stand in a record's call."""
        return tuple(steps(place)[1:] for place in record.sealed if place.startswith("/call_arguments/"))

    def needles(self, record: Record, arguments: object) -> Needles:
        """Return the search for the secret ones among a call's arguments."""
        paths = self.paths(record)
        return Needles(descend(arguments, path) for path in paths) if paths else NO_NEEDLES

    def _sealed(self, document: R, name: str, secret: Callable[[str], bool], needles: Needles) -> R:
        shape: Shape = msgspec.json.decode(codec.encode(document))
        walk = _Walk(secret, needles)
        shape = walk.document(shape)
        subject = _subject(document.scope, document.user_id)
        return self._closed(document, shape, subject, name, walk.taken, walk.slots)

    def _closed(
        self,
        document: T,
        shape: Shape,
        subject: Subject,
        name: str,
        taken: Mapping[str, object],
        slots: Mapping[str, str],
    ) -> T:
        masked = _read(type(document), shape)
        if not taken:
            return masked
        return msgspec.structs.replace(masked, sealed=self._vault().seal(subject, name, taken, slots))


class _Walk:
    """One pass over a document: masks it, and keeps what it took out by place."""

    def __init__(self, secret: Callable[[str], bool], needles: Needles) -> None:
        self._secret = secret
        self._needles = needles
        self.taken: dict[str, object] = {}
        self.slots: dict[str, str] = {}

    def document(self, shape: Shape) -> Shape:
        """Mask a whole document, in place."""
        for part in _SLOT_LISTS:
            for at, slot in enumerate(shape.get(part) or ()):
                if self._secret(slot.get("name", "")):
                    self._slot(slot, f"/{part}/{at}")
        self._arguments(shape)
        for at, segment in enumerate(shape.get("instruction") or ()):
            self._segment(segment, f"/instruction/{at}/text")
        if "request" in shape:  # kept to repeat the run: all that was handed over stands in it
            self.taken["/request"] = shape.pop("request")
        masked: Shape = self._parts(shape, "")
        return masked

    def _slot(self, slot: Shape, at: str) -> None:
        for part in _SECRET_PARTS:
            if part in slot and slot[part] not in (None, [], MASK):
                self._take(slot, part, at)
        if f"{at}/value" in self.taken:
            self.slots[f"{at}/value"] = slot["name"]
        for part in ("evidence", "mentions"):
            self._readings(slot.get(part), f"{at}/{part}")

    def _take(self, holder: Shape, key: str, at: str) -> None:
        self.taken[f"{at}/{key}"] = holder[key]
        holder[key] = [MASK] if key in _LISTS else MASK

    def _readings(self, evidence: Any, at: str) -> None:
        """Mask what was read of the user's words, in the parts too."""
        if isinstance(evidence, list):
            for index, each in enumerate(evidence):
                self._readings(each, f"{at}/{index}")
        elif isinstance(evidence, dict):
            for key in _READINGS & evidence.keys():
                self._take(evidence, key, at)
            self._readings(evidence.get("parts"), f"{at}/parts")

    def _arguments(self, shape: Shape) -> None:
        arguments = shape.get("call_arguments")
        if isinstance(arguments, dict):
            self._below(arguments, ())

    def _below(self, holder: Any, path: Path) -> None:
        """Take out the arguments of secret slots, the outermost first."""
        for key, item in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
            here = (*path, key)
            if self._secret(name_of(here)) and item not in (None, MASK):
                place = join("", "call_arguments", *here)
                self.taken[place], self.slots[place] = item, name_of(here)
                holder[key] = MASK
            elif isinstance(item, dict | list):
                self._below(item, here)

    def _segment(self, segment: Shape, at: str) -> None:
        text = segment["text"]
        blotted = self._needles.blot(text)
        if blotted != text:
            self.taken[at], segment["text"] = text, blotted

    def _parts(self, value: Any, at: str) -> Any:
        """Mask the parts of a document that are words, and keep what was there."""
        if isinstance(value, dict):
            return {
                key: item
                if key in _STRUCTURE
                else self._values(item, f"{at}/{escape(key)}")
                if key in _DATA
                else self._parts(item, f"{at}/{escape(key)}")
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self._parts(item, f"{at}/{index}") for index, item in enumerate(value)]
        return self._leaf(value, at)

    def _values(self, value: Any, at: str) -> Any:
        """Mask a JSON value, and keep what was there; an object with a secret in a key is taken out whole."""
        if isinstance(value, dict):
            if any(map(self._needles.holds, value)):
                self.taken[at] = value
                return MASK
            return {key: self._values(item, f"{at}/{escape(key)}") for key, item in value.items()}
        if isinstance(value, list):
            return [self._values(item, f"{at}/{index}") for index, item in enumerate(value)]
        return self._leaf(value, at)

    def _leaf(self, value: Any, at: str) -> Any:
        if not self._needles.holds(value):
            return value
        self.taken.setdefault(at, value)
        return self._needles.mask(value) if type(value) is str else MASK


def has_secrets(rules: ToolRules) -> bool:
    """Whether the rules mark any slot of a tool as secret."""
    return bool(rules.fields) and any(field.secret for field in rules.fields.values())


def covered(rules: ToolRules) -> Callable[[str], bool]:
    """Return the test whether a slot is secret: it, or one that it lies in, is marked so."""
    marked = frozenset(name for name, field in rules.fields.items() if field.secret)

    def secret(name: str) -> bool:
        return name in marked or any(name.startswith(f"{above}/") for above in marked)

    return secret


def needles_of(request: Request, decision: Decision | None = None) -> Needles:
    """Return the search for every secret value of a run: claimed, answered, set, measured, found in the words."""
    rules = request.rules
    if not has_secrets(rules):
        return NO_NEEDLES
    secret, found = covered(rules), []
    for given in (getattr(request, part) for part in _HANDED_OVER):
        found += [value for name, value in _given(given) if secret(name)]
    for state in () if decision is None else decision.states:
        if secret(state.name):
            found += [] if state.value is UNSET else [state.value]
            found += list(_read_of(state.evidence)) + list(state.choices)
    return Needles(found)


def needles_given(given: object, rules_for: Callable[[str, str], ToolRules]) -> Needles:
    """Return the search for the secrets of a request that could not be read, as far as it can be told what it is."""
    if isinstance(given, Request):
        return needles_of(msgspec.structs.replace(given, rules=rules_for(given.tool.server, given.tool.name)))
    tool = given.get("tool") if isinstance(given, Mapping) else None
    if not isinstance(given, Mapping) or tool is None:
        return NO_NEEDLES
    declared = Tool.from_mcp(tool)
    rules = rules_for(declared.server, declared.name)
    if not has_secrets(rules):
        return NO_NEEDLES
    secret, parts = covered(rules), [given.get(part) for part in _HANDED_OVER]
    return Needles(value for part in parts if isinstance(part, Mapping) for name, value in _given(part) if secret(name))


def without_masked(prior: object) -> object:
    """Return a prior run without its masked fields: a secret is asked for again, never carried (R-42)."""
    if not is_object(prior) or type(prior.get("fields")) is not tuple:
        return prior
    fields = tuple(f for f in prior["fields"] if not (is_object(f) and f.get("value") == MASK))  # type: ignore[attr-defined]
    return prior if fields == prior["fields"] else {**prior, "fields": fields}


def _given(given: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield what was handed over by slot name: names, JSON Pointers of what lies below, and settings' values."""
    for name, value in given.items():
        yield name, value.get("value", value) if is_object(value) and {"trust", "valid"} & value.keys() else value
        yield from _below(value, name)


def _below(value: object, name: str) -> Iterator[tuple[str, object]]:
    items: Iterable[tuple[object, object]] = ()
    if is_object(value):
        items = value.items()
    elif isinstance(value, list | tuple):
        items = enumerate(value)
    for key, item in items:
        inner = f"{name}/{escape(str(key))}"
        yield inner, item
        yield from _below(item, inner)


def _read_of(evidence: Evidence | None) -> Iterator[object]:
    if evidence is not None:
        yield from (evidence.matched_text, evidence.canonical)
        for part in evidence.parts:
            yield from _read_of(part)


def _put_back(shape: Shape, values: Mapping[str, object]) -> None:
    """Put values back where they were taken out: the outermost first, for others may lie in what it holds."""
    for pointer, value in sorted(values.items()):
        _put(shape, pointer, value)


def _put(shape: Any, pointer: str, value: object) -> None:
    *path, last = tokens(pointer)
    for step in path:
        shape = shape[int(step)] if isinstance(shape, list) else shape[step]
    if isinstance(shape, list):
        shape[int(last)] = value
    else:
        shape[last] = value


def _read(kind: type[T], shape: Shape) -> T:
    return msgspec.json.decode(codec.encode(shape), type=kind)


def _name(document: Record | Question | Answer) -> str:
    return document.decision_id if isinstance(document, Record) else document.question_id


def _subject(scope: Scope, user_id: str) -> Subject:
    return Subject(scope.tenant, user_id)
