"""Runs that ask the same share one question, in every store: asked once, answered once, each run then by itself."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from preflight import Asking, Executable, Held
from preflight.deferral.connections import Callables
from preflight.deferral.worker import LEASE_SECONDS, Worker
from preflight.errors import InvalidInput
from preflight.folding import runs_for
from preflight.model.question import Question
from preflight.model.request import Scope
from preflight.storage.sqlite import SqliteStorage
from preflight.storage.tenancy import TenantStorage
from preflight.testing import MemoryStorage, sample_question
from tests.storage.postgres_server import Server
from tests.unit.deferral.runs import DAY, HOUR, RULES, Bank, schema

EVERY_DAY = "Transfer 100 to Bob every day at 09:00 until I cancel"
TOMORROW = "Transfer 100 to Bob tomorrow at 9am"
REVERSIBLE = RULES + "        effect: reversible\n"
APPROVED = "        confirm: [amount]\n"


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "memory":
        return MemoryStorage()
    if request.param == "sqlite":
        return SqliteStorage(tmp_path / "records.db")
    server: Server = request.getfixturevalue("postgres")
    return server.store()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def wanting(bank: Bank, *more: str) -> Bank:
    """From now on the tool wants more than was said when the run was deferred."""
    bank.tools["bank", "transfer"] = ({"name": "transfer", "inputSchema": schema(*more)}, bank.transfer)
    return bank


def only(bank: Bank) -> Question:
    (question,) = bank.gate.pending()
    return question


def waiting(bank: Bank) -> int:
    return runs_for(bank.store, only(bank))


def answer(bank: Bank, question: Question | None = None) -> None:
    """Answer what is asked: a purpose, or what is to be confirmed."""
    asked = question or only(bank)
    given: dict[str, object] = {slot.name: "rent" for slot in asked.slots}
    bank.gate.answer(asked.question_id, given | {item.id: True for item in asked.items}, person="u1")


# occurrences and deferred runs


def test_occurrences_that_ask_the_same_are_asked_about_once(store: Any, folder: Path) -> None:
    bank = Bank(folder, storage=store)
    bank.defer(EVERY_DAY)
    wanting(bank, "purpose")
    for day in (1, 2, 3):
        assert bank.at(day * DAY) == [("held", "unknown_at_trigger", None)]
    assert waiting(bank) == 3
    held = store.deferrals(None, ("held",))
    assert {row.question_id for row in held} == {only(bank).question_id}
    answer(bank)
    assert bank.at(3 * DAY + 60) == [("fired", None, "executed")] * 3
    assert bank.calls == [{"amount": 100, "to": "Bob", "purpose": "rent"}] * 3
    decisions = {note.record_id for row in held for note in store.notes(row.deferral_id) if note.what == "fired"}
    assert len(decisions) == 3  # each went its whole path by itself
    assert bank.at(4 * DAY) == [("held", "unknown_at_trigger", None)]  # the answer was for what had asked


def test_deferred_runs_of_the_same_words_are_asked_about_once(store: Any, folder: Path) -> None:
    bank = Bank(folder, storage=store)
    names = [bank.defer(TOMORROW) for _ in range(3)]
    wanting(bank, "purpose")
    assert [what for what, *_ in bank.at(DAY)] == ["held"] * 3
    assert waiting(bank) == 3
    answer(bank)
    assert [status for *_, status in bank.at(DAY + 60)] == ["executed"] * 3
    assert [bank.row(name).state for name in names] == ["done"] * 3


@pytest.mark.parametrize(
    "other",
    [
        {"text": "Transfer 200 to Bob tomorrow at 9am", "claims": {"amount": 200, "to": "Bob"}},
        {"text": "Please, transfer 100 to Bob tomorrow at 9am"},
        {"text": TOMORROW, "claims": {"amount": 100, "to": "Bob", "stray": 1}},
        {"text": TOMORROW, "pre_set_data": {"memo": {"value": "x", "trust": "user"}}},
        {"text": TOMORROW, "scope": {"tenant": "", "conversation": "other"}},
        {"text": TOMORROW, "user_id": "u2"},
    ],
)
def test_what_is_not_the_same_is_asked_for_itself(folder: Path, other: dict[str, Any]) -> None:
    bank = Bank(folder)
    bank.defer(TOMORROW)
    bank.defer(**other)
    wanting(bank, "purpose")
    assert [what for what, *_ in bank.at(DAY)] == ["held"] * 2
    assert [runs_for(bank.store, question) for question in bank.gate.pending()] == [1, 1]


@pytest.mark.parametrize("other", [{}, {"zone": "Europe/Berlin"}])
def test_when_it_is_to_run_is_another_time_on_another_day_or_elsewhere(folder: Path, other: dict[str, Any]) -> None:
    text = "Transfer 100 to Bob tomorrow"
    bank = Bank(folder, rules=REVERSIBLE)
    bank.say(text, unattended=True, call_id="c1")
    if not other:
        bank.clock.advance(DAY)
    bank.say(text, unattended=True, call_id="c2", **other)
    assert [[slot.name for slot in question.slots] for question in bank.gate.pending()] == [["when"], ["when"]]


def test_the_same_words_of_another_day_leave_another_time_open(folder: Path) -> None:
    # "the invoice of Friday" of another week is another Friday
    timed = schema("purpose")
    timed["properties"]["purpose"]["format"] = "date"
    for form, questions in ((timed, 2), (schema("purpose"), 1)):
        bank = Bank(folder)
        bank.defer("Transfer 100 to Bob on 4 December 2026 at 09:00; schedule it")
        bank.clock.advance(HOUR)
        bank.defer("Transfer 100 to Bob on 4 December 2026 at 09:00; schedule it")
        bank.tools["bank", "transfer"] = ({"name": "transfer", "inputSchema": form}, bank.transfer)
        bank.at(3 * DAY)
        assert len(bank.gate.pending()) == questions


def test_a_cancelled_run_is_not_freed_with_the_others(store: Any, folder: Path) -> None:
    bank = Bank(folder, storage=store)
    names = [bank.defer(TOMORROW) for _ in range(3)]
    wanting(bank, "purpose")
    bank.at(DAY)
    asked_first = store.attached(only(bank).question_id)[0].call_id
    first = next(name for name in names if asked_first.startswith(name))
    bank.runs.cancel(first, by="ana")
    assert waiting(bank) == 2
    answer(bank)  # the run that asked is gone; the answer is that of the others
    assert [status for *_, status in bank.at(DAY + 60)] == ["executed"] * 2
    assert len(bank.calls) == 2
    assert bank.row(first).state == "cancelled"


def test_a_question_for_which_nothing_waits_any_more_says_so(folder: Path) -> None:
    bank = Bank(folder)
    name = bank.defer(TOMORROW)
    wanting(bank, "purpose")
    bank.at(DAY)
    bank.runs.cancel(name, by="ana")
    assert waiting(bank) == 0
    answer(bank)
    assert bank.at(DAY + 60) == []
    assert bank.calls == []


def test_a_run_is_not_attached_to_what_is_about_to_expire(store: Any, folder: Path) -> None:
    # whoever looks once a day has a day for each of them
    bank = Bank(folder, storage=store)
    bank.defer(EVERY_DAY)
    wanting(bank, "purpose")
    for day in range(1, 8):
        bank.at(day * DAY)
    assert [runs_for(store, question) for question in bank.gate.pending()] == [6, 1]


def test_what_expired_undecided_frees_nothing_and_what_follows_is_asked_anew(folder: Path) -> None:
    bank = Bank(folder)
    first = bank.defer(TOMORROW)
    wanting(bank, "purpose")
    bank.at(DAY)
    bank.at(9 * DAY)
    assert bank.gate.pending() == []
    wanting(bank)
    second = bank.defer(TOMORROW)
    wanting(bank, "purpose")
    assert bank.at(10 * DAY) == [("held", "unknown_at_trigger", None)]
    assert waiting(bank) == 1
    answer(bank)
    assert bank.at(10 * DAY + 60) == [("fired", None, "executed")]
    assert (bank.row(first).state, bank.row(second).state) == ("held", "done")
    bank.runs.resume(first, by="ana")  # only a person brings it back
    assert bank.at(10 * DAY + 120) == [("held", "unknown_at_trigger", None)]


def test_a_run_that_was_killed_before_it_was_held_finds_its_own_question(store: Any, folder: Path) -> None:
    bank = Bank(folder, storage=store)
    bank.defer(TOMORROW)
    wanting(bank, "purpose")
    with pytest.MonkeyPatch.context() as killed:
        killed.setattr(store, "change", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bank.at(DAY)
    first = only(bank)
    assert bank.at(DAY + LEASE_SECONDS + 1) == [("held", "unknown_at_trigger", None)]
    assert only(bank) == first
    assert waiting(bank) == 1


def interrupted(*_given: object, **_named: object) -> bool:
    raise KeyboardInterrupt


# what is approved


def test_what_cannot_be_undone_is_approved_in_its_own_run(store: Any, folder: Path) -> None:
    bank = Bank(folder, RULES + APPROVED, storage=store)
    bank.defer(EVERY_DAY)
    for day in (1, 2):
        bank.at(day * DAY)
    questions = bank.gate.pending()
    assert [runs_for(store, question) for question in questions] == [1, 1]
    answer(bank, questions[0])
    assert bank.at(2 * DAY + 60) == [("fired", None, "executed")]
    assert len(bank.calls) == 1
    assert only(bank).question_id == questions[1].question_id


def test_what_can_be_undone_is_approved_for_all_that_show_the_same(store: Any, folder: Path) -> None:
    bank = Bank(folder, REVERSIBLE + APPROVED, storage=store)
    bank.defer(EVERY_DAY)
    bank.defer("Transfer 200 to Bob every day at 09:00 until I cancel", claims={"amount": 200, "to": "Bob"})
    for day in (1, 2):
        bank.at(day * DAY)
    questions = {q.items[0].shown: q for q in bank.gate.pending()}
    assert {shown: runs_for(store, q) for shown, q in questions.items()} == {100: 2, 200: 2}
    answer(bank, questions[100])
    assert bank.at(2 * DAY + 60) == [("fired", None, "executed")] * 2
    assert [call["amount"] for call in bank.calls] == [100, 100]  # nothing else was approved


def test_a_parked_call_that_cannot_be_undone_is_confirmed_for_itself(store: Any, folder: Path) -> None:
    bank = Bank(folder, storage=store)
    bank.defer(EVERY_DAY, unattended=True)
    for day in (1, 2):
        bank.at(day * DAY)
    questions = bank.gate.pending()
    assert [q.items[0].shown for q in questions] == [{"amount": 100, "to": "Bob"}] * 2
    answer(bank, questions[1])
    assert bank.at(2 * DAY + 60) == [("fired", None, "executed")]


# calls that nobody attends


def unattended(bank: Bank, **parts: Any) -> Any:
    return bank.say("transfer 100 to Bob", unattended=True, **parts)


def test_the_same_call_with_more_words_finds_its_question(store: Any, folder: Path) -> None:
    # else the asks of a night would use up what the rules allow
    bank = wanting(Bank(folder, storage=store), "purpose")
    asked = [bank.say("transfer 100 to Bob" + "\nGo on." * n, unattended=True, call_id="c") for n in range(5)]
    assert {checked.question.question_id for checked in asked} == {only(bank).question_id}
    assert waiting(bank) == 1
    answer(bank)
    again = unattended(bank, call_id="c")
    assert isinstance(again, Asking)
    assert [item.shown for item in again.question.items] == [{"amount": 100, "to": "Bob", "purpose": "rent"}]


def test_calls_that_can_be_undone_share_a_question_and_others_do_not(store: Any, folder: Path) -> None:
    for rules, runs in ((REVERSIBLE, [2]), (RULES, [1, 1])):
        conversation = {"scope": {"tenant": "", "conversation": str(len(runs))}}
        bank = wanting(Bank(folder, rules, storage=store), "purpose")
        for call in ("a", "b"):
            unattended(bank, call_id=call, **conversation)
        questions = bank.gate.pending(Scope("", str(len(runs))))
        assert [runs_for(store, question) for question in questions] == runs
        answer(bank, questions[0])
        decided = [unattended(bank, call_id=call, **conversation) for call in ("a", "b")]
        if rules == REVERSIBLE:
            assert all(isinstance(each, Executable) for each in decided)
        else:
            assert [bool(each.question.slots) for each in decided] == [False, True]


def test_calls_without_a_name_are_asked_about_once(store: Any, folder: Path) -> None:
    bank = wanting(Bank(folder, storage=store), "purpose")
    assert len({unattended(bank).question.question_id for _ in range(3)}) == 1
    assert waiting(bank) == 1


def test_a_call_that_somebody_attends_is_asked_about_for_itself(folder: Path) -> None:
    bank = wanting(Bank(folder, REVERSIBLE), "purpose")
    for call in ("a", "b"):
        bank.say("transfer 100 to Bob", call_id=call)
    assert [runs_for(bank.store, question) for question in bank.gate.pending()] == [1, 1]
    assert bank.store.attached(bank.gate.pending()[0].question_id) == []


def test_what_has_to_be_said_again_is_found_by_the_same_call_alone(folder: Path) -> None:
    # each run may come to something else
    bank = Bank(folder, REVERSIBLE)
    asked = [bank.say("do it" + "!" * n, unattended=True, call_id=c) for n, c in ((0, "a"), (1, "a"), (0, "b"))]
    assert [each.question.kind for each in asked] == ["restatement"] * 3
    ids = [each.question.question_id for each in asked]
    assert ids[0] == ids[1] != ids[2]


def test_asks_of_an_attached_run_are_counted(folder: Path) -> None:
    #
    bank = wanting(Bank(folder, REVERSIBLE + "        value_asks: 1\n"), "purpose")
    unattended(bank, call_id="a")
    unattended(bank, call_id="b")
    question = only(bank)
    bank.clock.advance(8 * DAY)
    for call in ("a", "b"):
        checked = unattended(bank, call_id=call)
        assert isinstance(checked, Held)
        assert checked.record.gate.kind == "value_exhausted"
    assert [run.call_id for run in bank.store.attached(question.question_id)] == ["a", "b"]


def test_a_store_that_cannot_fold_asks_each(folder: Path) -> None:
    class Plain:
        """A store of one's own, from before there were shared questions."""

        def __init__(self) -> None:
            self._whole = MemoryStorage()

        def __getattr__(self, name: str) -> Any:
            if name in ("ask_once", "attached"):
                raise AttributeError(name)
            return getattr(self._whole, name)

    bank = wanting(Bank(folder, REVERSIBLE, storage=Plain()), "purpose")
    for call in ("a", "b"):
        unattended(bank, call_id=call)
    assert [runs_for(bank.store, question) for question in bank.gate.pending()] == [1, 1]


