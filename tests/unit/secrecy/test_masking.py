from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from preflight import codec
from preflight.errors import Erased
from preflight.model.decision import BranchQuestion, Diagnostics, Gate, UnknownField
from preflight.model.evidence import Evidence
from preflight.model.instruction import Segment
from preflight.model.json_value import confirmation_id, freeze
from preflight.model.question import AskedItem, AskedSlot, Question
from preflight.model.record import Outcome, Record
from preflight.model.request import Request
from preflight.model.rules import FieldRules, ToolRules
from preflight.model.sealed import MASK
from preflight.model.slot import DroppedClaim, FieldState
from preflight.secrecy.documents import Secrecy, needles_of, without_masked
from preflight.secrecy.masking import Needles
from preflight.secrecy.vault import Subject, Vault
from preflight.secrecy.vault.subjects import MemorySubjectKeys
from preflight.secrecy.vault.wrapping import LocalMasters
from preflight.testing import sample_answer, sample_decision, sample_question

NOW = "2026-03-01T09:00:00+00:00"
RULES = ToolRules(fields={"pin": FieldRules(secret=True), "card": FieldRules(secret=True)})


def secrecy() -> Secrecy:
    vault = Vault(MemorySubjectKeys(), LocalMasters(b"m" * 32))
    return Secrecy(lambda: vault)


# the search in texts


@pytest.mark.parametrize(
    ("secret", "text", "masked"),
    [
        ("hunter2", "it was hunter2, twice: HUNTER2", f"it was {MASK}, twice: {MASK}"),
        ("hunter2", "xhunter2y", f"x{MASK}y"),
        ("47", "47 of 470, a47, 47.", f"{MASK} of 470, a47, {MASK}."),
        (4711, "4711 4,711 4.711 4_711 4 711", f"{MASK} {MASK} {MASK} {MASK} {MASK}"),
        (12.0, "12 or 12.0 but not 120", f"{MASK} or {MASK} but not 120"),
        ('a"b\\c', r'{"pin":"a\"b\\c"}', '{"pin":"[secret]"}'),
        ("pass word&", "?p=pass%20word%26&q=pass+word%26", f"?p={MASK}&q={MASK}"),
        ("pässwort", "p\\u00e4sswort and pässwort", f"{MASK} and {MASK}"),
        ("line\none", "repr: 'line\\none'", f"repr: '{MASK}'"),
        ({"a": ["deep secret", 3]}, "a deep secret, 3 times", f"a {MASK}, {MASK} times"),
        ("two", "two and twofold", f"{MASK} and twofold"),
        ("", "nothing", "nothing"),
        (None, "none null", "none null"),
        (True, "true 1 True", "true 1 True"),
    ],
)
def test_a_secret_is_found_however_it_is_written(secret: object, text: str, masked: str) -> None:
    assert Needles([secret]).mask(text) == masked


def test_the_longest_secret_is_taken_first() -> None:
    assert Needles(["4711", "4711-9"]).mask("pin 4711-9") == f"pin {MASK}"


def test_without_secrets_nothing_is_touched() -> None:
    value = {"a": [1, "x"]}
    assert not Needles()
    assert Needles().masked(value) is value
    assert (Needles().mask("x"), Needles().blot("x"), Needles().holds("x")) == ("x", "x", False)


def test_a_blotted_text_keeps_its_places() -> None:
    assert Needles(["4711"]).blot("pin 4711 for bob") == "pin •••• for bob"


def test_values_are_masked_whole_and_in_every_key() -> None:
    class Odd:
        def __repr__(self) -> str:
            return "<odd 4711>"

    class Mute:
        def __repr__(self) -> str:
            raise RuntimeError

    needles = Needles([4711])
    given = {"4711": 4711, "n": [4711, 47110, None, True, "x4711"], "f": 4711.0}
    assert needles.masked(given) == {MASK: MASK, "n": [MASK, 47110, None, True, f"x{MASK}"], "f": MASK}
    assert needles.masked((Odd(), Mute())) == [f"<odd {MASK}>", "<Mute>"]


def test_the_search_does_not_show_what_it_searches_for() -> None:
    assert repr(Needles(["hunter2"])) == "<Needles: 3 forms>"


@given(secret=st.text(min_size=1, max_size=12), around=st.text(max_size=20))
def test_no_written_secret_is_left(secret: str, around: str) -> None:
    text = f"{around} {secret} {around}"
    left = Needles([secret]).mask(text)
    if len(secret) >= 4 or (secret.isalnum() and len(secret.strip()) == len(secret)):
        assert f" {secret} " not in left.replace(MASK, "")


# documents


def evidence(text: str, *parts: Evidence) -> Evidence:
    return Evidence(0, 4, 4 + len(text), text, "text", text, alternatives=(f"{text}?",), parts=parts)


def slot(name: str, value: object, **more: Any) -> FieldState:
    return FieldState(name, "known", "instruction", "instruction", NOW, value, **more)


