"""Validators for the whole schema and for parts of it, and what they may say about a value (R-28, R-44)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import NoReturn, cast

import jsonschema_rs

from preflight.core.schema.document import Document
from preflight.core.schema.fragments import fragment
from preflight.core.schema.keywords import Raw
from preflight.core.schema.refusal import refuse
from preflight.core.schema.survey import Survey
from preflight.model.json_value import thaw
from preflight.model.pointer import join

_BASE = "urn:preflight:tool"
_LISTS = frozenset(("allOf", "anyOf"))
_UNREADABLE = (ValueError, TypeError, RecursionError)  # what the validator raises for what is no JSON
_UNCHECKABLE = "cannot be checked: not a JSON value within the limits"


def never(uri: str) -> NoReturn:
    """The retriever: whatever a schema points to, nothing is fetched (R-34)."""
    raise LookupError(f"`{uri}` is not fetched")


class Checks:
    """Builds validators of one document: formats on, patterns linear in time, no retrieval."""

    __slots__ = ("_cache", "_document", "_patterns", "_registry", "_survey", "whole")

    def __init__(self, document: Document, survey: Survey) -> None:
        """Compile the whole schema; a `Refusal` names the part that has no validator."""
        self._document = document
        self._survey = survey
        # The automata of all patterns together may take as many bytes as a schema may have; the engine
        # knows neither look-around nor back-references, so that no pattern can take exponential time.
        size = document.limits.schema_bytes // max(1, survey.patterns)
        self._patterns = jsonschema_rs.RegexOptions(size_limit=size, dfa_size_limit=size)
        self._cache: dict[tuple[int, ...], jsonschema_rs.Validator] = {}
        self._registry = (
            jsonschema_rs.Registry([(_BASE, document.root)], retriever=never) if survey.references else None
        )
        self.whole = self._compile_root()

    def _compile_root(self) -> jsonschema_rs.Validator:
        try:
            return self._build(self._document.root)
        except ValueError as error:
            where = list(getattr(error, "instance_path", ()))
            pattern = where[-1:] == ["pattern"]
            what = "look-around, back-references or too much memory" if pattern else "what no validator is built for"
            return refuse(join("", *where), f"asks for {what}")

    def _build(self, schema: Raw) -> jsonschema_rs.Validator:
        return self._document.validator(
            schema,
            validate_formats=True,
            retriever=never,
            registry=self._registry,
            pattern_options=self._patterns,
        )

    def of(self, raws: tuple[Raw, ...]) -> jsonschema_rs.Validator:
        """The validator of everything in `raws` together; built once."""
        key = tuple(map(id, raws))
        if key not in self._cache:
            schemas = [self._as_schema(raw) for raw in raws]
            self._cache[key] = self._build(schemas[0] if len(schemas) == 1 else {"allOf": schemas})
        return self._cache[key]

    def _as_schema(self, raw: Raw) -> Raw:
        """`raw` as it can stand alone: by reference to its place, where it may hold references itself."""
        if self._registry is None or isinstance(raw, bool):
            return raw
        if id(raw) in self._document.pointers:
            return {"$ref": _BASE + fragment(self._document.pointers[id(raw)])}
        made_up = {key: [self._as_schema(each) for each in cast("list[Raw]", raw[key])] for key in _LISTS & raw.keys()}
        return {**raw, **made_up}

    def fits(self, raws: tuple[Raw, ...], value: object) -> bool:
        """Whether `value` is valid for all of `raws`; what cannot be checked is not."""
        try:
            return not self._too_deep(value) and self.of(raws).is_valid(value)
        except _UNREADABLE:
            return False

    def messages(self, value: object) -> tuple[str, ...]:
        """What is wrong with a whole payload: pointer and keyword, never the text of a value."""
        try:
            if self._too_deep(value):
                return (f"``: {_UNCHECKABLE}",)
            if self.whole.is_valid(value):
                return ()
            errors = islice(self.whole.iter_errors(value), self._document.limits.slots)
            return tuple(dict.fromkeys(f"`{self._place(error)}`: {explain(error)}" for error in errors))
        except _UNREADABLE:
            return (f"``: {_UNCHECKABLE}",)

    def reason(self, raws: tuple[Raw, ...], value: object) -> str | None:
        """Why `value` does not fit one slot, or None where it does."""
        try:
            plain = thaw(value)
            if self._too_deep(plain):
                return _UNCHECKABLE
            validator = self.of(raws)
            return None if validator.is_valid(plain) else explain(next(validator.iter_errors(plain)))
        except _UNREADABLE:
            return _UNCHECKABLE

    def _too_deep(self, value: object) -> bool:
        """Whether checking a value so deep could take too long, as a recursive schema may double at each level."""
        safe = self._survey.safe_depth
        return safe < self._document.limits.json_depth and _depth_exceeds(value, safe)

    def foreign(self, schema: Mapping[str, object], value: object) -> str | None:
        """The same for the schema of a slot that this plan did not make, such as one read back from a record."""
        try:
            error = next(self._build(cast("dict[str, object]", thaw(schema))).iter_errors(thaw(value)), None)
        except _UNREADABLE:
            return _UNCHECKABLE
        return None if error is None else explain(error)

    def _place(self, error: jsonschema_rs.ValidationError) -> str:
        """Where in the payload; keys that the schema does not declare are part of a value, so not shown."""
        tokens = [
            token if isinstance(token, int) or token in self._survey.names else "*" for token in error.instance_path
        ]
        if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Required):
            tokens.append(error.kind.property)
        return join("", *tokens)


def _depth_exceeds(value: object, limit: int) -> bool:
    """Whether anything stands below `limit` levels of objects and arrays."""
    level = [value]
    for _ in range(limit + 1):
        held = [each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list)]
        level = [inner for each in held for inner in each]
        if not level:
            return False
    return True


def explain(error: jsonschema_rs.ValidationError) -> str:
    """One violation in words: the keyword, with its limit where that is a number or a type's name."""
    keyword = error.kind.name
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Required):
        return "a required property is missing"
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Type):
        return f"`type` must be {' or '.join(error.kind.types)}"
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.FalseSchema):
        return "no value is allowed here"
    limit = getattr(error.kind, "limit", None)
    if isinstance(limit, int | float) and not isinstance(limit, bool):
        return f"`{keyword}` {limit} is not met"
    return f"`{keyword}` is not met"


__all__ = ["Checks", "explain", "never"]
