"""The format of rules files, as one table: the loader reads by it and the published JSON Schema is made of it."""

from __future__ import annotations

from typing import get_args

from preflight.model.channel import CHANNELS
from preflight.model.rules import (
    EFFECTS,
    UNATTENDED,
    ConditionCheck,
    DeclaredBy,
    Misfire,
    Role,
    Unconfirmed,
    ValueType,
    Via,
)
from preflight.model.slot import SOURCES
from preflight.rules.kinds import (
    Anything,
    Choice,
    Constant,
    Duration,
    Flag,
    Key,
    Kind,
    ListOf,
    MapOf,
    Number,
    Record,
    Text,
)

VERSION = 1
TYPES = get_args(ValueType)

_ID = Text("an id of letters, digits, `_`, `-`, `:` and `.`", r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}")
POINTER_FORM = r"(?:/(?:[^~/]|~0|~1)*)*"
_POINTER = Text("a JSON Pointer, empty or beginning with `/`", POINTER_FORM, empty=True)
_NAME = Text("a name")
_MOMENT = Text(
    "a time with its offset, like `2026-11-30T09:00:00+01:00`",
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:Z|[+-][0-9]{2}:[0-9]{2})",
)
_SENTENCE = Text("a sentence")


def _keys(*rows: tuple[str, Kind, str] | tuple[str, Kind, str, bool]) -> dict[str, Key]:
    return {row[0]: Key(*row[1:]) for row in rows}


