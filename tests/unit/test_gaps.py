from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from preflight.core.schema.shape import NOT_CONFIRMED, UNDECLARED
from preflight.gaps import DefinitionGap, GapReport, InstructionGap, as_json, gaps, provider_page, text
from preflight.model.condition import ConditionState
from preflight.model.decision import BranchQuestion, Diagnostics, Gate, UnknownField
from preflight.model.record import Record, ToolRef
from preflight.model.request import Scope
from preflight.model.slot import DroppedClaim, FieldState
from preflight.model.tool import Tool
from preflight.storage.samples import MORNING, sample_decision, sample_slot, sample_step

SECRET = "Minji Kim, 110-234-567890"
UNKNOWN_AMOUNT = (UnknownField("amount", SECRET, "ask_user"),)


def decision(record_id: str = "d1", state: Any = "hold", gate: Gate | None = None, **changes: Any) -> Record:
    return sample_decision(record_id, state, gate=gate, call_id=changes.pop("call_id", "call"), **changes)


def asked(record_id: str, *fields: UnknownField, **changes: Any) -> Record:
    return decision(record_id, "ask_user", Gate("value_gate", unknown_fields=fields or UNKNOWN_AMOUNT), **changes)


def repaired(name: str, *, failed: bool = False) -> FieldState:
    return FieldState(
        name, "unknown", None, None, MORNING, note=SECRET, route="definition_repair", lookup_failed=failed
    )


def held_for(kind: Any, **parts: Any) -> Record:
    return decision(gate=Gate(kind, **parts), fields=None)


def instruction(*records: Record) -> list[InstructionGap]:
    return list(gaps(records).instruction)


def definition(*records: Record) -> list[DefinitionGap]:
    return list(gaps(records).definition)


def test_no_records() -> None:
    assert gaps([]) == GapReport(0, None, None, (), ())


def test_decisions_are_counted_with_their_first_and_last_time() -> None:
    later = "2026-03-02T09:00:00+00:00"
    report = gaps([decision("d2", timestamp=later), decision("d1")])
    assert (report.decisions, report.since, report.until) == (2, MORNING, later)


def test_steps_of_an_execution_are_no_decisions() -> None:
    first = asked("d1")
    assert gaps([first, sample_step(first, "executing"), sample_step(first, "executed")]).decisions == 1


# What users leave out.


def test_a_field_is_counted_by_call_and_ask() -> None:
    records = [
        asked("d1"),
        asked("d2"),
        asked("d3", call_id="other"),
        asked("d4", call_id=None),
        asked("d5", call_id=None),
    ]
    assert instruction(*records) == [InstructionGap("bank", "transfer", "value", "amount", 4, 5, 0, 0)]


def test_the_same_call_id_in_another_conversation_is_another_call() -> None:
    (gap,) = instruction(asked("d1"), asked("d2", scope=Scope("tenant", "other")))
    assert (gap.calls, gap.asked) == (2, 2)


@pytest.mark.parametrize("order", [1, -1], ids=["oldest first", "newest first"])
def test_an_answer_counts_once_for_its_call(order: int) -> None:
    said = (sample_slot("amount", "user_answer"),)
    records = [
        asked("d1"),
        decision("d2", "execute", fields=said),
        decision("d3", "execute", fields=(), extra_fields=said),
    ]
    (gap,) = instruction(*records[::order])
    assert (gap.calls, gap.answered) == (1, 1)


def test_an_answer_that_there_is_none_is_an_answer() -> None:
    none = (FieldState("amount", "null", "user_answer", "user_answer", MORNING, None),)
    assert instruction(asked("d1"), decision("d2", "execute", fields=none))[0].answered == 1


@pytest.mark.parametrize(
    "later",
    [
        decision("d2", "execute", fields=(sample_slot("amount", "user_answer"),), call_id="other"),
        decision("d2", "execute", fields=(sample_slot("amount", "instruction"),)),
        decision("d2", "execute", fields=(sample_slot("other", "user_answer"),)),
    ],
    ids=["another call", "another source", "another field"],
)
def test_what_is_no_answer_to_the_question(later: Record) -> None:
    assert [gap.answered for gap in instruction(asked("d1"), later)] == [0]


