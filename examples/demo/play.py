"""The bank story: a scripted agent proposes the calls of `scenes.json`, and what becomes of each is shown.

Nothing here decides anything, and no hook is written by hand: the shipped ones are told which words mean which
tool and how a value is measured. The bank is the real MCP server of `examples/bank`, in a process of its own.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from preflight import (
    Asking,
    Checked,
    Deferred,
    Executable,
    Executed,
    Measure,
    Preflight,
    ShippedHooks,
    Tool,
    create_preflight,
)  # fmt: skip
from preflight.cli.given import prompted_values
from preflight.cli.screen import Screen
from preflight.deferral.firing import Fired
from preflight.deferral.worker import Worker
from preflight.hooks.shipped import Meaning
from preflight.mcp.stdio import StdioServer
from preflight.model.question import Question
from preflight.render import Block, Line, Piece, Table, asked, line, summary
from preflight.render.visible import quoted, value_text, visible
from preflight.results import Accepted
from preflight.rules import LiveRules
from preflight.storage import open_storage

HERE = Path(__file__).resolve().parent
BANK = HERE.parent / "bank" / "server.py"
SERVER = "bank"

Json = dict[str, Any]


class Stage:
    """The gate, the bank and the screen of one performance."""

    def __init__(self, gate: Preflight, bank: StdioServer, screen: Screen, user: str, *, interactive: bool) -> None:
        self.gate = gate
        self.bank = bank
        self.screen = screen
        self.user = user
        self.interactive = interactive
        self.tools = {tool["name"]: tool for tool in bank.tools()}
        self.worker = Worker(gate, Connection(bank))
        self.checked: dict[str, Checked] = {}
        self.waiting: dict[str, str] = {}
        self.outcomes: dict[str, str] = {}

    def play(self, number: int, scene: Json) -> None:
        """Play one scene step by step."""
        self._show(line(), line(f"{number}  {scene['title']}", "strong"), line(f"   {scene['why']}", "dim"), line())
        outcome = ""
        for step in scene["steps"]:
            if "propose" in step:
                outcome = self._propose(scene, step)
            elif "worker" in step:
                outcome = self._work(until=step["worker"] == "waits") or outcome
            elif "answer" in step:
                outcome = self._answer(scene["call_id"], step["answer"]) or outcome
            else:
                outcome = self._execute(scene["call_id"])
        self.outcomes[scene["title"]] = outcome
        if isinstance(checked := self.checked[scene["call_id"]], Deferred):
            self.waiting[checked.record.decision_id] = scene["title"]

    def _propose(self, scene: Json, step: Json) -> str:
        arguments = ", ".join(f"{name}={value_text(value)}" for name, value in step["claims"].items())
        self._show(_speaks("the agent proposes", f"{step['propose']}({arguments})"), line())
        request = {
            "user_id": self.user,
            "call_id": scene["call_id"],
            "instruction": scene["instruction"],
            "tool": {"server": SERVER, **self.tools[step["propose"]]},
            "claims": step["claims"],
            "pre_set_data": scene.get("pre_set_data", {}),
        }
        return self._decided(scene["call_id"], self.gate.check(request))

    def _decided(self, call_id: str, checked: Checked) -> str:
        self.checked[call_id] = checked
        self._show(*summary(checked.record), line())
        if isinstance(checked, Asking):
            self._show(*asked(checked.question), line())
        return checked.decision

    def _answer(self, call_id: str, scripted: Json | None) -> str | None:
        checked = self.checked[call_id]
        if not isinstance(checked, Asking):
            return None
        question = checked.question
        values = prompted_values(question) if self.interactive else scripted
        if not values:
            self._show(line("   nobody answers, and nothing is read from that; the question stays open"))
            return checked.decision
        if not self.interactive:
            said = ", ".join(
                quoted(text) if name == "restatement" else f"{name} is {text}" for name, text in values.items()
            )
            self._show(_speaks(f"{self.user} answers", said), line())
        return self._decided(call_id, self._answered(question, values))

    def _answered(self, question: Question, values: Json) -> Checked:
        channel = "terminal" if self.interactive else "script"
        answered = self.gate.answer(question.question_id, values, person=self.user, channel=channel)
        if isinstance(answered, Accepted):
            raise TypeError("the gate that asked no longer has the request")
        return answered

    def _execute(self, call_id: str) -> str:
        checked = self.checked[call_id]
        if not isinstance(checked, Executable):
            return checked.decision
        self._show(_speaks("the agent starts", f"decision {checked.decision_id}"))
        declared = self.tools[checked.record.tool.name]
        tool = Tool.from_mcp(declared, server=SERVER)
        execution = self.gate.execute_if_ready(checked, self.bank.call, tool=tool)
        if isinstance(execution, Executed):
            result = execution.result["structuredContent"]
            self._show(line(f"   the bank did it, once: {visible(json.dumps(result))}", "good"))
        else:
            why = getattr(execution, "why", None) or getattr(execution, "error", "")
            self._show(line(f"   refused, the bank was not called: {visible(why)}", "bad"))
        return execution.status if execution.status != "held" else "refused"

    def _work(self, *, until: bool) -> str | None:
        """Let the worker look what is due: once, or until something fired."""
        self._show(_speaks("the worker looks", "what is due?"))
        ends = time.monotonic() + PATIENCE_SECONDS
        fired = self.worker.run_due()
        while until and not any(each.what for each in fired) and time.monotonic() < ends:
            time.sleep(0.1)
            fired = self.worker.run_due()
        for each in fired:
            self._show(_became(each))
            if each.status and each.row.decision_id in self.waiting:  # a run of an earlier scene
                self.outcomes[self.waiting[each.row.decision_id]] = each.status
        return next((each.status for each in fired if each.status), None)

    def epilogue(self) -> None:
        """Show what the bank holds in the end, and what still waits for a person."""
        entries = self.bank.read(SERVER, "ledger_list", {})["structuredContent"]["entries"]
        rows = [tuple(line(value_text(entry[name])) for name in LEDGER) for entry in entries]
        outcomes = [(line(title), line(outcome, "strong")) for title, outcome in self.outcomes.items()]
        open_ones = [checked for checked in self.checked.values() if isinstance(checked, Asking)]
        self._show(
            line(), line("What became of it", "strong"), line(), Table(("scene", "in the end"), tuple(outcomes)),
            line(), line("The bank's ledger", "strong"), line(), Table(LEDGER, tuple(rows)),
            line(), line(f"{len(entries)} transfer(s) made; {len(open_ones)} question(s) wait for an answer."),
        )  # fmt: skip

    def _show(self, *blocks: Block) -> None:
        self.screen.show(blocks)


class Connection:
    """How the worker reaches the bank when nobody is there."""

    def __init__(self, bank: StdioServer) -> None:
        self.tool = lambda server, name: bank.tool(name)  # noqa: ARG005  there is one server
        self.call = bank.call


def _became(fired: Fired) -> Line:
    if fired.what == "fired":
        return line(f"   it fired by itself, once: {fired.status}", "good")
    return line(f"   {(fired.reason or 'nothing').replace('_', ' ')}: it waits on")


PATIENCE_SECONDS = 10
LEDGER = ("entry", "from_account", "to_account", "amount")


def _speaks(who: str, what: str) -> Line:
    return (Piece(f"{who}: ", "dim"), Piece(visible(what), "strong"))


def main(screen: Screen, *, interactive: bool = False) -> None:
    """Play all scenes in a temporary folder."""
    story: Json = json.loads((HERE / "scenes.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="preflight-demo-") as folder:
        command = [sys.executable, str(BANK), "--db", str(Path(folder) / "bank.db")]
        with StdioServer(command) as bank:
            gate = _gate(story, bank, Path(folder) / "records.db")
            stage = Stage(gate, bank, screen, story["user"], interactive=interactive)
            for number, scene in enumerate(story["scenes"], 1):
                stage.play(number, scene)
            stage.epilogue()
            gate.close()


def _gate(story: Json, bank: StdioServer, records: Path) -> Preflight:
    storage = open_storage(records)
    rules = LiveRules(HERE / "rules.yaml")
    hooks = ShippedHooks(
        storage=storage,
        meanings=[Meaning(each["phrase"], SERVER, each["tool"]) for each in story["meanings"]],
        measures={
            name: Measure(SERVER, each["tool"], each["pointer"], each["arguments"])
            for name, each in story["measures"].items()
        },
        read_tool=bank.read,
        rules=rules.current,
    )
    return create_preflight(
        hooks=hooks, storage=storage, rules=rules.current, read_tool=bank.read, store_instruction=True
    )
