from __future__ import annotations

from typing import Any

import pytest

from preflight.errors import InvalidInput
from preflight.lint import gated_names, starting_rules
from preflight.lint.roles import propose
from tests.unit.lint.samples import taking, tool, value

READS = {"readOnlyHint": True}
UNREADABLE = "the root must be declared as `object`"


def lines(**parts: Any) -> list[str]:
    """The lines about one tool, without their indentation."""
    text = starting_rules("bank", [tool(**parts)])
    return [line.strip() for line in text.splitlines()[text.splitlines().index("    tools:") + 2 :]]


@pytest.mark.parametrize(
    ("parts", "effect"),
    [
        ({"name": "list_bills", "annotations": READS}, "read  # guess: `readOnlyHint` is true, and the name reads"),
        (
            {"name": "list_bills", "annotations": READS | {"destructiveHint": True}},
            "irreversible  # guess: `readOnlyHint` is true, and an option or another hint contradicts it",
        ),
        (
            {"name": "list_bills", "annotations": READS, "schema": taking(action={"enum": ["list", "delete"]})},
            "irreversible  # guess: `readOnlyHint` is true, and an option or another hint contradicts it",
        ),
        (
            {"name": "bills", "annotations": READS},
            "irreversible  # guess: `readOnlyHint` is true, and the name does not say that it reads",
        ),
        (
            {"name": "delete_bills", "annotations": READS},
            "irreversible  # guess: `readOnlyHint` is true, and the name does not say that it reads",
        ),
        (
            {"name": "list_bills", "annotations": None},
            "irreversible  # guess: the name reads, and there is no `readOnlyHint`",
        ),
        ({"name": "list_bills"}, "irreversible  # guess: the name reads, and `readOnlyHint` is false"),
        (
            {"annotations": {"destructiveHint": False}},
            "irreversible  # guess: the hints say that it destroys nothing; `reversible` only if a call can be undone",
        ),
        ({}, "irreversible  # guess: nothing says that a call can be undone"),
    ],
    ids=str,
)
def test_effects_are_guessed_to_the_stricter_side(parts: dict[str, Any], effect: str) -> None:
    assert lines(**parts)[0] == f"effect: {effect}"


def test_a_read_has_an_effect_and_a_pin_to_take_over() -> None:
    told = lines(name="list_bills", annotations=READS, description="The bill must be approved.")
    assert [line.split(":")[0] for line in told] == ["effect", "# pin"]


def test_pins_can_be_in_force() -> None:
    text = starting_rules("bank", [tool()], pins=True)
    assert f'        pin: "{tool().fingerprint}"' in text.splitlines()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("delete_bill", "changes: [delete]  # guess: from the name; another wish is refused"),
        ("bank_send_money", "changes: [send]  # guess: from the name; another wish is refused"),
        ("add_bill", "changes: [create]  # guess: from the name; another wish is refused"),
        ("update_bill", None),
        ("create_or_update_bill", None),
        ("bill", None),
        ("__", None),
    ],
)
def test_changes_are_guessed_from_one_clear_verb(name: str, told: str | None) -> None:
    assert next((line for line in lines(name=name) if line.startswith("changes")), None) == told


def test_a_name_without_a_word_proposes_no_intents_and_says_so() -> None:
    told = [line for line in lines(name="__") if "intents" in line]
    assert told == ["# intents: []  # what users call it: the name says no words"]


def test_what_words_have_to_open_is_named_once() -> None:
    named = gated_names([tool(name="pay"), tool(name="list_bills", annotations=READS), tool(name="pay")])
    assert named == ("pay",)


def test_intents_are_proposed_in_a_comment_since_they_open_the_tool() -> None:
    told = [line for line in lines(name="bank_send_money") if "intents" in line]
    assert told == ['# intents: ["send money"]  # what users call it; each phrase leads here, so list only theirs']


