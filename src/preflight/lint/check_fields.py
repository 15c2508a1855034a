"""Rules about single arguments: their forms, their defaults, their reach."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from preflight.lint.finding import Finding
from preflight.lint.names import words
from preflight.lint.places import Value
from preflight.lint.quoting import cut, name, names
from preflight.lint.subject import Subject
from preflight.model.json_value import thaw

# The last words of a name, and the form they promise.
_FORMS: dict[str, str] = {
    **dict.fromkeys(("date", "day", "birthday"), "date"),
    **dict.fromkeys(("datetime",), "date-time"),
    **dict.fromkeys(("email", "mail"), "email"),
    **dict.fromkeys(("url", "uri", "href"), "uri"),
    **dict.fromkeys(("uuid", "guid"), "uuid"),
    **dict.fromkeys(("hostname",), "hostname"),
    **dict.fromkeys(("iban", "bic", "phone", "telephone", "timestamp"), "pattern"),
}
_PAIRS: dict[tuple[str, str], str] = {
    ("date", "time"): "date-time",
    ("account", "id"): "pattern",
    ("account", "number"): "pattern",
    ("card", "number"): "pattern",
    ("phone", "number"): "pattern",
    ("email", "address"): "email",
    ("ip", "address"): "ip",
}
_FORMED = ("format", "pattern", "enum", "const")

_WIDENING = frozenset(
    "force forced recursive recurse overwrite cascade everywhere global purge permanent permanently "
    "delete deleting deletes remove removing".split()
)
_NARROWING = frozenset((("dry", "run"), ("dryrun",), ("preview",), ("simulate",), ("what", "if")))
_CONFIRMING = frozenset("confirm confirmed confirmation approved approve acknowledged".split())
_SECRET = frozenset("password passwd passphrase secret apikey".split())
_SECRET_PAIRS = frozenset(
    (("api", "key"), ("access", "token"), ("auth", "token"), ("private", "key"), ("client", "secret"))
)
_IDENTIFIER = frozenset("id ids".split())

# Words that say whom or what a call acts on, how much of it, and when.
DECIDING = frozenset(
    "account recipient recipients to cc bcc from target destination source path folder mailbox channel namespace "
    "cluster context database table repo repository branch owner user amount quantity replicas count date time "
    "start end attendees updates".split()
)
_TELLING = frozenset("all everyone everybody public".split())
_AUDIENCE = frozenset("updates notifications invitations recipients audience visibility notify".split())


def form_of(value: Value) -> str | None:
    """Return the JSON Schema format (or `pattern`) that a value's name promises."""
    said = words(value.name)
    return _PAIRS.get((said[-2], said[-1]) if len(said) > 1 else ("", "")) or (_FORMS.get(said[-1]) if said else None)


def missing_format(subject: Subject) -> Iterator[Finding]:
    """PF014: a text whose name promises a form that the schema does not ask for."""
    if not subject.acts:
        return
    bare = [v for v in subject.values if v.types == {"string"} and not v.has(*_FORMED) and form_of(v)]
    if bare:
        wanted = sorted({_declaration(form_of(value)) for value in bare})
        yield _together(
            subject, "PF014", bare, "the name promises a form that the schema does not declare", " or ".join(wanted)
        )


def _declaration(form: str | None) -> str:
    if form == "pattern":
        return "a `pattern`"
    return '`"format": "ipv4"`' if form == "ip" else f'`"format": "{form}"`'


def id_as_number(subject: Subject) -> Iterator[Finding]:
    """PF015: an identifier as a JSON number, with no bound below 2^53."""
    loose = [
        v for v in subject.values if v.types <= {"integer", "number"} and v.types and _names_id(v) and not _bounded(v)
    ]
    if loose:
        yield _together(subject, "PF015", loose, "an identifier sent as a number is exact only up to 2^53", "a string")


def _names_id(value: Value) -> bool:
    said = words(value.name)
    return bool(said) and said[-1] in _IDENTIFIER


def _bounded(value: Value) -> bool:
    return any(type(most) in (int, float) and most <= 2**53 for most in value.all_of("maximum"))  # type: ignore[operator]