def test_a_field_is_exhausted_where_it_had_been_asked() -> None:
    both = (*UNKNOWN_AMOUNT, UnknownField("to", None, "ask_user"), UnknownField("memo", None, "system_lookup"))
    found = instruction(asked("d1"), decision("d2", gate=Gate("value_exhausted", unknown_fields=both)))
    assert found == [InstructionGap("bank", "transfer", "value", "amount", 1, 1, 0, 1)]


def test_an_exhausted_field_without_a_call_counts_by_itself() -> None:
    alone = decision("d1", gate=Gate("value_exhausted", unknown_fields=UNKNOWN_AMOUNT), call_id=None)
    assert instruction(alone) == [InstructionGap("bank", "transfer", "value", "amount", 0, 0, 0, 1)]


def test_elements_of_a_list_are_one_field() -> None:
    items = [UnknownField(f"items/{number}/sku", None, "ask_user") for number in (0, 1, 12)]
    assert [(gap.field, gap.asked) for gap in instruction(asked("d1", *items))] == [("items/*/sku", 1)]


def test_the_act_itself_can_be_left_out() -> None:
    records = [
        decision("d1", "ask_user", Gate("intent_undetermined"), fields=None),
        decision("d2", gate=Gate("intent_undetermined_exhausted"), fields=None),
    ]
    assert instruction(*records) == [InstructionGap("bank", "transfer", "act", "", 1, 1, 0, 1)]


def test_alternatives_can_be_left_open() -> None:
    branch = BranchQuestion("/payees/3", "branch_unresolved", (("iban",), ("phone",)))
    gate = Gate("value_gate", unknown_fields=(), branches=(branch,))
    (gap,) = instruction(decision("d1", "ask_user", gate))
    assert (gap.left, gap.field) == ("branch", "/payees/*")


def test_what_only_systems_know_is_no_instruction_gap() -> None:
    assert instruction(asked("d1", UnknownField("rate", None, "system_lookup"))) == []


def test_gaps_are_ordered_by_how_often_and_the_same_each_time() -> None:
    memo = UnknownField("memo", None, "ask_user")
    records = [asked("d1"), asked("d2"), asked("d3", memo), asked("d4", UnknownField("a", None, "ask_user"))]
    assert [gap.field for gap in instruction(*records)] == ["amount", "a", "memo"]
    assert instruction(*reversed(records)) == instruction(*records)


# What is not declared.

DEFINITIONS = {
    "schema": (
        held_for("schema_unsupported", payload_errors=("`/properties/to/$ref`: `$ref` is not local",)),
        ("schema_unsupported", "/properties/to/$ref", "`$ref` is not local"),
    ),
    "payload": (
        held_for("payload_invalid", payload_errors=("`/items/2/sku`: a required property is missing",)),
        ("payload_invalid", "/items/*/sku", "a required property is missing"),
    ),
    "payload without a reason": (held_for("payload_invalid"), ("payload_invalid", "", "no reason was recorded")),
    "tool": (
        held_for("tool_undetermined", diag=Diagnostics(user_action=SECRET)),
        ("tool_undetermined", "", "it was not settled that the tool does what the user meant"),
    ),
    "tool, after asking": (
        held_for("tool_undetermined_exhausted"),
        ("tool_undetermined", "", "it was not settled that the tool does what the user meant"),
    ),
    "hook": (
        held_for("hook_failed", diag=Diagnostics(hook="classify_when_case", fault=SECRET)),
        ("hook_failed", "classify_when_case", "a hook failed where nothing may stand in for it"),
    ),
    "hook without a name": (
        held_for("action_key_failed"),
        ("hook_failed", "", "a hook failed where nothing may stand in for it"),
    ),
    "field": (
        decision(fields=(repaired("rows/4/code"),)),
        ("field_undeclared", "rows/*/code", "nothing says where the value may come from, or how to read it"),
    ),
    "optional field": (
        decision(fields=(), extra_fields=(repaired("code"),)),
        ("field_undeclared", "code", "nothing says where the value may come from, or how to read it"),
    ),
    "field whose lookup failed": (
        decision(fields=(repaired("code", failed=True),)),
        ("hook_failed", "code", "a lookup of the field failed"),
    ),
    "claim": (
        decision(dropped_claims=(DroppedClaim("cc", SECRET, UNDECLARED),)),
        ("undeclared_claim", "cc", "models propose an argument that the schema does not declare"),
    ),
    "labels": (
        decision(
            conditions=(
                ConditionState(
                    "provider_checklist", "provider", "unknown", MORNING, note=SECRET, route="definition_repair"
                ),
            )
        ),
        ("declarations_unreadable", "", "labels or the declared checklist cannot be read"),
    ),
    "condition": (
        decision(
            conditions=(
                ConditionState("cap", "organisation", "unknown", MORNING, note=SECRET, route="definition_repair"),
            )
        ),
        ("condition_unreadable", "cap", "a condition of the organisation cannot be evaluated"),
    ),
}


