"""What every store must do, as a suite that any driver can be put through (`preflight.testing` exports it)."""

# ruff: noqa: D102  each test's name is the promise it holds a store to

from __future__ import annotations

from collections.abc import Callable

from preflight import codec
from preflight.errors import InvalidInput, StorageError
from preflight.model.record import UNKEYED, RecordState, ToolRef
from preflight.model.request import Scope
from preflight.ports import Query, Storage, Stored
from preflight.storage.contract_log import holds, ids, refused, same, starts_together
from preflight.storage.contract_once import OnceContract
from preflight.storage.samples import (
    HERE,
    MORNING,
    sample_answer,
    sample_decision,
    sample_no_answer,
    sample_question,
    sample_slot,
    sample_step,
)

_STEPS: tuple[RecordState, ...] = ("executing", "executed", "settled")


class StorageContract(OnceContract):
    """One test for each promise of `preflight.ports.Storage`.

    With pytest, subclass it under a name that begins with `Test` and define `open_storage`, which returns
    a new, empty store at each call. Without pytest, hand that function to `check_storage`.
    """

    def test_a_record_is_read_back_in_its_exact_bytes(self) -> None:
        store, record = self.open_storage(), sample_decision("d1")
        stored = store.append(record)
        same((stored.body, stored.digest), (codec.encode(record), codec.digest(stored.body)), "stored bytes")
        same(store.get("d1"), Stored(stored.seq, codec.decode_record(stored.body), stored.body, stored.digest), "get")
        same(store.get("d2"), None, "get of nothing")
        holds(store.append(sample_decision("d2"), durable=True).seq > stored.seq, "seq grows")

    def test_the_same_record_id_again_returns_the_stored_one(self) -> None:
        store = self.open_storage()
        first = store.append(sample_decision("d1"))
        for durable in (False, True):
            again = store.append(sample_decision("d1", "hold", reason="another"), durable=durable)
            same((again.seq, again.body), (first.seq, first.body), "append again")
        same(ids(store.find(Query())), ["d1"], "records after it")

    def test_each_kind_of_record_has_one_way_in(self) -> None:
        store, decision = self.open_storage(), sample_decision("d1")
        store.append(decision)
        for state in _STEPS:
            with refused(InvalidInput, f"append of `{state}`"):
                store.append(sample_step(decision, state))
        with refused(InvalidInput, "claim with an outcome"):
            store.claim(sample_step(decision, "executed"))
        with refused(InvalidInput, "claim with a decision"):
            store.claim(decision)
        with refused(InvalidInput, "finish with a start"):
            store.finish(sample_step(decision, "executing"))
        with refused(InvalidInput, "a state that no record has"):
            store.append(sample_decision("d2", execution_decision="done"))
        with refused(InvalidInput, "a decision under another decision's id"):
            store.append(sample_decision("d2", decision_id="d1"))
        same(ids(store.find(Query())), ["d1"], "records after it")

    def test_only_a_stored_execute_decision_starts(self) -> None:
        store = self.open_storage()
        same(store.claim(sample_step(sample_decision("d0"), "executing")), None, "claim of nothing")
        for state in ("ask_user", "hold", "deferred"):
            decision = sample_decision(state, state)
            store.append(decision)
            same(store.claim(sample_step(decision, "executing")), None, f"claim of `{state}`")

    def test_a_decision_starts_once(self) -> None:
        store, decision = self.open_storage(), sample_decision("d1")
        store.append(decision)
        start = sample_step(decision, "executing")
        same(store.claim(start), store.get(start.record_id), "R-75: first claim")
        same(store.claim(start), None, "R-75: the same claim again")
        same(store.claim(sample_step(decision, "executing", "s2")), None, "R-75: another claim")
        store.finish(sample_step(decision, "failed"))
        same(store.claim(sample_step(decision, "executing", "s3")), None, "R-75: a claim after the outcome")
        same(ids(store.steps("d1")), ["d1", "d1/executing", "d1/failed"], "steps")

    def test_one_run_at_a_time_under_a_key(self) -> None:
        store = self.open_storage()
        scopes = (HERE, HERE, Scope("tenant", "other"))
        decisions = [sample_decision(f"d{n}", action_key="k", scope=scope) for n, scope in enumerate(scopes)]
        for decision in [*decisions, sample_decision("d3", action_key=None)]:
            store.append(decision)
        starts = [sample_step(decision, "executing") for decision in decisions]
        claimed = [store.claim(start) is not None for start in starts]
        same(claimed, [True, False, True], "R-77: same key, then another scope")
        store.finish(sample_step(decisions[0], "executed"))
        holds(store.claim(starts[1]) is not None, "R-77: after the outcome")
        unkeyed = store.get("d3")
        same(unkeyed and unkeyed.record.key, UNKEYED, "R-71: the reserved key")

    def test_a_call_starts_as_one_decision(self) -> None:
        store, ran = self.open_storage(), sample_decision("d1", call_id="c1")
        others = {
            "same": sample_decision("d2", call_id="c1"),
            "user": sample_decision("d3", call_id="c1", user_id="u_02"),
            "tool": sample_decision("d4", call_id="c1", tool=ToolRef("bank", "pay", "f" * 64)),
            "trigger": sample_decision("d5", call_id="c1", trigger={"decision_id": "d0", "occurrence": "o1"}),
            "scope": sample_decision("d6", call_id="c1", scope=Scope("tenant", "other")),
            "call": sample_decision("d7", call_id="c2"),
            "no id": sample_decision("d8"),
        }
        for decision in (ran, *others.values()):
            store.append(decision)
        same(store.started_as(others["same"]), None, "before any start")
        holds(store.claim(sample_step(ran, "executing")) is not None, "R-75: the first")
        found = {name: store.started_as(other) for name, other in others.items()}
        same(found, {name: "d1" if name == "same" else None for name in others}, "as which it was started")
        same(store.started_as(ran), None, "by itself")
        store.finish(sample_step(ran, "failed"))
        claimed = [name for name, other in others.items() if store.claim(sample_step(other, "executing")) is not None]
        same(claimed, [*others][1:], "R-75: the same call as another decision, after the outcome too")

    def test_racing_decisions_of_a_call_start_once(self) -> None:
        store = self.open_storage()
        decisions = [sample_decision(f"d{n}", call_id="c1") for n in range(8)]
        same(starts_together(store, decisions), 1, "R-75: starts of one call")

    def test_outcomes_follow_the_lifecycle(self) -> None:
        store, decision = self.open_storage(), sample_decision("d1")
        store.append(decision)
        same(store.finish(sample_step(decision, "executed")), None, "an outcome without a start")
        store.claim(sample_step(decision, "executing"))
        same(store.finish(sample_step(decision, "settled")), None, "a settlement without doubt")
        doubt = store.finish(sample_step(decision, "in_doubt"))
        same(doubt, store.get("d1/in_doubt"), "the first outcome")
        same(store.finish(sample_step(decision, "in_doubt")), doubt, "the same outcome again")
        same(store.finish(sample_step(decision, "in_doubt", "x")), None, "a second outcome")
        same(store.finish(sample_step(decision, "executed")), None, "an outcome after doubt")
        same(store.finish(sample_step(decision, "settled", "d1/in_doubt")), None, "a settlement under a used id")
        holds(store.finish(sample_step(decision, "settled")) is not None, "a settlement")
        same(ids(store.steps("d1")), ["d1", "d1/executing", "d1/in_doubt", "d1/settled"], "steps")
        same(store.steps("d2"), [], "steps of nothing")

    def test_what_is_unfinished_is_listed_oldest_first(self) -> None:
        store = self.open_storage()
        ends: dict[str, tuple[RecordState, ...]] = {
            "d1": (),
            "d2": ("executed",),
            "d3": ("in_doubt",),
            "d4": ("in_doubt", "settled"),
            "d5": ("failed",),
        }
        for record_id, states in ends.items():
            decision = sample_decision(record_id)
            store.append(decision)
            store.claim(sample_step(decision, "executing"))
            for state in states:
                store.finish(sample_step(decision, state))
        store.append(sample_decision("d6"))
        same(ids(store.unfinished()), ["d1/executing", "d3/in_doubt"], "R-75: unfinished")

    def test_the_newest_decision_for_a_call(self) -> None:
        store = self.open_storage()
        for record_id in ("d1", "d2"):
            store.append(sample_decision(record_id, call_id="c"))
        store.claim(sample_step(sample_decision("d2", call_id="c"), "executing"))
        store.append(sample_decision("d3", call_id="c", scope=Scope("other", "conversation")))
        store.append(sample_decision("d4"))
        found = store.latest_for_call(HERE, "c")
        same(found, store.get("d2"), "newest for the call")
        same(store.latest_for_call(HERE, "other"), None, "none for another call")

    def test_the_newest_executed_record_is_the_only_prior_state(self) -> None:
        store = self.open_storage()
        for record_id, state in (("d1", "executed"), ("d2", "executed"), ("d3", "failed"), ("d4", "in_doubt")):
            decision = sample_decision(record_id, action_key="k")
            store.append(decision)
            store.claim(sample_step(decision, "executing"))
            store.finish(sample_step(decision, state))  # type: ignore[arg-type]
        same(store.latest_executed(HERE, "u_01", "k", "f" * 64), store.get("d2/executed"), "R-42: newest executed")
        others = (
            (Scope("tenant", "other"), "u_01", "k", "f" * 64),
            (HERE, "u_02", "k", "f" * 64),
            (HERE, "u_01", "K", "f" * 64),
            (HERE, "u_01", "k", "e" * 64),
        )
        for other in others:
            same(store.latest_executed(*other), None, "R-42: another scope, user, key or tool")

    def test_records_are_found_by_every_part_of_a_query(self) -> None:
        store = self.open_storage()
        other = Scope("tenant", "other")
        store.append(sample_decision("d1", "hold", action_key="k", timestamp="2026-03-01T10:00:00+02:00"))
        store.append(sample_decision("d2", action_key="k", scope=other, timestamp="2026-03-01T09:00:00Z"))
        store.append(sample_decision("d3", user_id="u_02", timestamp="2026-03-01T08:30:00-01:00"))
        store.append(sample_decision("d4", "hold", action_key=None, tool=None, timestamp="2026-03-02T00:00:00Z"))
        expected: tuple[tuple[Query, list[str]], ...] = (
            (Query(), ["d4", "d3", "d2", "d1"]),
            (Query(limit=2), ["d4", "d3"]),
            (Query(limit=0), []),
            (Query(limit=-1), []),
            (Query(scope=HERE), ["d4", "d3", "d1"]),
            (Query(action_key="k"), ["d2", "d1"]),
            (Query(action_key=UNKEYED), ["d4"]),
            (Query(tool="transfer"), ["d3", "d2", "d1"]),
            (Query(decision="hold"), ["d4", "d1"]),
            (Query(user_id="u_02"), ["d3"]),
            (Query(since="2026-03-01T09:00:00+00:00"), ["d4", "d3", "d2"]),
            (Query(since="2026-03-02"), ["d4"]),
            (Query(decision="hold", action_key="k", scope=HERE), ["d1"]),
            (Query(decision="executed"), []),
        )
        for query, names in expected:
            same(ids(store.find(query)), names, f"find({query})")
        with refused(InvalidInput, "a `since` that is no time"):
            store.find(Query(since="yesterday"))

    def test_decisions_are_found_by_slot_and_source(self) -> None:
        store = self.open_storage()
        first = sample_decision("d1", fields=(sample_slot("to", "instruction"), sample_slot("amount", "prior_state")))
        store.append(first)
        store.claim(sample_step(first, "executing"))
        twice = sample_decision(
            "d2", fields=(sample_slot("to", None),), extra_fields=(sample_slot("to", "user_answer"),)
        )
        store.append(twice)
        store.append(sample_decision("d3", "ask_user", fields=None))
        expected: tuple[tuple[Query, list[str]], ...] = (
            (Query(field="to"), ["d2", "d1"]),
            (Query(field="to", source="instruction"), ["d1"]),
            (Query(field="amount", source="instruction"), []),
            (Query(source="prior_state"), ["d1"]),
            (Query(source="user_answer"), ["d2"]),
            (Query(source="no such source"), []),
            (Query(field="to", limit=1), ["d2"]),
            (Query(field="to", decision="executing"), []),
            (Query(field="amount", source="prior_state", user_id="u_01"), ["d1"]),
        )
        for query, names in expected:
            same(ids(store.find(query)), names, f"find({query})")

    def test_a_search_goes_on_while_records_are_appended(self) -> None:
        store = self.open_storage()
        for n in range(250):
            store.append(sample_decision(f"d{n}"))
        found = store.find(Query(limit=1000))
        first = next(found)
        store.append(sample_decision("later"))
        same(ids([first, *found]), [f"d{n}" for n in reversed(range(250))], "what stood when the search began")

    def test_names_are_data(self) -> None:
        store = self.open_storage()
        names = ("", "a/b", "constructor", "__class__", "x\0y", "'; DROP TABLE record; --", "%", "日本 ☃", "*")
        for n, name in enumerate(names):
            slots = (sample_slot(name, "instruction"),)
            store.append(sample_decision(f"d{n}", action_key=name, fields=slots, call_id=name, user_id=name))
        for n, name in enumerate(names):
            for query in (Query(action_key=name), Query(field=name), Query(user_id=name)):
                same(ids(store.find(query)), [f"d{n}"], f"R-16: find({query})")
            same(store.latest_for_call(HERE, name), store.get(f"d{n}"), "R-16: by call")

    def test_what_cannot_be_stored_is_refused(self) -> None:
        store = self.open_storage()
        with refused(InvalidInput, "a record without a time"):
            store.append(sample_decision("d1", timestamp="now"))
        with refused(StorageError, "a value without a JSON form"):
            store.append(sample_decision("d1", call_arguments=object()))
        with refused(StorageError, "text that is not Unicode"):
            store.append(sample_decision("d1", reason="\ud800"))
        with refused(InvalidInput, "a question without an expiry"):
            store.ask(sample_question("q1", expires_at=""))
        same(list(store.find(Query())), [], "records after it")

    def test_questions_stay_open_until_they_are_answered_or_expire(self) -> None:
        store, late = self.open_storage(), "2026-03-01T10:30:00+00:00"
        store.ask(sample_question("q1"))
        store.ask(sample_question("q1", message="another"))
        store.ask(sample_question("q2", scope=Scope("tenant", "other"), expires_at="2026-03-01T13:00:00+02:00"))
        store.ask(sample_question("q3"))
        store.answer(sample_answer("q3"))
        same(store.question("q1"), sample_question("q1"), "a question keeps its first form")
        same(store.question("q4"), None, "no question")

        def opened(scope: Scope | None, now: str) -> list[str]:
            return [question.question_id for question in store.open_questions(scope, now)]

        same(opened(None, MORNING), ["q1", "q2"], "open")
        same(opened(HERE, MORNING), ["q1"], "open in this scope")
        same(opened(None, "2026-03-01T10:00:00+00:00"), ["q2"], "expired at its last moment")
        same(opened(HERE, late), [], "expired")
        same([q.question_id for q in store.asked(HERE, "call")], ["q1", "q3"], "asked about the call")
        same(store.asked(HERE, "another"), [], "asked about another call")

    def test_the_first_answer_wins(self) -> None:
        store = self.open_storage()
        for question_id in ("q1", "q2", "q3"):
            store.ask(sample_question(question_id))
        store.ask(sample_question("q4", call_id=None))
        holds(store.answer(sample_answer("q2")), "R-91: first")
        holds(not store.answer(sample_answer("q2", person="u_02")), "R-91: second")
        holds(store.answer(sample_answer("q1", values={"to_account": None})), "R-46: there is none")
        holds(store.answer(sample_answer("q4")), "about no call")
        same(store.answer_to("q2"), sample_answer("q2"), "answer")
        same(store.answer_to("q3"), None, "no answer")
        given = [answer.question_id for answer in store.answers_for_call(HERE, "call")]
        same(given, ["q2", "q1"], "answers for the call, oldest first")
        with refused(InvalidInput, "an answer to nothing"):
            store.answer(sample_answer("q5"))

    def test_a_question_that_nobody_answers_stays_open(self) -> None:
        store = self.open_storage()
        for question_id in ("q1", "q2"):
            store.ask(sample_question(question_id))
        notes = [sample_no_answer("q1"), sample_no_answer("q1", how="time_out"), sample_no_answer("q1")]
        for note in notes:
            store.no_answer(note)
        same(store.no_answers("q1"), notes, "R-92: each of them, oldest first")
        same((store.no_answers("q2"), store.no_answers("q3")), ([], []), "none")
        same([q.question_id for q in store.open_questions(HERE, MORNING)], ["q1", "q2"], "R-92: still open")
        same((store.answer_to("q1"), store.answers_for_call(HERE, "call")), (None, []), "R-92: nothing is read from it")
        holds(store.answer(sample_answer("q1")), "R-92: a later answer counts")
        same(store.no_answers("q1"), notes, "what was noted stays")
        with refused(InvalidInput, "no answer to nothing"):
            store.no_answer(sample_no_answer("q3"))

    def test_a_learned_name_holds_until_it_is_forgotten(self) -> None:
        store = self.open_storage()
        for name, tool in (("pay", "transfer"), ("see", "balance"), ("pay", "transfer")):
            store.learn(HERE, "u_01", name, "bank", tool, "u_01", MORNING)
        same(store.learned(HERE, "u_01"), [("pay", "bank", "transfer"), ("see", "bank", "balance")], "learned")
        for scope, user_id in ((Scope(), "u_01"), (HERE, "u_02")):
            same(store.learned(scope, user_id), [], "another scope or user")
        store.learn(HERE, "u_01", "pay", "bank", "order", "u_01", MORNING)
        same(store.learned(HERE, "u_01"), [("see", "bank", "balance"), ("pay", "bank", "order")], "learned anew")
        store.forget(HERE, "u_01", "pay", MORNING)
        store.forget(HERE, "u_01", "sell", MORNING)
        same(store.learned(HERE, "u_01"), [("see", "bank", "balance")], "forgotten")
        store.learn(HERE, "u_01", "pay", "bank", "order", "u_01", MORNING)
        same(store.learned(HERE, "u_01")[1:], [("pay", "bank", "order")], "learned again")

    def test_a_closed_store_says_so(self) -> None:
        store = self.open_storage()
        store.append(sample_decision("d1"))
        store.close()
        store.close()
        calls: tuple[Callable[[], object], ...] = (
            lambda: store.append(sample_decision("d2")),
            lambda: store.claim(sample_step(sample_decision("d1"), "executing")),
            lambda: store.get("d1"),
            lambda: list(store.find(Query())),
            lambda: store.ask(sample_question("q1")),
            lambda: store.learned(HERE, "u_01"),
        )
        for call in calls:
            with refused(StorageError, "a call on a closed store"):
                call()


def check_storage(open_storage: Callable[[], Storage]) -> None:
    """Put a driver through the whole contract; `open_storage` returns a new, empty store at each call.

    Raises AssertionError naming the promise that does not hold.
    """
    suite = StorageContract()
    suite.open_storage = open_storage  # type: ignore[method-assign]
    for name in dir(StorageContract):
        if name.startswith("test_"):
            getattr(suite, name)()
