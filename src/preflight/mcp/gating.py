"""One proposed call at the gate: decided, asked about, executed from its record, at most once."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import anyio

from preflight.api import AsyncPreflight, Preflight
from preflight.errors import InvalidInput, ProviderError
from preflight.hosts.words import TOOL, join_of
from preflight.mcp import texts
from preflight.mcp.asking import GATE_KEY, Answered, Asking, Refill, Suspended
from preflight.mcp.calls import CallIds, Run, base_of, instruction_of, segment_shape
from preflight.mcp.catalogue import Catalogue, Listed, Unclear
from preflight.mcp.eras import Object, bare_params
from preflight.mcp.firstword import NOT_BEGUN, NotBegun
from preflight.mcp.parking import Exchange
from preflight.mcp.sdk import CLOSED, INVALID_PARAMS, TIMED_OUT, Inbound, MCPError
from preflight.mcp.sealing import Sealing
from preflight.mcp.turns import Busy, Turns
from preflight.mcp.upstream import Progress
from preflight.model.instruction import Segment
from preflight.model.question import Question
from preflight.model.record import Record
from preflight.model.request import Scope
from preflight.model.rules import Effect
from preflight.model.tool import Tool
from preflight.ports import Denies, Hears, Words
from preflight.results import Asking as Asked
from preflight.results import Checked, Executable, Executed, Failed, InDoubt, Refused, ToolCall
from preflight.results import Held as StaysHeld
from preflight.rulebook import RuleSource

BUDGET_SECONDS: Final = 50.0
"""How long a call is held for a person: clients give up after a minute, and then nobody would hear the answer."""
_OF_THE_TOOL: Final = ("tool_forbidden",)
_LASTING: Final = (*_OF_THE_TOOL, "value_exhausted", "intent_undetermined_exhausted", "tool_undetermined_exhausted")
"""Gates that no answer opens: a host may stop such a call by itself until its user speaks again."""
_log = logging.getLogger("preflight.mcp")


@dataclass(frozen=True)
class Who:
    """Whose calls these are: the user as rules and questions name them, a tenant, and the session.

    `unattended` says that nobody is there who could be asked. `apart` says that somebody gave the session a name of
    its own: what the user said counts in it anew.
    """

    user: str
    session: str
    tenant: str = ""
    zone: str | None = None
    locale: str = "en"
    unattended: bool = False
    apart: bool = False


@dataclass(frozen=True)
class Proposed:
    """A call as a client proposes it."""

    listed: Listed
    arguments: Object
    request: Object
    base: str
    join: Mapping[str, str]


class Gating:
    """Takes calls to the gate and through it."""

    def __init__(
        self,
        gate: AsyncPreflight,
        reads: Preflight,
        rules: RuleSource,
        words: Words,
        who: Who,
        catalogue: Catalogue,
        asking: Asking,
        budget: float = BUDGET_SECONDS,
    ) -> None:
        """Decide with `gate` under `rules`, on the `words` of the session, and ask with `asking`.

        `reads` decides about reads: it asks nobody and waits for no disk.
        """
        self._gate = gate
        self._reads = reads
        self._busy = 0
        self._rules = rules
        self._words = words
        self._who = who
        self._catalogue = catalogue
        self._asking = asking
        self._budget = budget
        self._calls = CallIds(gate.storage)
        self._turns = Turns()
        self.sealing = Sealing()

    @property
    def unattended(self) -> bool:
        """Whether nobody is there who could be asked."""
        return self._who.unattended

    def effect(self, listed: Listed) -> Effect:
        """Return what a tool does, as the rules say; a tool nobody listed cannot be undone (R-65)."""
        return self._rules().for_tool(listed.server.name, listed.name, self._who.user, self._who.tenant).effect

    async def refused(self, params: Object, fault: InvalidInput) -> MCPError:
        """Record a call that cannot even be read, and return the error to raise (R-8)."""
        await anyio.to_thread.run_sync(self._gate.refuse, params, fault)
        return MCPError(INVALID_PARAMS, str(fault))

    async def read(self, listed: Listed, arguments: Object) -> Object:
        """Record a read and return the arguments to send; raises Held where it does not pass."""
        request = self._read_request(listed, arguments)
        if self._busy:  # a commit that waits for the disk would keep everything else waiting, too
            checked = await anyio.to_thread.run_sync(self._reads.check, request)
        else:
            checked = self._reads.check(request)
        if not isinstance(checked, Executable):
            raise Held(texts.blocked(checked))
        sent: Any = checked.record.call_arguments
        return arguments if sent is None or len(sent) == len(arguments) else {name: arguments[name] for name in sent}

    def _read_request(self, listed: Listed, arguments: Object) -> Object:
        request = {"user_id": self._who.user, "tool": listed.tool, "claims": arguments, "scope": self._scope}
        return {**request, "unattended": True} if self.unattended else request

    @property
    def _scope(self) -> Object:
        return {"tenant": self._who.tenant, "conversation": self._who.session}

    # what is gated

    async def decide(self, client: Inbound, listed: Listed, public: str, arguments: Object) -> Ready | Object:
        """Decide a call, asking where a person can help: the decision to start, or the result for the client."""
        self._busy += 1
        try:
            return await self._decided(client, listed, public, arguments)
        finally:
            self._busy -= 1

    async def _decided(self, client: Inbound, listed: Listed, public: str, arguments: Object) -> Ready | Object:
        proposed = await self._proposed(client, listed, public, arguments)
        ends = time.monotonic() + self._budget
        # where nobody attends, what a client brings as an answer is no person's
        checked = None if self.unattended else await self._after_state(client, proposed, ends)
        if checked is None:
            checked = await self._gate.check(proposed.request)
        if self.unattended and isinstance(checked, Asked):
            return texts.parked(checked, await self._asking.where(checked.question))
        while isinstance(checked, Asked):
            question = checked.question
            outcome = await self._asking.ask(client, question, ends - time.monotonic())
            if isinstance(outcome, Suspended):
                return self._suspended(client, outcome, question)
            if not isinstance(outcome, Answered):
                return texts.waiting(checked, await self._asking.where(question), outcome.why)
            checked = outcome.checked
            if checked is None:
                checked = await self._gate.check(proposed.request)
        if isinstance(checked, Executable):
            return Ready(checked, proposed, ends)
        return await self._blocked(checked, proposed)

    async def _proposed(self, client: Inbound, listed: Listed, public: str, arguments: Object) -> Proposed:
        join = join_of(client.meta, os.environ, public, arguments, os.getcwd())  # noqa: PTH109  a text is wanted
        lasting = self.effect(listed) == "irreversible"  # what can be undone may be done again on the same words
        segments, run = await anyio.to_thread.run_sync(self._looked_up, join, listed.tool, arguments)
        request = {
            **self._read_request(listed, arguments),
            "scope": {"tenant": run.scope.tenant, "conversation": run.scope.conversation},
            "instruction": [segment_shape(segment) for segment in segments],
            "call_id": run.call_id,
            "locale": self._who.locale,
        }
        if lasting:
            request["instruction_id"] = instruction_of(segments, self._who.session if self._who.apart else None)
            # where no words tell one wish from another, a person says that the same act is meant once more
            done = None if request["instruction_id"] else await self._done_before(run)
            request |= {} if done is None else {"user_checklist": [texts.once_more(done)]}
        if self._who.zone is not None:
            request["zone"] = self._who.zone
        return Proposed(listed, arguments, request, run.base, join)

    def _looked_up(self, join: Mapping[str, str], tool: Tool, arguments: Object) -> tuple[tuple[Segment, ...], Run]:
        """Return the user's words, and which run of the call this is.

        It belongs to the conversation that the words are of, which may go on in another process than it began in, but
        where the call is open in this process's own session.
        """
        heard = self._words.heard(join) if isinstance(self._words, Hears) else (None, self._words.segments(join))
        conversation, segments = heard
        run = self._run(self._who.session, tool, arguments)
        own = self._who.apart or self.unattended or conversation in (None, self._who.session)
        return segments, run if own or run.is_open else self._run(str(conversation), tool, arguments)

    async def _done_before(self, run: Run) -> Record | None:
        return await anyio.to_thread.run_sync(self._calls.executed_before, run)

    def _run(self, conversation: str, tool: Tool, arguments: Object) -> Run:
        base = base_of(conversation, self._who.user, tool, arguments)
        return self._calls.current(Scope(self._who.tenant, conversation), base)

    async def _after_state(self, client: Inbound, proposed: Proposed, ends: float) -> Checked | None:
        """Take the answer that a modern client came back with; None where there is none, or it was given before."""
        state = self.sealing.opened(client.params)
        responses = client.params.get("inputResponses")
        if state is None or "question" not in state or not isinstance(responses, dict) or GATE_KEY not in responses:
            return None
        question = await anyio.to_thread.run_sync(self._gate.storage.question, state["question"])
        if question is None:
            return None
        took, left = time.time() - state["at"], ends - time.monotonic()
        page = state.get("page") is True
        outcome = await self._asking.heard(client, question, responses[GATE_KEY], took, left, page=page)
        if isinstance(outcome, Answered):
            return outcome.checked
        checked = await self._gate.check(proposed.request)
        if isinstance(checked, Asked) and isinstance(outcome, Refill):
            again = await self._asking.ask(client, checked.question, left, outcome.why)
            if isinstance(again, Suspended):
                raise Held(self._suspended(client, again, checked.question))
        if isinstance(checked, Asked):
            raise Held(texts.waiting(checked, await self._asking.where(checked.question), outcome.why))
        return checked

    def _suspended(self, client: Inbound, outcome: Suspended, question: Question) -> Object:
        state = {"question": question.question_id, "at": time.time(), "page": outcome.page}
        return {
            "resultType": "input_required",
            "inputRequests": outcome.requests,
            "requestState": self.sealing.seal(client.params, state),
        }

    # what is started

    async def execute(self, ready: Ready, exchange: Exchange, progress: Progress | None) -> Object:
        """Call the tool once, with the arguments of the record, and return what the client is told of it.

        An error of the server's goes through as it came, after it was recorded.
        """
        # whoever waited for a turn is compared with the tool as it is after that
        record, left = ready.decision.record, ready.ends - time.monotonic()
        try:
            async with self._turns.at(record, left):
                return await self._executed(ready, exchange, progress)
        except Busy as busy:
            return texts.busy(record, busy.holder)

    async def _executed(self, ready: Ready, exchange: Exchange, progress: Progress | None) -> Object:
        listed, client = ready.proposed.listed, exchange.client
        now = await self._as_it_is(client, listed)
        if not isinstance(now, Listed):
            return now
        raised: list[MCPError] = []

        async def call(claimed: ToolCall) -> Object:
            await self._catalogue.confirm(client, now)
            # nothing else goes along: what was decided about is the name and the arguments
            meta = {**bare_params(client.params).get("_meta", {}), **claimed.meta}
            params = {"name": listed.name, "arguments": claimed.arguments, "_meta": meta}
            try:
                return await listed.server.request(client, "tools/call", params, exchange, progress)
            except MCPError as fault:
                raised.append(fault)
                if isinstance(fault, NotBegun):
                    raise ProviderError(f"the server refused the call: {fault.message}") from fault
                raise

        execution = await self._gate.execute_if_ready(ready.decision, call, tool=now.tool)
        if isinstance(execution, Executed | Failed):
            self._calls.ended(ready.proposed.base, execution.record)
        if raised and _passes(raised[0]):
            raise raised[0]
        match execution:
            case Refused():
                return await self._told_why(execution, ready, now)
            case InDoubt():
                return texts.in_doubt(execution)
            case Executed() | Failed():
                return texts.ran(execution, ready.proposed.arguments, ready.proposed.listed.tool.output_schema)

    async def _told_why(self, refusal: Refused, ready: Ready, now: Listed) -> Object:
        """Tell why a decision was not started, after a check of what holds now: what was held up is recorded (R-8)."""
        if refusal.code in ("tool_changed", "rules_changed", "repeated"):
            checked = await self._gate.check({**ready.proposed.request, "tool": now.tool})
            if isinstance(checked, StaysHeld):
                return await self._blocked(checked, ready.proposed)
        if refusal.code == "already_started" and refusal.record is not None:
            last = await self._last(refusal.record.decision_id)
            return texts.started_before(refusal.record, last, self._asking.hints)
        return texts.refused(refusal)

    async def _last(self, decision_id: str) -> Record | None:
        """Return what is recorded of a decision last."""
        steps = await anyio.to_thread.run_sync(self._gate.storage.steps, decision_id)
        return steps[-1].record if steps else None

    async def _blocked(self, checked: Checked, proposed: Proposed) -> Object:
        """Tell that a call is held; of one that was made before, as which decision, and what became of it (R-79)."""
        gate = checked.record.gate
        if gate is None or gate.repeats is None:
            told = texts.blocked(checked)
            if gate is not None and gate.kind in _LASTING and isinstance(self._words, Denies):
                about = None if gate.kind in _OF_THE_TOOL else proposed.arguments
                why = told["content"][0]["text"]
                await anyio.to_thread.run_sync(self._words.deny, proposed.join, proposed.join[TOOL], about, why)
            return told
        return texts.again(checked.record, gate.repeats, await self._last(gate.repeats), self._asking.hints)

    async def _as_it_is(self, client: Inbound, listed: Listed) -> Listed | Object:
        """Return a tool as its server lists it when it is asked now, or what the client is told instead (R-74)."""
        try:
            now = await self._catalogue.find(client, listed.server, listed.name, within=0)
        except Unclear as fault:
            return texts.failure(f"Nothing was called: {fault}.")
        gone = f"Nothing was called: `{listed.server.name}` lists no tool `{listed.name}` any more."
        return now or texts.failure(gone)


@dataclass(frozen=True)
class Ready:
    """A call that may be started; its client waits until `ends`, on the monotonic clock."""

    decision: Executable
    proposed: Proposed
    ends: float


class Held(Exception):
    """A call that does not go on; `result` is what the client is told."""

    def __init__(self, result: Object) -> None:
        """Keep the result."""
        self.result = result
        super().__init__("held")


def _passes(fault: MCPError) -> bool:
    """Whether an error goes through as it came: one that reads as if nothing had begun only where that is so (R-76)."""
    return isinstance(fault, NotBegun) or fault.code not in (CLOSED, TIMED_OUT, *NOT_BEGUN)
