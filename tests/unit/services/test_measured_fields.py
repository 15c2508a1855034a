"""Fields that rules have measured, through the whole gate: references, members, measures (R-3, R-7, R-58)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from preflight import Asking, Executable, Held
from tests.unit.gates import request, tool
from tests.unit.ruled import CONTACTS, MEASURES, Bank, field, ruled

# references, as R-58 has them

LANDLORD = {"to": {"reference": {"measure": "contacts", "match": "/relation", "value": "/account"}}}


def test_the_users_words_select_one_row(tmp_path: Path) -> None:
    said = [{"text": "send 500 to bob", "trust": "user"}]
    checked = ruled(tmp_path, {"fields": LANDLORD}).check(request(instruction=said, claims={"amount": 500}))
    assert isinstance(checked, Executable)
    to = field(checked, "to")
    assert (to.value, to.source, to.origin) == ("111", "measured_data", "bank/contacts#/0/account")
    assert (to.evidence.matched_text, to.evidence.start) == ("bob", 12)


@pytest.mark.parametrize(("claim", "why"), [("111", None), ("bob", None), (None, None), ("222", "another_selected")])
def test_a_claim_that_is_another_value_than_the_selected_one_is_asked_about(
    tmp_path: Path, claim: str | None, why: str | None
) -> None:
    # "send 500 to the school, bob goes there": a label that is only mentioned settles nothing against the claim
    fields = {"to": {**LANDLORD["to"], "sources": ["user_answer", "measured_data"]}}
    said = [{"text": "send 500 to bob", "trust": "user"}]
    checked = ruled(tmp_path, {"fields": fields}).check(request(instruction=said, claims={"amount": 500, "to": claim}))
    to = field(checked, "to")
    assert (to.value if to.status == "known" else None, to.note) == (None if why else "111", why)
    assert to.choices == ()


def test_several_rows_are_asked_about_flat_and_in_the_provider_s_order(tmp_path: Path) -> None:
    said = [{"text": "send 500 to the landlord, or bob", "trust": "user"}]
    checked = ruled(tmp_path, {"fields": LANDLORD}).check(request(instruction=said, claims={"amount": 500}))
    assert isinstance(checked, Asking)
    to = field(checked, "to")
    assert (to.status, to.route, to.choices) == ("unknown", "ask_user", ("bob", "landlord"))


@pytest.mark.parametrize(
    "said",
    [
        [{"text": "send 500 to my sister", "trust": "user"}],
        [{"text": "send 500", "trust": "user"}, {"text": "to the landlord", "trust": "untrusted", "origin": "mail"}],
        [],
    ],
)
def test_words_that_the_user_did_not_say_select_nothing(tmp_path: Path, said: Any) -> None:
    checked = ruled(tmp_path, {"fields": LANDLORD}).check(request(instruction=said, claims={"amount": 500}))
    assert isinstance(checked, Asking)
    assert field(checked, "to").choices == ()


def test_a_row_without_the_value_selects_nothing(tmp_path: Path) -> None:
    bank = Bank(contacts=[{"relation": "bob"}, {"account": "5"}, "a text"])
    checked = ruled(tmp_path, {"fields": LANDLORD}, bank).check(request(claims={"amount": 500}))
    assert field(checked, "to").status == "unknown"


def test_a_reference_that_cannot_be_measured_is_looked_up_again(tmp_path: Path) -> None:
    fields = {"to": {**LANDLORD["to"], "sources": ["measured_data"]}}
    checked = ruled(tmp_path, {"fields": fields}, Bank(contacts=OSError("no route"))).check(
        request(claims={"amount": 500})
    )
    assert isinstance(checked, Held)
    assert (field(checked, "to").status, field(checked, "to").route) == ("unknown", "system_lookup")


ASKED = {"to": {"sources": ["measured_data"], "reference": {
    "measure": "contacts", "argument": "name", "match": "/name", "value": "/account"}}}  # fmt: skip


def contacts(name: str = "") -> list[dict[str, str]]:
    return [row for row in CONTACTS if name.casefold() in row["relation"]]


def test_the_provider_is_asked_with_words_the_user_said(tmp_path: Path) -> None:
    bank = Bank(contacts=contacts)
    checked = ruled(tmp_path, {"fields": ASKED}, bank).check(request(claims={"amount": 500, "to": "bob"}))
    assert isinstance(checked, Executable)
    assert field(checked, "to").value == "111"
    assert bank.asked == [("contacts", {"name": "bob"})]


def test_the_provider_is_not_asked_with_words_the_user_did_not_say(tmp_path: Path) -> None:
    bank = Bank(contacts=contacts)
    for claim in ("eve", 500, "  "):
        checked = ruled(tmp_path, {"fields": ASKED}, bank).check(request(claims={"amount": 500, "to": claim}))
        assert not isinstance(checked, Executable)
    assert bank.asked == []


def test_several_answers_of_the_provider_are_choices(tmp_path: Path) -> None:
    said = [{"text": "send 500 to the landlord", "trust": "user"}]
    fields = {"to": {**ASKED["to"], "sources": ["user_answer", "measured_data"]}}
    bank_gate = ruled(tmp_path, {"fields": fields}, Bank(contacts=contacts))
    checked = bank_gate.check(request(instruction=said, claims={"amount": 500, "to": "landlord"}))
    assert field(checked, "to").choices == ("Ann Lee", "Cho Yoo")
    none = bank_gate.check(request(claims={"amount": 500, "to": "send"}, call_id="c2"))
    assert (field(none, "to").status, field(none, "to").choices) == ("unknown", ())


# members

ANY = {"members": [{"measure": "contacts", "value": "/account"}]}
QUIET = [{"text": "send 500", "trust": "user"}]


def test_a_member_of_a_measured_set_is_known_from_there(tmp_path: Path) -> None:
    checked = ruled(tmp_path, {"fields": {"to": ANY}}).check(
        request(instruction=QUIET, claims={"amount": 500, "to": "222"})
    )
    assert isinstance(checked, Executable)
    to = field(checked, "to")
    assert (to.value, to.source, to.origin) == ("222", "measured_data", "bank/contacts#/1/account")


@pytest.mark.parametrize("claim", ["444", 222, None])
def test_what_is_no_member_stays_unknown(tmp_path: Path, claim: Any) -> None:
    checked = ruled(tmp_path, {"fields": {"to": ANY}}).check(
        request(instruction=QUIET, claims={"amount": 500, "to": claim})
    )
    assert field(checked, "to").status == "unknown"


@pytest.mark.parametrize(("claim", "known"), [(["111", "333"], True), (["111", "444"], False), ([], False)])
def test_every_element_of_a_list_must_be_a_member(tmp_path: Path, claim: list[str], known: bool) -> None:
    listed = tool(to={"type": "array", "items": {"type": "string"}})
    checked = ruled(tmp_path, {"fields": {"to": ANY}}).check(
        request(tool=listed, instruction=QUIET, claims={"to": claim})
    )
    assert (field(checked, "to").status == "known") is known
    if known:
        assert field(checked, "to").value == ["111", "333"]
        assert field(checked, "to").origin == "bank/contacts#/0/account, bank/contacts#/2/account"


def test_one_set_that_cannot_be_measured_leaves_the_others(tmp_path: Path) -> None:
    fields = {"to": {"members": [{"measure": "balance", "rows": "/known"}, *ANY["members"]]}}
    bank_gate = ruled(tmp_path, {"fields": fields}, Bank(balance=OSError("no route")))
    assert isinstance(bank_gate.check(request(instruction=QUIET, claims={"amount": 500, "to": "222"})), Executable)


def test_no_set_that_can_be_measured_is_a_lookup_that_may_succeed_later(tmp_path: Path) -> None:
    fields = {"to": {**ANY, "sources": ["measured_data"]}}
    bank_gate = ruled(tmp_path, {"fields": fields}, Bank(contacts=OSError("no route")))
    checked = bank_gate.check(request(instruction=QUIET, claims={"amount": 500, "to": "222"}))
    assert (field(checked, "to").route, field(checked, "to").note) == ("system_lookup", "not measured: no route")


def test_a_field_is_measured_by_its_measure(tmp_path: Path) -> None:
    rules = {"fields": {"amount": {"measure": "owed", "sources": ["measured_data"]}}}
    rules["measures"] = {"owed": {**MEASURES["balance"], "pointer": "/won", "type": "integer"}}
    checked = ruled(tmp_path, rules).check(request(claims={"to": "bob"}))
    assert isinstance(checked, Executable)
    assert (field(checked, "amount").value, field(checked, "amount").source) == (1_000, "measured_data")