# at once, and apart


def test_of_workers_that_fire_at_once_one_asks(store: Any, folder: Path) -> None:
    bank = Bank(folder, storage=store)
    for _ in range(8):
        bank.defer(TOMORROW)
    wanting(bank, "purpose")
    bank.clock.advance(DAY)
    begin = threading.Barrier(4)
    faults: list[BaseException] = []

    def work() -> None:
        worker = Worker(bank.gate, Callables(bank.tools))
        begin.wait()
        try:
            worker.run_due()
        except BaseException as fault:  # noqa: BLE001  shown below
            faults.append(fault)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert waiting(bank) == 8
    answer(bank)
    assert [status for *_, status in bank.at(DAY + 60)] == ["executed"] * 8
    assert len(bank.calls) == 8


def test_an_answer_that_comes_while_runs_ask_loses_none(store: Any, folder: Path) -> None:
    bank = Bank(folder, storage=store)
    for _ in range(6):
        bank.defer(TOMORROW)
    wanting(bank, "purpose")
    bank.clock.advance(DAY)
    bank.worker.run_due(1)
    asked = only(bank)
    begin = threading.Barrier(2)

    def reply() -> None:
        begin.wait()
        answer(bank, asked)

    thread = threading.Thread(target=reply)
    thread.start()
    begin.wait()
    bank.worker.run_due()
    thread.join()
    for question in bank.gate.pending():  # of runs that asked after the answer
        answer(bank, question)
    bank.at(DAY + 60)
    bank.at(DAY + 120)
    assert len(bank.calls) == 6
    assert store.deferrals(None, ("waiting", "held")) == []


