"""What a slot's schema and hints say about how its value may be written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

import msgspec

from preflight.grounding.findings import Role, Target
from preflight.grounding.quantities import field_unit
from preflight.grounding.tables.units import Unit
from preflight.grounding.words import STOP, cue_key, split_words

_IDENTIFIER_FORMATS = frozenset(
    ("email", "idn-email", "uri", "url", "iri", "uri-reference", "uuid", "hostname", "ipv4", "ipv6", "phone", "iban")
)
_IDENTIFIER_WORDS = frozenset(
    (
        "id ids identifier iban account uuid guid email mail url uri link path file filename filepath "
        "directory folder token password username login handle phone telephone mobile address ip host "
        "hostname domain sku code key serial isbn"
    ).split()
)
_TARGET_WORDS = frozenset(
    "recipient receiver recipients payee beneficiary iban account email mail phone cc bcc attendees".split()
)
_CONTENT_WORDS = frozenset("body message content text comment note notes caption summary reply memo".split())
_TIME_WORDS = frozenset("date dates day time times datetime timestamp when deadline due start end hour at".split())
_PERSON = re.compile(r"recipient|receiver|mail|account|address|person|user|contact|wallet|payee", re.IGNORECASE)
_FRACTION = re.compile(
    r"\bfraction\b|\bdecimal (?:form|value|fraction|format|number)\b|\bas a decimal\b|\b(?:between"
    r"|from) 0(?:\.0)? (?:and|to) 1(?:\.0)?\b|\b0(?:\.0)?\s?(?:-|to)\s?1(?:\.0)?\b",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"percent|%", re.IGNORECASE)
_LINK = r"(?:[:=]|-(?=\s)|–|\bmeans\b|\bstands for\b|\bfor\b|\brepresents\b|\bindicates\b)"
_LABEL = re.compile(
    rf"(?<![\w.])['\"]?(?P<v>[\w.+-]{{1,30}})['\"]?\s*{_LINK}\s*(?:an? |the )?['\"(]?"
    rf"(?P<l>[^,;.()'\"\n]{{2,60}}?)(?=\s(?:and|or)\s['\"]?[\w.+-]{{1,30}}['\"]?\s?{_LINK}|\s?(?:and|or)?\s?['\"]|[,;.()'\"\n]|$)"
)
_LABEL_BEFORE = re.compile(r"(?P<l>[^\W\d_][\w ]{1,40}?)\s*(?:[:=]|\()\s*['\"]?(?P<v>\d{1,4})['\"]?\)?(?![\w.])")
_CODE = re.compile(r"\d{1,3}")
_CODED = frozenset("id code type kind status state mode level category option class".split())
_CONJUNCTION = re.compile(r"\s(?:and|or)\s?$", re.IGNORECASE)
_HINT_KEYS = ("x-unit", "x-locale", "x-synonyms", "x-enum-labels", "x-grounding", "x-may-share", "x-role")


class Field(msgspec.Struct, frozen=True):
    """One leaf of a slot, ready to be looked up."""

    name: str
    words: tuple[str, ...]
    description: str
    types: tuple[str, ...]
    format: str
    members: tuple[object, ...]
    labels: Mapping[str, tuple[str, ...]]
    role: Role | None
    unit: Unit | None
    locale: str | None
    grounding: str
    may_share: bool
    cues: Mapping[str, int]
    fraction: bool | None

    @property
    def identifier(self) -> bool:
        """Whether the value is compared as written: no fold of case or punctuation (R-47)."""
        return (
            self.format in _IDENTIFIER_FORMATS
            or self.role in ("target", "object")
            or bool(_IDENTIFIER_WORDS.intersection(self.words[-2:]))
        )


def holds_time(target: Target) -> bool:
    """Whether a slot is for a day or a time: by its role, its format, or the last words of its name."""
    field = compile_field(target.name, target.schema, target.role, target.hints)
    named = _TIME_WORDS.intersection(field.words[-1:]) or {"time", "date"}.intersection(field.words[-3:])
    return field.role == "time" or (field.role in (None, "option") and bool(named))


def compile_field(name: str, schema: Mapping[str, object], role: Role | None, hints: Mapping[str, object]) -> Field:
    """The field of a slot, or of a leaf inside one; the adopter's hints win over the schema's (R-6).

    Kept by content while it is in use: a call repeats its tool's schemas, often as new objects.
    """
    if hints:
        return _compile(name, schema, role, hints)
    key = tuple(
        (word, repr(value) if value.__class__ in (list, dict) else value, value.__class__)
        for word, value in schema.items()
    )
    try:
        return _remembered(name, role, _Schema(key, schema))
    except TypeError:  # a value that cannot be hashed
        return _compile(name, schema, role, hints)


class _Schema:
    """A schema that is compared by the text of its keywords."""

    __slots__ = ("key", "schema")

    def __init__(self, key: tuple[object, ...], schema: Mapping[str, object]) -> None:
        self.key, self.schema = key, schema

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Schema) and self.key == other.key


@lru_cache(maxsize=1024)
def _remembered(name: str, role: Role | None, schema: _Schema) -> Field:
    return _compile(name, schema.schema, role, {})


def _compile(name: str, schema: Mapping[str, object], role: Role | None, hints: Mapping[str, object]) -> Field:
    given = {key: schema[key] for key in _HINT_KEYS if key in schema} | dict(hints)
    description = " ".join(str(schema[key]) for key in ("title", "description") if isinstance(schema.get(key), str))
    words = split_words(name.rpartition("/")[2]) if name.rpartition("/")[2].isdigit() is False else split_words(name)
    declared = schema.get("type")
    types = (
        (declared,)
        if isinstance(declared, str)
        else tuple(str(kind) for kind in declared)
        if isinstance(declared, list)
        else ()
    )
    shape = schema.get("format")
    members = _members(schema)
    return Field(
        name=name,
        words=words,
        description=description,
        types=types,
        format=shape if isinstance(shape, str) else "",
        members=members,
        labels=_labels(schema, members, description, hints, closed=_is_closed(members, words, role)),
        role=role or _hinted_role(given) or default_role(words, shape, members, types, description),
        unit=field_unit(name, description, given.get("x-unit")),
        locale=str(hints["x-locale"]) if isinstance(hints.get("x-locale"), str) else None,
        grounding=_grounding(schema, hints),
        may_share=hints.get("x-may-share") is True,  # a server's own word cannot loosen a rule
        cues=_cues(words, description),
        fraction=_fraction(schema, words, description),
    )


def _hinted_role(given: Mapping[str, object]) -> Role | None:
    role = given.get("x-role")
    if role in ("target", "object", "quantity", "time", "option", "content"):
        return role
    return None


def default_role(
    words: tuple[str, ...], shape: object, members: tuple[object, ...], types: tuple[str, ...], description: str = ""
) -> Role | None:
    """A careful role where the rules give none: the stricter one when a name could mean two."""
    if members or types == ("boolean",):
        return "option"
    if shape in ("date", "date-time", "time", "duration"):
        return "time"
    if shape in _IDENTIFIER_FORMATS or (_TARGET_WORDS.intersection(words[-2:]) and "string" in types):
        return "target"
    if words == ("to",) and "string" in types and _PERSON.search(description):
        return "target"
    if words and words[-1] in ("id", "ids", "identifier", "uuid"):
        return "object"
    if words and words[-1] in _CONTENT_WORDS and types in ((), ("string",)):
        return "content"
    return None


def _grounding(schema: Mapping[str, object], hints: Mapping[str, object]) -> str:
    """`stated`, `derived`, `any` or `none`; the schema may only tighten (R-6)."""
    rule = hints.get("x-grounding")
    if rule in ("stated", "derived", "any", "none"):
        return str(rule)
    return str(schema["x-grounding"]) if schema.get("x-grounding") in ("stated", "none") else ""


def _members(schema: Mapping[str, object]) -> tuple[object, ...]:
    enum = schema.get("enum")
    if isinstance(enum, list | tuple):
        return tuple(enum)
    branches = schema.get("oneOf") or schema.get("anyOf")
    if (
        isinstance(branches, list | tuple)
        and branches
        and all(isinstance(branch, Mapping) and "const" in branch for branch in branches)
    ):
        return tuple(branch["const"] for branch in branches)
    return ()


def _labels(
    schema: Mapping[str, object], members: tuple[object, ...], told: str, hints: Mapping[str, object], *, closed: bool
) -> dict[str, tuple[str, ...]]:
    """Other names of values: those that the adopter's rules declare, and of a closed set those that its schema tells.

    Elsewhere a schema's own names count for nothing: with `9988 for landlord` a server would say who is meant (R-6).
    """
    labels: dict[str, list[str]] = {}
    for key in ("x-enum-labels", "x-synonyms"):
        table = hints.get(key)
        for value, names in table.items() if isinstance(table, Mapping) else ():
            listed = [names] if isinstance(names, str) else [str(name) for name in _items(names)]
            labels.setdefault(str(value), []).extend(listed)
    described = _described(told)
    own = {str(member) for member in members} or {value for value, _ in described if _CODE.fullmatch(value)}
    pairs = [pair for pair in dict.fromkeys((*_titles(schema), *described)) if pair[0] in own] if closed else []
    for value, name in pairs if members or len(own) > 1 else ():
        named = {other for other, label in pairs if label.casefold() == name.casefold()}
        if named | {other for other in own if other.casefold() == name.casefold()} == {value}:  # else it names none
            labels.setdefault(value, []).append(name)
    return {value: tuple(dict.fromkeys(names)) for value, names in labels.items()}


def _is_closed(members: tuple[object, ...], words: tuple[str, ...], role: Role | None) -> bool:
    """Whether the values are the provider's own, so that it may say what they are called: an enum, or short codes."""
    return role not in ("target", "object") and bool(members or _CODED.intersection(words[-1:]))


