"""What the tests of deferred runs share: a bank of functions, rules in a file, a clock that stands still."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from preflight import Preflight, ShippedHooks, create_preflight
from preflight.deferral.changes import DeferredRuns
from preflight.deferral.connections import Callables
from preflight.deferral.firing import Fired
from preflight.deferral.worker import Worker
from preflight.hooks.shipped import Meaning
from preflight.model.deferral import Deferral
from preflight.results import Checked, ToolCall
from preflight.rules import load_rules
from preflight.testing import FakeClock, MemoryStorage

NOW = 1_796_083_200.0  # Tuesday 2026-12-01T00:00:00Z, 09:00 in Seoul
HOUR, DAY = 3600.0, 86_400.0
TOMORROW = "2026-12-02T00:00:00.000000+00:00"
RULES = """
version: 1
measures:
  balance: {python: "tests.unit.deferral.runs:balance"}
servers:
  bank:
    tools:
      transfer:
        intents: [transfer]
"""
BALANCE: dict[str, int] = {}


def balance() -> int:
    """What the account holds; raises where nobody set it."""
    return BALANCE["now"]


def schema(*more: str) -> dict[str, Any]:
    properties = {"amount": {"type": "integer"}, "to": {"type": "string"}} | {name: {"type": "string"} for name in more}
    return {"type": "object", "properties": properties, "required": list(properties)}


class Bank:
    """A gate over a store in memory, the functions behind its tools, and a worker."""

    def __init__(self, folder: Path, rules: str = RULES, **options: Any) -> None:
        self.file = folder / "rules.yaml"
        self.file.write_text(rules, encoding="utf-8")
        self.rules = load_rules(self.file)
        self.clock: Any = options.pop("clock", None) or FakeClock(NOW)
        self.store: Any = options.pop("storage", None) or MemoryStorage()
        self.calls: list[Mapping[str, object]] = []
        self.fault: BaseException | None = None
        self.tools: dict[Any, Any] = {
            ("bank", "transfer"): ({"name": "transfer", "inputSchema": schema()}, self.transfer)
        }
        self.gate: Preflight = create_preflight(
            storage=self.store,
            hooks=ShippedHooks(
                storage=self.store,
                meanings=[Meaning("transfer", "bank", "transfer", shared=True)],
                rules=lambda: self.rules,
                clock=self.clock,
            ),
            rules=lambda: self.rules,
            clock=self.clock,
            **options,
        )
        self.worker = Worker(self.gate, Callables(self.tools))
        self.runs = DeferredRuns(self.gate)

    def transfer(self, call: ToolCall) -> object:
        if self.fault is not None:
            raise self.fault
        self.calls.append(call.arguments)
        return {"ok": True}

    def say(self, text: str, **parts: Any) -> Checked:
        return self.gate.check(
            {
                "user_id": "u1",
                "zone": "Asia/Seoul",
                "instruction": [{"text": text, "trust": "user"}],
                "tool": {"server": "bank", **self.tools["bank", "transfer"][0]},
                "claims": {"amount": 100, "to": "Bob"},
                **parts,
            }
        )

    def defer(self, text: str = "Transfer 100 to Bob tomorrow at 9am", **parts: Any) -> str:
        """Defer a run and return its id."""
        checked = self.say(text, **parts)
        assert checked.decision == "deferred", (checked.record.reason, checked.record.gate)
        return checked.record.decision_id

    def at(self, seconds: float) -> list[tuple[str | None, str | None, str | None]]:
        """Set the clock to so long after the beginning and let the worker look: what, why, status."""
        self.clock.advance(NOW + seconds - self.clock.now())
        return [told(fired) for fired in self.worker.run_due()]

    def row(self, deferral_id: str) -> Deferral:
        found: Deferral | None = self.store.deferral(deferral_id)
        assert found is not None
        return found

    def noted(self, deferral_id: str) -> list[tuple[str, str | None]]:
        return [(note.what, note.reason) for note in self.store.notes(deferral_id)]


def told(fired: Fired) -> tuple[str | None, str | None, str | None]:
    return fired.what, fired.reason, fired.status