def default_acts(subject: Subject) -> Iterator[Finding]:
    """PF016: left out, the server decides by itself whom, what or how much the call acts on."""
    if not subject.acts:
        return
    grave = subject.act in ("send", "destroy", None) or subject.hint("destructiveHint") is True
    for value in subject.values:
        for default in value.all_of("default"):
            if not value.required and _decides(value, default):
                yield subject.find(
                    "PF016",
                    value.pointer + "/default",
                    f"left out, {name(value.name)} is {_shown(default)}: the server picks what nobody said",
                    "require the argument, or say in the description what leaving it out does",
                    "warning" if grave else "note",
                )


def _decides(value: Value, default: object) -> bool:
    said = words(value.name)
    if default in (None, "", False) or default == () or not said:
        return False
    if default is True:
        return widens(value)
    if isinstance(default, str) and default.lower() in _TELLING:
        return bool(_AUDIENCE & set(said))
    return said[-1] in DECIDING


def _shown(default: object) -> str:
    return name(default) if isinstance(default, str) else f"`{cut(json.dumps(thaw(default)), 40)}`"


def widening_flag(subject: Subject) -> Iterator[Finding]:
    """PF017: a boolean that makes the call reach further, or one that makes it only a rehearsal."""
    if not subject.acts:
        return
    flags = [v for v in subject.values if v.types == {"boolean"}]
    wide = [v for v in flags if widens(v)]
    if wide:
        yield subject.find(
            "PF017",
            wide[0].pointer,
            f"{_listed(wide)}: true makes the call reach further",
            "keep it optional and false; users of the tool can have it confirmed (`confirm` on the field)",
        )
    rehearsal = [v for v in flags if words(v.name) in _NARROWING and not v.required]
    if rehearsal:
        yield subject.find(
            "PF017",
            rehearsal[0].pointer,
            f"{_listed(rehearsal)}: left out or false, a rehearsal becomes the act",
            "require it, or offer the rehearsal as a tool of its own",
        )


def widens(value: Value) -> bool:
    """Whether a value's name says that it makes a call reach further; true on a flag then does."""
    said = words(value.name)
    return bool(_WIDENING & set(said)) or ("all" in said and "day" not in said)  # an all-day event is no wider


def _listed(listed: Sequence[Value]) -> str:
    return names(list(dict.fromkeys(value.name for value in listed)))


def self_confirmation(subject: Subject) -> Iterator[Finding]:
    """PF018: an approval that whoever calls can give to itself."""
    if not subject.acts:
        return
    for value in subject.values:
        said = words(value.name)
        if value.types == {"boolean"} and said and _CONFIRMING & {said[0], said[-1]}:
            yield subject.find(
                "PF018",
                value.pointer,
                f"{name(value.name)} confirms the call, and the model that calls sets it: no person approves by it",
                "ask the person by elicitation instead; users of the tool can have the call confirmed by their rules",
            )


def secret_argument(subject: Subject) -> Iterator[Finding]:
    """PF019: a secret that has to pass through the model."""
    for value in subject.values:
        if is_secret(value):
            yield subject.find(
                "PF019",
                value.pointer,
                f"{name(value.name)} carries a secret through the model",
                "take it from the server's configuration, or ask for it by URL elicitation",
            )


def is_secret(value: Value) -> bool:
    """Whether a value's name says that it holds a secret."""
    said = words(value.name)
    secret = bool(said) and (said[-1] in _SECRET or said[-2:] in _SECRET_PAIRS)
    return secret and value.types <= {"string"}


def _together(subject: Subject, rule: str, listed: Sequence[Value], what: str, declare: str) -> Finding:
    """One finding for several arguments with the same fault, at the first of them."""
    return subject.find(rule, listed[0].pointer, f"{_listed(listed)}: {what}", f"declare {declare}")


CHECKS = (missing_format, id_as_number, default_acts, widening_flag, self_confirmation, secret_argument)

__all__ = ["CHECKS", "DECIDING", "form_of", "is_secret", "widens"]