def record_with(value: Any, text: str) -> Record:
    """A record in which a secret stands in every place that can hold one."""
    deep = evidence(text, evidence(text))
    return sample_decision(
        "d1",
        fields=(slot("pin", value, evidence=deep), slot("amount", 500)),
        extra_fields=(slot("card", {"number": text}, mentions=(deep,), choices=(value, text)),),
        dropped_claims=(DroppedClaim("pin", value, "why"), DroppedClaim("memo", f"my pin is {text}", "why")),
        call_arguments={"pin": value, "card": {"number": text}, "memo": f"it is {text}", "status": text, "n": 3},
        gate=Gate(
            kind="value_gate",
            unknown_fields=(UnknownField("memo", f"{text} is odd", "ask_user"),),
            payload_errors=(f"`{text}` does not match",),
            branches=(BranchQuestion("", "branch_unresolved", (("pin",),)),),
            diag=Diagnostics(fault=f"ValueError: {text}", reason=text),
        ),
        reason=f"because of {text}",
        deferred_input={"answers": {"pin": value}, text: 1},
        trigger={"kind": "timestamp", "status": text},
        instruction=(Segment(f"pin {text} for bob", "user"), Segment(f"{text}", "untrusted")),
        outcome=Outcome(error=f"refused {text}"),
    )


@pytest.mark.parametrize("value", ["hunter2!", 4711, "known", "hold", 7, ["a-secret", "b-secret"], {"k": "v-secret"}])
def test_no_part_of_a_stored_record_holds_the_secret(value: Any) -> None:
    said = str(value) if isinstance(value, str | int) else "a-secret"
    record = record_with(freeze(value, "v"), said)
    request = request_with(claims={"pin": value, "card": {"number": said}})
    hidden = secrecy()
    stored = hidden.record(record, RULES, needles_of(request, record))
    for needle in ("hunter2!", "4711", "a-secret", "b-secret", "v-secret"):
        assert needle not in codec.encode(stored).decode(), stored
    assert stored.fields is not None
    assert stored.fields[0].value == MASK
    assert stored.fields[1].value == 500
    assert stored.instruction[0].text == f"pin {'•' * len(said)} for bob"  # type: ignore[index]
    restored = hidden.opened(stored, record.scope, record.user_id)
    assert msgspec.json.decode(codec.encode(restored)) == msgspec.json.decode(codec.encode(record))
    called = hidden.arguments(stored)
    assert msgspec.json.decode(codec.encode(called.call_arguments)) == msgspec.json.decode(
        codec.encode(record.call_arguments)
    )
    assert called.fields == stored.fields


def request_with(**parts: Any) -> Request:
    parsed = Request.parse(
        {"user_id": "u_01", "tool": {"name": "t"}, "scope": {"tenant": "tenant", "conversation": "c"}, **parts}
    )
    return msgspec.structs.replace(parsed, rules=RULES)


words = st.text(min_size=1, max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)


@given(
    value=json_values, text=st.sampled_from(["known", "e", "gate", "kind", "d1", "value", "2026", "ask_user"]) | words
)
@example(value="N", text="known")  # a secret that stands in the name of an argument takes out all arguments
@settings(max_examples=150)
def test_whatever_is_secret_is_put_back_exactly(value: Any, text: str) -> None:
    record = record_with(freeze(value, "v"), text)
    hidden = secrecy()
    stored = hidden.record(record, RULES, Needles([value, text]))
    assert codec.decode_record(codec.encode(stored)) == codec.decode_record(codec.encode(stored))
    restored = hidden.opened(stored, record.scope, record.user_id)
    assert msgspec.json.decode(codec.encode(restored)) == msgspec.json.decode(codec.encode(record))


def test_a_tool_without_secrets_costs_nothing() -> None:
    def never() -> Vault:
        raise AssertionError

    hidden, record, question = Secrecy(never), sample_decision("d1"), sample_question("q1")
    plain = ToolRules(fields={"amount": FieldRules()})
    assert hidden.record(record, plain, Needles()) is record
    assert hidden.question(question, plain, Needles()) is question
    assert hidden.opened(question, question.scope, "u_01") is question
    assert hidden.arguments(record) is record
    answer = sample_answer("q1")
    assert hidden.answer(answer, question) is answer
    assert hidden.digest(msgspec.structs.replace(request_with(), rules=plain), "0" * 64) == "0" * 64


def test_what_lies_below_a_secret_slot_is_secret() -> None:
    rules = ToolRules(fields={"to/iban": FieldRules(secret=True), "a/b": FieldRules(secret=True)})
    arguments = {"to": {"iban": {"no": "DE-secret"}, "name": "bob"}, "a/b": "root-secret", "items": [{"x": 1}]}
    record = sample_decision("d1", call_arguments=arguments, fields=())
    hidden = secrecy()
    stored = hidden.record(record, rules, Needles())
    assert stored.call_arguments == {"to": {"iban": MASK, "name": "bob"}, "a/b": MASK, "items": [{"x": 1}]}
    assert set(stored.sealed) == {"/call_arguments/to/iban", "/call_arguments/a~1b"}
    opened = hidden.arguments(stored)
    assert opened.call_arguments == arguments
    assert set(hidden.paths(stored)) == {("to", "iban"), ("a/b",)}
    assert hidden.needles(stored, arguments).mask("DE-secret, root-secret, bob") == f"{MASK}, {MASK}, bob"
    assert not hidden.needles(record, arguments)