REFERENCE = Record(
    "a reference",
    _keys(
        ("measure", _NAME, "the measure that returns the rows", True),
        ("rows", _POINTER, "pointer from the measured value to the list of rows; empty: the value is the list"),
        ("match", _POINTER, "pointer from a row to the text that must stand in the user's words", True),
        ("value", _POINTER, "pointer from a row to the slot's value", True),
        ("argument", _NAME, "the argument of the measure that takes the user's words"),
    ),
)
MEMBERS = Record(
    "a set of members",
    _keys(
        ("measure", _NAME, "the measure that returns the set", True),
        ("rows", _POINTER, "pointer from the measured value to the rows; empty: the value is the list"),
        ("value", _POINTER, "pointer from a row to the member; empty: the row is the member"),
    ),
)
FIELD = Record(
    "a field",
    _keys(
        ("role", Choice(get_args(Role)), "what the field is; it sets how the user's words may support it"),
        ("sources", ListOf(Choice(SOURCES), least=1), "where it may be looked up; all five when left out"),
        ("derivations", ListOf(_NAME), "the rules that may derive it from the user's words; none: stated only"),
        ("unconfirmed", Choice(get_args(Unconfirmed)), "what becomes of an optional value that no source confirms"),
        ("synonyms", MapOf(ListOf(_NAME), "a value"), "other words by which users name a value"),
        ("labels", MapOf(_NAME, "a value"), "the name under which users see a value"),
        ("unit", _NAME, "the unit in which the tool counts"),
        ("locale", _NAME, "the locale in which users write this field"),
        ("may_share", Flag(), "whether the same words may also support another argument"),
        ("secret", Flag(), "masked wherever it leaves, encrypted where it is stored"),
        ("carry", Duration(), "the value of the last executed run may be taken over for so long"),
        ("pending_at_trigger", Flag(), "may stay open until a deferred run fires"),
        ("confirm", Flag(), "the user approves the value shown"),
        ("measure", _NAME, "the measure that gives its value"),
        ("reference", REFERENCE, "how the user's words select a measured row"),
        ("members", ListOf(MEMBERS, distinct=False, least=1), "measured sets of which any member is accepted"),
    ),
)
MCP = Record("an MCP read", _keys(("server", _NAME, "the server", True), ("tool", _NAME, "its read tool", True)))
SQL = Record(
    "an SQL read",
    _keys(
        ("database", _NAME, "the name under which the program knows the database", True),
        ("query", Text("one SQL query"), "one query that only reads, with named parameters", True),
    ),
)
MEASURE = Record(
    "a measure",
    _keys(
        ("mcp", MCP, "called as an MCP tool that only reads"),
        ("http", Text("an http or https address", r"https?://[^\s]+"), "fetched with GET; arguments go in the query"),
        ("sql", SQL, "one query"),
        ("python", Text("`module:function`", r"[A-Za-z_][\w.]*:[A-Za-z_]\w*"), "a function of the program"),
        ("given", Constant(value=True), "the program hands it over in `measured_data`"),
        ("arguments", MapOf(Anything(), "an argument"), "sent as they are; `{slot: NAME}` takes a confirmed value"),
        ("pointer", _POINTER, "pointer from the result to the value"),
        ("type", Choice(TYPES), "the value's type; expressions are checked against it"),
        ("max_age", Duration(), "a measurement older than this counts no more"),
        ("timeout", Duration(), "how long one read may take; 10s when left out"),
    ),
    one_of=get_args(Via),
)
CONDITION = Record(
    "a condition",
    _keys(
        ("id", _ID, "its name, once in a tool", True),
        ("expression", Text("an expression in CEL"), "an expression in CEL that is true when it holds"),
        ("measure", _NAME, "a measure whose value is exactly true when it holds"),
        ("confirmation", _SENTENCE, "what the user confirms in this run"),
        ("declared_by", Choice(get_args(DeclaredBy)), "who declares it: organisation when left out"),
        ("on_unmet", Choice(("hold",)), "what happens when it does not hold; nothing else is possible"),
        ("description", _SENTENCE, "what it is for"),
        ("message", _SENTENCE, "what people read when it does not hold"),
        ("max_age", Duration(), "measured again at the start of the call when older than this"),
    ),
    one_of=get_args(ConditionCheck),
)
LIMIT = Record(
    "a limit",
    _keys(
        ("id", _ID, "its name, once in a tool", True),
        ("kind", Choice(("sum", "count", "rate")), "sum of a field, or number of calls (count, rate)", True),
        ("field", _NAME, "the field whose values are added up"),
        ("at_most", Number(least=0), "the most that may be executed in the window, this call included", True),
        ("window", Duration(), "how far back it looks", True),
        ("per", Choice(("user", "tenant", "key")), "whose calls count together: the user's when left out"),
        ("declared_by", Choice(("organisation", "user")), "who declares it"),
        ("message", _SENTENCE, "what people read when it is reached"),
    ),
)
DEFERRAL = Record(
    "what becomes of deferred runs",
    _keys(
        ("misfire", Choice(get_args(Misfire)),
         "what becomes of a run whose time passed while nobody looked; irreversible tools: hold, else run_once"),
        ("missed_after", Duration(), "how late a run counts as missed: 5m when left out"),
        ("unresolved", Choice(("hold", "skip")),
         "what becomes of a run that may not start when it fires: hold when left out"),
    ),
)  # fmt: skip
BY_EFFECT = Record(
    "what calls may do that nobody attends",
    _keys(
        ("reversible", Choice(UNATTENDED), "what can be undone: run when left out"),
        ("irreversible", Choice(UNATTENDED),
         "what cannot: park when left out. `run` does not reach tools that are not listed"),
    ),
)  # fmt: skip
ASK_BY = Record(
    "the channels",
    _keys(
        ("reversible", Choice(CHANNELS), "for what can be undone: form when left out"),
        ("irreversible", Choice(CHANNELS), "for what cannot: program when left out, and never less than the other"),
    ),
)
TRIGGER = Record(
    "a trigger",
    _keys(
        ("phrases", ListOf(_NAME), "what users say when they mean it"),
        ("event", _NAME, "the name under which `preflight event` reports it"),
        ("match", MapOf(Anything(), "a key of the event"), "values that the event must have"),
        ("expression", Text("an expression in CEL"), "an expression in CEL that is true once it has come"),
        ("poll", Duration(), "how often the expression is looked at: 60s when left out"),
        ("deadline", Duration(), "how long it is waited for: 30d when left out"),
    ),
    one_of=("event", "expression"),
)
_MEASURES = Key(MapOf(MEASURE, "a measure's name"), "measures by name")
TOOL = Record(
    "a tool",
    _keys(
        ("effect", Choice(EFFECTS), "what a call does: irreversible when left out"),
        ("forbidden", Flag(), "whether every call is held, whoever asks for it"),
        ("intents", ListOf(_NAME), "what users call it"),
        ("changes", ListOf(_NAME), "the changes of state it makes: create, update, delete, send, ..."),
        ("fields", MapOf(FIELD, "a field's name", empty_name=True), "rules by field; below the root: `recipient/iban`"),
        ("conditions", ListOf(CONDITION, distinct=False), "what must hold when the call starts"),
        ("limits", ListOf(LIMIT, distinct=False), "how much may be executed in a window of time"),
        ("confirm", ListOf(Text("a field", empty=True)), "fields whose value the user approves when shown"),
        ("notices", ListOf(_SENTENCE), "text that is shown before the call"),
        ("trust_labels", Flag(), "whether the server's own labels and checklist add conditions"),
        ("pin", Text("a fingerprint of 64 hex digits", r"[0-9a-f]{64}"), "the accepted fingerprint of the tool"),
        ("constants_are_known", Flag(), "whether a `const` of the schema counts as known"),
        ("value_asks", Number(least=1, most=10, whole=True), "asks for one slot before it holds: 2 when left out"),
        ("decision_lifetime", Duration(), "how long a decision may be started: 60s when left out"),
        ("settle", _NAME, "the measure that says whether a call in doubt took effect: true or false"),
        ("deferral", DEFERRAL, "what becomes of its deferred runs when they fire"),
        ("unattended", Choice(UNATTENDED), "what a call may do that nobody attends: as its effect says, when left out"),
        ("ask_by", Choice(CHANNELS), "the least channel by which answers count; that of its effect when left out"),
    )
    | {"measures": _MEASURES},
)
SERVER = Record(
    "a server",
    _keys(
        ("trust_labels", Flag(), "for every tool of the server that does not say otherwise"),
        ("tools", MapOf(TOOL, "a tool's name"), "rules by tool, as the server lists it"),
    )
    | {"measures": _MEASURES},
)
SETTING = Record(
    "a setting",
    _keys(
        ("value", Anything(), "the value", True),
        ("approved_by", _NAME, "the user who approved it: nobody else can", True),
        ("approved_at", _MOMENT,
         "when it was approved", True),
    ),
)  # fmt: skip
ITEM = Record(
    "an item of the checklist",
    _keys(("id", _ID, "its name, once in the list", True), ("description", _SENTENCE, "what is to be verified", True)),
)
_OVERRIDES = Key(MapOf(SERVER, "a server's name", empty_name=True), "rules that only tighten those of the tools")
USER = Record(
    "a user",
    _keys(
        ("checklist", ListOf(ITEM, distinct=False), "what must be verified before every call"),
        ("settings", MapOf(SETTING, "a setting's name", empty_name=True), "values the user approved"),
        ("conditions", ListOf(CONDITION, distinct=False), "what must hold before every call"),
    )
    | {"servers": _OVERRIDES},
)
ORGANISATION = Record(
    "an organisation",
    _keys(
        ("conditions", ListOf(CONDITION, distinct=False), "what must hold before every call of its users"),
        ("users", MapOf(USER, "a user's id"), "its users"),
    )
    | {"servers": _OVERRIDES},
)
ROOT = Record(
    "a rules file",
    _keys(
        ("version", Constant(VERSION), "the version of the format: 1", True),
        ("include", ListOf(Text("a relative path")), "other files, relative to this one"),
        (
            "servers",
            MapOf(SERVER, "a server's name", empty_name=True),
            'rules by server and tool; `""` for tools without a server',
        ),
        ("ask_by", ASK_BY, "the least channel by which answers count, by the tool's effect"),
        ("triggers", MapOf(TRIGGER, "a trigger's name"), "what deferred runs may wait for, by name"),
        ("unattended", BY_EFFECT, "what calls may do that nobody attends, where a tool does not say otherwise"),
        ("organisations", MapOf(ORGANISATION, "an organisation's id"), "by tenant"),
        ("users", MapOf(USER, "a user's id"), "users outside any organisation"),
    )
    | {"measures": _MEASURES},
)