@pytest.mark.parametrize(("record", "gap"), DEFINITIONS.values(), ids=DEFINITIONS)
def test_what_a_definition_lacks(record: Record, gap: tuple[str, str, str]) -> None:
    assert definition(record) == [DefinitionGap("bank", "transfer", *gap, 1, 1)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "record",
    [
        decision(gate=None),
        decision(gate=Gate("value_gate", unknown_fields=UNKNOWN_AMOUNT)),
        decision(dropped_claims=(DroppedClaim("cc", SECRET, NOT_CONFIRMED),)),
        decision(conditions=(ConditionState("cap", "user", "unknown", MORNING, route="ask_user"),)),
        decision(conditions=(ConditionState("cap", "user", "unmet", MORNING),)),
        decision(fields=(sample_slot("amount", None),)),
    ],
    ids=["none", "asked", "left out", "to confirm", "unmet", "unknown"],
)
def test_what_is_no_definition_gap(record: Record) -> None:
    assert definition(record) == []


def test_a_gap_counts_decisions_and_users() -> None:
    dropped = (DroppedClaim("cc", 1, UNDECLARED), DroppedClaim("cc", 2, UNDECLARED))
    records = [decision(f"d{n}", user_id=user, dropped_claims=dropped) for n, user in enumerate(("a", "b", "a"))]
    assert [(gap.decisions, gap.users) for gap in definition(*records)] == [(3, 2)]


def test_a_record_without_a_tool_has_a_gap_too() -> None:
    (gap,) = definition(msgspec.structs.replace(held_for("hook_failed"), tool=None))
    assert (gap.server, gap.tool) == ("", "")


# Text and JSON.

EVERYTHING = [
    asked("a1"),
    asked("a2", call_id="two"),
    decision("a3", "execute", fields=(sample_slot("amount", "user_answer"),)),
]
EVERYTHING += [
    msgspec.structs.replace(record, record_id=name, decision_id=name) for name, (record, _) in DEFINITIONS.items()
]
EVERYTHING += [
    decision("a4", "ask_user", Gate("intent_undetermined"), fields=None),
    decision("a5", "ask_user", Gate("value_gate", branches=(BranchQuestion("/p", "branch_conflict", ()),))),
]


def test_text() -> None:
    told = text(gaps(EVERYTHING))
    assert told.startswith(f"{len(EVERYTHING)} decisions from {MORNING} to {MORNING}\n")
    assert "  bank/transfer: `amount`: asked 2 in 2 calls, answered in 1, exhausted in 0\n" in told
    assert "  bank/transfer: what to do, or when: asked 1 in 1 calls" in told
    assert "  bank/transfer: which alternative at `/p`: asked 1" in told
    assert "  bank/transfer: undeclared_claim `cc` (provider): models propose an argument" in told
    assert "  bank/transfer: condition_unreadable `cap` (adopter): " in told


def test_text_of_nothing() -> None:
    assert text(gaps([])) == (
        "0 decisions\n\ninstruction gaps: what users leave out\n  none\n\n"
        "action definition gaps: what is not declared\n  none\n"
    )


def test_text_without_a_server_or_a_tool() -> None:
    local = held_for("tool_undetermined", diag=Diagnostics())
    assert "  tra\\u{202e}nsfer: tool_undetermined" in text(
        gaps([msgspec.structs.replace(local, tool=ToolRef("", "tra\u202ensfer", "f"))])
    )
    assert "  (no tool): tool_undetermined" in text(gaps([msgspec.structs.replace(local, tool=None)]))
    assert text(gaps([local])).startswith("1 decision from ")