def test_secrets_are_gathered_from_all_that_was_handed_over() -> None:
    request = request_with(
        claims={"pin": "claimed1", "memo": "free1"},
        user_answers={"pin": "answered1"},
        pre_set_data={"card": {"value": {"number": "set-before1"}, "trust": "user"}},
        measured_data={"pin": {"valid": True, "value": "measured1"}},
    )
    decision = sample_decision("d1", fields=(slot("pin", "carried1", evidence=evidence("as said1")),))
    needles = needles_of(request, decision)
    text = "claimed1 answered1 set-before1 measured1 carried1 as said1 free1"
    assert needles.mask(text) == " ".join([MASK] * 6) + " free1"
    assert not needles_of(msgspec.structs.replace(request, rules=ToolRules()))


def test_a_private_question_hides_what_it_shows_and_its_answer() -> None:
    hidden = secrecy()
    key = confirmation_id("pin", "hunter2!")
    question = sample_question(
        "q1",
        slots=(AskedSlot("pin", {"type": "string"}, "hunter2! is odd", shown="hunter2!", confirm=key),),
        items=(AskedItem(key, "the pin", shown="hunter2!"),),
        request=b'{"claims":{"pin":"hunter2!"}}',
    )
    stored = hidden.question(question, RULES, Needles(["hunter2!"]))
    shown = codec.encode(stored).decode()
    assert "hunter2" not in shown
    assert key not in shown
    assert stored.private
    assert hidden.opened(stored, question.scope, question.user_id) == msgspec.structs.replace(question, private=True)

    answer = sample_answer("q1", values={"pin": "hunter2!"}, items={key: True}, restatement="my pin is hunter2!")
    kept = hidden.answer(answer, stored)
    assert kept.values == {"pin": MASK}
    assert "hunter2" not in codec.encode(kept).decode()
    assert key not in codec.encode(kept).decode()
    assert hidden.opened(kept, question.scope, question.user_id) == answer


def test_equal_secrets_are_found_by_their_keyed_digest() -> None:
    vault = Vault(MemorySubjectKeys(), LocalMasters(b"m" * 32))
    hidden = Secrecy(lambda: vault)
    records = [
        hidden.record(
            sample_decision(f"d{n}", fields=(slot("pin", value),), call_arguments={"pin": value}), RULES, Needles()
        )
        for n, value in enumerate(("4711", "4712", "4711"))
    ]
    wanted = vault.digest(Subject("tenant", "u_01"), "pin", "4711")
    found = [r.record_id for r in records if wanted in [each.digest for each in r.sealed.values()]]
    assert found == ["d0", "d2"]


def test_after_a_person_is_erased_their_records_stay_and_their_values_do_not() -> None:
    vault = Vault(MemorySubjectKeys(), LocalMasters(b"m" * 32))
    hidden = Secrecy(lambda: vault)
    record = sample_decision("d1", fields=(slot("pin", "4711"),), call_arguments={"pin": "4711"})
    stored = hidden.record(record, RULES, Needles())
    before = codec.encode(stored)
    vault.destroy(Subject("tenant", "u_01"))
    with pytest.raises(Erased):
        hidden.opened(stored, record.scope, record.user_id)
    with pytest.raises(Erased):
        hidden.arguments(stored)
    assert codec.encode(stored) == before


def test_the_digest_of_a_request_with_secrets_is_keyed() -> None:
    hidden, request = secrecy(), request_with(claims={"pin": "4711"})
    keyed = hidden.digest(request, "0" * 64)
    assert keyed == hidden.digest(request, "0" * 64)
    assert keyed not in ("0" * 64, secrecy().digest(request, "0" * 64))
    assert len(keyed) == 64


def test_a_masked_value_is_never_carried_over() -> None:
    def prior(*values: object) -> Mapping[str, object]:
        fields = [{"name": f"n{n}", "status": "known", "value": value} for n, value in enumerate(values)]
        frozen = freeze({"execution_decision": "executed", "fields": fields}, "prior")
        assert isinstance(frozen, Mapping)
        return frozen

    left = without_masked(prior(MASK, 1))
    assert isinstance(left, Mapping)
    assert [field["name"] for field in left["fields"]] == ["n1"]  # type: ignore[index,attr-defined]
    untouched = prior(1, 2)
    assert without_masked(untouched) is untouched
    assert without_masked("x") == "x"


def test_what_was_stored_before_there_were_secrets_reads_as_before() -> None:
    body = codec.encode(sample_decision("d1"))
    assert b"sealed" not in body
    assert json.loads(codec.encode(sample_question("q1"))).keys().isdisjoint({"private", "sealed"})
    assert isinstance(codec.decode_question(codec.encode(sample_question("q1"))), Question)