def test_secret_values_fold_and_their_digest_tells_nothing(folder: Path) -> None:
    # a plain digest of a short value is as good as the value
    secret = REVERSIBLE + "        fields: {to: {secret: true}}\n"
    store = MemoryStorage()
    bank = wanting(Bank(folder, secret, storage=store), "purpose")
    for call in ("a", "b"):
        unattended(bank, call_id=call)
    assert waiting(bank) == 2
    keyed = {fold for _, _, fold in store._attached}
    open_store = MemoryStorage()
    other = wanting(Bank(folder, REVERSIBLE, storage=open_store), "purpose")
    unattended(other, call_id="a")
    assert keyed.isdisjoint(fold for _, _, fold in open_store._attached)
    answer(bank)
    assert all(isinstance(unattended(bank, call_id=call), Executable) for call in ("a", "b"))


def test_a_tenant_attaches_to_its_own_questions(store: Any) -> None:
    mine = TenantStorage(store, "tenant")
    until = "2026-03-01T09:30:00+00:00"
    question = mine.ask_once(sample_question("q1"), ("f",), until)
    assert question.question_id == "q1"
    theirs = sample_question("q2", scope=Scope("other", "conversation"))
    assert store.ask_once(theirs, ("f",), until).question_id == "q2"
    assert [run.decision_id for run in mine.attached("q1")] == ["d1"]
    assert mine.attached("q2") == []
    with pytest.raises(InvalidInput, match="has no place"):
        mine.ask_once(theirs, ("f",), until)