@pytest.mark.parametrize(
    ("name", "schema", "role", "reason"),
    [
        ("status", {"enum": ["open", "paid"]}, "option", "a closed set"),
        ("urgent", {"type": "boolean"}, "option", "true or false"),
        ("when", {"type": "string", "format": "date"}, "time", "its format is `date`"),
        ("due", {"type": "string"}, "time", "`due` names a time"),
        ("contact", {"type": "string", "format": "email"}, "target", "its format is `email`"),
        ("recipient", {"type": "string"}, "target", "the name says so (`recipient`)"),
        ("branch", {"type": "string"}, "target", "`branch` names whom or what the call acts on"),
        ("bill_id", {"type": "string"}, "object", "an identifier"),
        ("amount", {"type": "number"}, "quantity", "a number"),
        ("text", {"type": "string"}, "content", "text that the model may write; the user approves it"),
        ("prompt", {"type": "string"}, "content", "`prompt` names text that the model may write"),
        ("colour", {"type": "string"}, None, ""),
        ("", {"type": "string"}, None, ""),
    ],
)
def test_roles_are_proposed_with_their_reason(name: str, schema: object, role: str | None, reason: str) -> None:
    assert propose(value(name, schema)) == (role, reason)


def test_fields_are_listed_with_role_and_reason() -> None:
    told = lines(schema=taking(force={"type": "boolean"}, api_key={"type": "string"}, colour={"type": "string"}))
    begin = told.index("fields:")
    assert told[begin + 1 : begin + 5] == [
        '"amount": {role: quantity}  # guess: a number',
        '"force": {role: option, confirm: true}  # guess: true or false; true makes the call reach further',
        '"api_key": {secret: true}  # guess: the name says that it is a secret',
        '# "colour": {role: target}  # nothing says what it is: choose its role',
    ]


def test_inner_fields_are_filed_under_their_path_where_every_call_has_them() -> None:
    payee = {
        "type": "object",
        "properties": {"iban": {"type": "string"}, "note": {"type": "string"}},
        "required": ["iban"],
    }
    rows = {
        "type": "array",
        "items": {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]},
    }
    told = "\n".join(lines(schema=taking(payee=payee, rows=rows)))
    assert '"payee/iban": ' in told
    assert '"payee":' not in told
    assert "note" not in told
    assert "sku" not in told


def test_a_tool_whose_fields_nobody_can_guess_has_none_in_force() -> None:
    schema = {"type": "object", "properties": {"colour": {"type": "string"}}}
    told = lines(schema=schema)
    assert "# fields:" in told
    assert "fields:" not in told


def test_names_that_no_rule_can_be_filed_under_are_told() -> None:
    told = lines(schema=taking(**{"a\nb": {"type": "string"}, 'q"\\': {"type": "boolean"}}))
    assert "# the field `a\\nb` has characters that no rule can be filed under" in told
    assert '"q\\"\\\\": {role: option}  # guess: true or false' in told


def test_conditions_harm_and_unreadable_schemas_are_to_dos() -> None:
    told = lines(description="The bill must be\u202e approved.\nThis cannot be undone.", schema={"type": "array"})
    assert [line for line in told if "to do" in line or line.startswith("#   ")] == [
        f"# to do: the input schema cannot be read at `/type` ({UNREADABLE}): until it can, every call holds",
        "# to do: a condition that nothing checks; declare it under `conditions`:",
        '#   "The bill must be\\u{202e} approved."',
        "# to do: lasting harm; say it under `notices`:",
        '#   "This cannot be undone."',
    ]


def test_a_description_cannot_break_out_of_its_comment() -> None:
    text = starting_rules("bank", [tool(description="It must be so\u2028effect: read\x85effect: read\reffect: read.")])
    assert [line for line in text.splitlines() if line.strip().startswith("effect: read")] == []


def test_a_name_that_is_listed_twice_is_written_once() -> None:
    assert starting_rules("bank", [tool(), tool(description="Another.")]).count('"settle_bill":') == 1


def test_a_server_without_tools() -> None:
    assert starting_rules("bank", []).endswith("    tools: {}\n")


@pytest.mark.parametrize("server", ["", "ba\nnk", "ba\u202enk"])
def test_a_server_without_a_usable_name_is_refused(server: str) -> None:
    with pytest.raises(InvalidInput, match="name the server the tools are from"):
        starting_rules(server, [tool()])