def _titles(schema: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for branch in _items(schema.get("oneOf") or schema.get("anyOf")):
        if isinstance(branch, Mapping) and "const" in branch and isinstance(branch.get("title"), str):
            yield str(branch["const"]), str(branch["title"])


def _items(value: object) -> Iterable[object]:
    return value if isinstance(value, list | tuple) else ()


@lru_cache(maxsize=1024)
def _described(description: str) -> tuple[tuple[str, str], ...]:
    return tuple(_pairs(description[:4000]))


def _pairs(description: str) -> Iterator[tuple[str, str]]:
    for pattern in (_LABEL, _LABEL_BEFORE):
        for match in pattern.finditer(description):
            yield match["v"], _CONJUNCTION.sub("", match["l"]).strip(" '\"")


@lru_cache(maxsize=2048)
def _cues(words: tuple[str, ...], description: str) -> dict[str, int]:
    """Stems of the field's own words: 1 for the description's, 3 for the name's."""
    cues = {cue_key(word): 1 for word in split_words(description[:600]) if word not in STOP and not word.isdigit()}
    cues.update({cue_key(word): 3 for word in words if word not in STOP or word in ("to", "from")})
    return cues


def _fraction(schema: Mapping[str, object], words: tuple[str, ...], description: str) -> bool | None:
    """True: the field wants 0.15 for `15 %`. False: it wants 15. None: it does not say."""
    if _FRACTION.search(description):
        return True
    top = schema.get("maximum")
    if isinstance(top, int | float) and top == 1:
        return True
    if _PERCENT.search(description) or "percent" in words or "percentage" in words:
        return False
    return None
