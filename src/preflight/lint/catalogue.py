"""Every rule of the linter, as one table: identifiers never change their meaning once released."""

from __future__ import annotations

from types import MappingProxyType

from preflight.lint.finding import Rule

_TABLE = (
    # The entry itself.
    Rule("PF001", "unusable-entry", "error", "an entry of the list is no usable tool definition", "it is refused"),
    Rule("PF002", "no-description", "warning", "no description", "neither people nor models can tell what it does"),
    Rule(
        "PF003", "duplicate-name", "error", "two tools of one server share a name", "a call cannot say which is meant"
    ),
    Rule(
        "PF004", "name-on-two-servers", "warning", "tools of two servers share a name", "one can stand in for the other"
    ),
    # The input schema.
    Rule("PF010", "schema-unsupported", "error", "the input schema cannot be turned into slots", "every call holds"),
    Rule("PF011", "nothing-required", "warning", "an acting tool requires no argument", "it acts on what nobody named"),
    Rule(
        "PF012", "free-form-object", "warning", "an object without declared members", "nothing in it can be confirmed"
    ),
    Rule("PF013", "untyped", "warning", "a value without a type", "nothing says how to read it in the user's words"),
    Rule("PF014", "missing-format", "note", "a name promises a form that the schema does not declare", "any text fits"),
    Rule("PF015", "id-as-number", "note", "an identifier is a JSON number", "large ones lose digits on the way"),
    Rule(
        "PF016", "default-acts", "warning", "a default decides what is acted on", "the server fills in what nobody said"
    ),
    Rule("PF017", "widening-flag", "note", "a flag widens what the call does", "one word makes it reach further"),
    Rule("PF018", "self-confirmation", "warning", "an argument confirms the call", "the model that calls can set it"),
    Rule(
        "PF019", "secret-argument", "note", "an argument carries a secret", "it passes through the model and the logs"
    ),
    # The hints.
    Rule("PF020", "read-only-but-acts", "error", "`readOnlyHint` is true on a tool that acts", "clients let it pass"),
    Rule(
        "PF021",
        "harmless-but-destroys",
        "error",
        "`destructiveHint` is false on a tool that destroys",
        "no one is asked",
    ),
    Rule("PF022", "hints-missing", "note", "tools without `readOnlyHint`", "clients have only the name to go by"),
    Rule("PF023", "hint-malformed", "warning", "a hint is not true or false", "clients read it each in their own way"),
    Rule(
        "PF024", "mixed-effects", "note", "one option makes a tool read or act", "rules can only name the graver effect"
    ),
    Rule("PF025", "read-name-but-acts", "note", "the name reads, `readOnlyHint` is false", "the name hides an effect"),
    # The prose.
    Rule("PF030", "condition-in-prose", "warning", "a condition stands only in prose", "no program checks it"),
    Rule("PF031", "harm-in-prose", "warning", "lasting harm is told in prose, not in the hints", "no program sees it"),
    Rule(
        "PF032", "argument-rule-in-prose", "note", "a rule for an argument stands only in prose", "it is not validated"
    ),
    Rule("PF033", "label-unreadable", "warning", "a label cannot be read", "the call holds where labels are trusted"),
    # Text that works on the model.
    Rule("PF040", "injection", "error", "text that gives the model orders", "it tries to stand where the user stands"),
    Rule(
        "PF041", "steers-tools", "warning", "text that steers the choice of other tools", "it reaches past its own tool"
    ),
    Rule(
        "PF042", "hidden-characters", "error", "characters that nobody sees", "people and models read different texts"
    ),
    # Names.
    Rule("PF050", "confusable-tools", "error", "two tools whose names look alike", "people approve the wrong one"),
    Rule(
        "PF051",
        "confusable-arguments",
        "error",
        "two arguments whose names look alike",
        "a value goes to the wrong one",
    ),
    Rule(
        "PF052", "deceiving-name", "warning", "a name with letters that pass for others", "it can pass for another name"
    ),
)

RULES = MappingProxyType({rule.id: rule for rule in _TABLE})
"""The rules by identifier, in the order of the identifiers."""

__all__ = ["RULES"]
