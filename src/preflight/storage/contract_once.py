"""What every store must do so that an act starts once of an instruction (R-79)."""

# ruff: noqa: D102  each test's name is the promise it holds a store to

from __future__ import annotations

import msgspec

from preflight.model.record import Instructed, Outcome, RecordState, Sent
from preflight.model.request import Scope
from preflight.storage.contract_folding import FoldingContract
from preflight.storage.contract_log import holds, same, starts_together
from preflight.storage.samples import sample_decision, sample_step


class OnceContract(FoldingContract):
    """One test for each promise about acts of an instruction."""

    def test_an_act_starts_once_of_an_instruction(self) -> None:
        store, said = self.open_storage(), Sent(("1",), told=True)
        act = Instructed("i1", "p1", {"amount": said, "to": Sent(("2",), told=True)})
        others = {
            "proposed": Instructed("i1", "p1"),
            "says less": Instructed("i1", "p2", {"amount": said}),
            "says more": Instructed("i1", "p3", {**act.sent, "memo": Sent(("3",), told=True)}),
            "another act": Instructed("i1", "p4", {"amount": said, "to": Sent(("4",), told=True)}),
            "another instruction": Instructed("i2", "p1", act.sent),
            "none": None,
        }
        ran = sample_decision("d0", instructed=act, call_id="c0")
        decisions = {name: sample_decision(name, instructed=each, call_id=name) for name, each in others.items()}
        elsewhere = sample_decision("elsewhere", instructed=act, scope=Scope("other tenant"))
        for decision in (ran, elsewhere, *decisions.values()):
            store.append(decision)
        same(store.started_on("tenant", "i1"), [], "before any start")
        start = store.claim(sample_step(ran, "executing"))
        same(store.started_on("tenant", "i1"), [start.record] if start else None, "R-79: the start")
        starts = {name: store.claim(sample_step(other, "executing")) for name, other in decisions.items()}
        claimed = [name for name, stored in starts.items() if stored is not None]
        same(claimed, [*others][3:], "R-79: what is no repetition")
        holds(store.claim(sample_step(elsewhere, "executing")) is not None, "R-79: another tenant's")

    def test_what_is_deferred_counts_like_what_was_started(self) -> None:
        store, act = self.open_storage(), Instructed("i1", "p1", {"to": Sent(("1",), told=True)})
        later = store.append(sample_decision("later", "deferred", instructed=act))
        now = sample_decision("now", instructed=act)
        store.append(now)
        same(store.started_on("tenant", "i1"), [later.record], "R-79: the deferred decision")
        same(store.claim(sample_step(now, "executing")), None, "R-79: what is to be done later, done now")

    def test_an_act_that_is_known_to_have_failed_is_no_start(self) -> None:
        failed, ran = Outcome(settled_as="failed"), Outcome(settled_as="executed")
        ways: list[tuple[list[tuple[RecordState, Outcome | None]], bool]] = [
            ([("failed", None)], True),
            ([("executed", None)], False),
            ([("in_doubt", None)], False),
            ([("in_doubt", None), ("settled", failed)], True),
            ([("in_doubt", None), ("settled", ran)], False),
        ]
        store = self.open_storage()
        for number, (ended, again) in enumerate(ways):
            act = Instructed(f"i{number}", "p1", {"to": Sent(("1",), told=True)})
            first, second = (sample_decision(f"d{number}{name}", instructed=act) for name in "ab")
            store.append(first)
            store.append(second)
            store.claim(sample_step(first, "executing"))
            for state, outcome in ended:
                store.finish(msgspec.structs.replace(sample_step(first, state), outcome=outcome))
            same(len(store.started_on("tenant", act.by)), int(not again), f"R-79: starts after {ended}")
            same(store.claim(sample_step(second, "executing")) is not None, again, f"R-79: after {ended}")

    def test_racing_starts_of_an_act_start_once(self) -> None:
        store, act = self.open_storage(), Instructed("i1", "p1", {"to": Sent(("1",), told=True)})
        decisions = [sample_decision(f"d{n}", call_id=f"c{n}", instructed=act) for n in range(8)]
        same(starts_together(store, decisions), 1, "R-79: starts of one act")