def test_json() -> None:
    read = json.loads(as_json(gaps([asked("d1"), DEFINITIONS["claim"][0]])))
    assert read["decisions"] == 2
    assert read["instruction"] == [
        {
            "server": "bank", "tool": "transfer", "left": "value", "field": "amount",
            "calls": 1, "asked": 1, "answered": 0, "exhausted": 0,
        }
    ]  # fmt: skip
    assert [gap["kind"] for gap in read["definition"]] == ["undeclared_claim"]


# The page for a provider.


def test_no_value_user_or_word_is_in_any_form() -> None:
    report = gaps(EVERYTHING)
    for told in (text(report), as_json(report), provider_page(report, "bank")):
        assert "Minji" not in told
        assert "u_01" not in told
        assert "110" not in told


def test_the_page_tells_what_is_not_declared_and_what_helps() -> None:
    page = provider_page(gaps(EVERYTHING), "bank")
    assert page.startswith("# What calls to bank were missing\n")
    assert "## transfer\n" in page
    assert (
        "| \\`$ref\\` is not local | `/properties/to/$ref` | 1 "
        "| Declare the arguments in plain JSON Schema 2020-12 with local references. |"
    ) in page
    assert "| `amount` | 2 | 2 | 1 |" in page
    assert "hook" not in page
    assert "cap" not in page


def test_a_name_that_no_schema_declares_needs_two_users() -> None:
    def dropped(record_id: str, user: str, name: str) -> Record:
        return decision(record_id, user_id=user, dropped_claims=(DroppedClaim(name, 1, UNDECLARED),))

    lone = provider_page(gaps([dropped("d1", "a", "minji_kim"), dropped("d2", "a", "minji_kim")]), "bank")
    assert "minji" not in lone
    assert "| `*` | 2 |" in lone
    two = gaps(
        [
            dropped("d1", "a", "cc"),
            dropped("d2", "b", "cc"),
            dropped("d3", "a", "pay Minji"),
            dropped("d4", "b", "pay Minji"),
        ]
    )
    page = provider_page(two, "bank")
    assert "| `cc` | 2 |" in page
    assert "Minji" not in page
    assert "| `*` | 2 |" in page


def test_keys_of_free_objects_are_data_and_inner_names_need_the_definition() -> None:
    fields = [UnknownField(name, None, "ask_user") for name in ("payee/iban", "notes/minji", "notes/bo")]
    report = gaps([asked("d1", *fields)])
    schema = {"type": "object", "properties": {"payee": {"type": "object", "properties": {"iban": {"type": "string"}}}}}
    transfer = Tool.from_mcp({"name": "transfer", "inputSchema": schema}, server="bank")
    page = provider_page(report, "bank", [transfer])
    assert "| `payee/iban` | 1 | 1 | 0 |" in page
    assert "| `notes/*` | 2 | 2 | 0 |" in page
    assert "minji" not in page
    assert "iban" not in provider_page(report, "bank")


def test_the_page_of_another_provider_has_nothing() -> None:
    assert provider_page(gaps(EVERYTHING), "shop").endswith("\nNothing was missing.\n")


def test_each_tool_has_its_part() -> None:
    other = asked("d2", UnknownField("place", None, "ask_user"), tool=ToolRef("bank", "book", "f" * 64))
    page = provider_page(gaps([asked("d1"), other]), "bank")
    book, transfer = page.split("## book")[1].split("## transfer")
    assert ("`place`" in book, "`amount`" in book) == (True, False)
    assert ("`place`" in transfer, "`amount`" in transfer) == (False, True)


def test_a_tool_that_only_asks_has_no_table_of_definitions() -> None:
    page = provider_page(gaps([asked("d1")]), "bank")
    assert "what is not declared" not in page
    assert "| `amount` | 1 | 1 | 0 |" in page


def test_foreign_text_cannot_break_the_page() -> None:
    odd = held_for("payload_invalid", payload_errors=("`/a|b`c`: x | <b>",))
    page = provider_page(gaps([odd]), "bank")
    assert "| x \\| \\<b\\> | " in page
    assert "| `/abc` | 1 |" in page
