"""The public calls: `create_preflight`, `Preflight` and `AsyncPreflight`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

from preflight.clock import SystemClock
from preflight.core.setup import Setup
from preflight.errors import CallerError, ConstructionError, InvalidInput
from preflight.executor import AsyncCall, Call, Executor, never, unlimited
from preflight.gate import Given, Ready, Shell
from preflight.guard import Guard
from preflight.hooks.protocol import OPTIONAL
from preflight.hooks.shipped import ShippedHooks
from preflight.hooks.table import collect
from preflight.limits import DEFAULT, Limits
from preflight.model.decision import Decision
from preflight.model.question import Question
from preflight.model.record import Record
from preflight.model.request import Scope
from preflight.model.tool import Tool
from preflight.plans import plan_of
from preflight.ports import Clock, Query, Signer, Storage
from preflight.questions import Questions
from preflight.recovery import GRACE_SECONDS, Recovered, Recovery, TookEffect
from preflight.results import (
    Accepted,
    Checked,
    Claimed,
    Executable,
    Executed,
    Execution,
    Failed,
    InDoubt,
    Refused,
)
from preflight.rulebook import RulesGiven, RuleSource, rules_source
from preflight.scheduling import schedulable
from preflight.secrecy.documents import Secrecy
from preflight.secrecy.safekeeping import default_signer, default_vault
from preflight.secrecy.vault import Subject, Vault
from preflight.services.measuring import Measurer, ReadTool
from preflight.storage import open_storage

if TYPE_CHECKING:
    from preflight.services.service import Services

_EVERY = 1 << 31
ANYWHERE = Scope()
"""The scope of callers that have no tenants and no conversations."""


class _Parts:
    """What both faces are made of; shared so that they cannot drift apart."""

    def __init__(self, hooks: object, storage: Storage, options: Options) -> None:
        limits, clock = options.get("limits", DEFAULT), options.get("clock") or SystemClock()
        rules, read_tool = rules_source(options.get("rules")), options.get("read_tool")
        if hooks is None:
            hooks = ShippedHooks()
        if isinstance(hooks, ShippedHooks):  # a rule that they do not know could not refuse
            hooks = hooks.joined(storage, rules, read_tool, clock, limits)
        table, unsafe = collect(hooks, strict=options.get("strict", True))
        services = _services(options.get("rules"), storage, Measurer(read_tool, clock, limits), rules, clock)
        served = {} if services is None else services.hooks()
        table, served = schedulable(table, served, storage, rules)
        plans = partial(plan_of, limits=limits)
        setup = Setup(limits, frozenset(table) & frozenset(OPTIONAL) | frozenset(served), plans)
        keep = options.get("store_instruction", False)
        self.unsafe_defaults = unsafe
        self.storage = storage
        self.clock = clock
        self.rules = rules
        self.services = services
        self._guard = Guard({**table, **served}, limits, options.get("hook_seconds"))
        self.signer = signer = options.get("signer") or default_signer(storage, clock)
        self._vault = _vault(options.get("vault"), storage, clock)
        self._secrecy = secrecy = Secrecy(self._vault)
        self._shell = Shell(storage, clock, rules, setup, store_instruction=keep, signer=signer, secrecy=secrecy)
        recheck, admit = (never, unlimited) if services is None else (services.recheck, services.admission)
        self._took_effect: TookEffect = _unmeasured if services is None else services.took_effect
        self._executor = Executor(
            storage, clock, limits, lambda: rules().digest, recheck, admit, signer=signer, secrets=secrecy
        )
        self._questions = Questions(storage, clock, secrecy, rules)
        self.ask_by, self.answerable = self._questions.ask_by, self._questions.answerable
        self._recovery = Recovery(storage, clock, signer)

    def pending(self, scope: Scope | None = None) -> list[Question]:
        """Return the open questions, oldest first; those of one scope, or of all."""
        return self._questions.open(scope)

    def get_prior_execution_state(
        self, *, user_id: str, action_key: str, tool: Tool | Mapping[str, object], scope: Scope = ANYWHERE
    ) -> Record | None:
        """Return the latest executed record of this user, key, tool and scope (R-42), or None."""
        fingerprint = Tool.from_mcp(tool).fingerprint
        stored = self.storage.latest_executed(scope, user_id, action_key, fingerprint)
        return None if stored is None else stored.record

    def claim(
        self, decision: Executable | Record | str, tool: Tool | Mapping[str, object] | None = None
    ) -> Claimed | Refused:
        """Start a decision without handing over the callable: only one caller ever gets a `Claimed`.

        Call the tool with exactly `claimed.call`, once, then `settle` or `fail` it.
        """
        return self._executor.claim(_id_of(decision), _tool(tool))

    def settle(self, claimed: Claimed, result: object = None) -> Executed | Failed | InDoubt:
        """Record what the provider returned for a claimed call."""
        return self._executor.settle(claimed, result)

    def fail(self, claimed: Claimed, fault: BaseException | str, *, refused: bool = False) -> Failed | InDoubt:
        """Record that a claimed call raised; `refused` says that the provider did nothing (R-76)."""
        return self._executor.fail(claimed, fault, refused=refused)

    def resolve(self, decision_id: str, outcome: Literal["executed", "failed"], *, by: str, evidence: str) -> Record:
        """Settle a call in doubt by what a person or a measurement found; it is never called again (R-75)."""
        return self._recovery.resolve(decision_id, outcome, by=by, evidence=evidence)

    def in_doubt(self) -> list[Record]:
        """Return the starts that have no outcome, and the doubts nobody settled."""
        return self._recovery.in_doubt()

    def recover(self, grace_seconds: float = GRACE_SECONDS) -> list[Recovered]:
        """Look at every call in doubt, and settle those for which the rules declare a measurement (R-75).

        Nothing is called but measures. A start younger than `grace_seconds` is left alone: it may be under way.
        """
        return self._recovery.recover(self._took_effect, self._secrecy, grace_seconds)

    def reveal(self, decision: Executable | Record | str) -> Record:
        """Return a stored record with its secret values put back; hand it on to nobody who may not see them (R-78).

        Raises InvalidInput when there is no such record, Erased when the person's key was destroyed.
        """
        name = _id_of(decision)
        stored = self.storage.get(name)
        if stored is None:
            raise InvalidInput("decision", f"no record has the id `{name}`")
        return self._secrecy.opened(stored.record, stored.record.scope, stored.record.user_id)

    def find_secret(self, slot: str, value: object, *, user_id: str, tenant: str = "") -> list[Record]:
        """Return a person's records in which a secret slot has exactly this value, newest first (R-78).

        Keyed digests are compared; nothing is opened. There are none once the person's key was destroyed.
        """
        digest = self._vault().digest(Subject(tenant, user_id), slot, value)
        if digest is None:
            return []
        query = Query(tenant=tenant, user_id=user_id, field=slot, limit=_EVERY)
        records = (stored.record for stored in self.storage.find(query))
        return [record for record in records if any(sealed.digest == digest for sealed in record.sealed.values())]

    def erase(self, user_id: str, tenant: str = "") -> bool:
        """Make a person's secret values unreadable for good, in every record and question, by destroying their key.

        The records stay, and so do chain and signatures. False when there was no key.
        """
        return self._vault().destroy(Subject(tenant, user_id))

    def refuse(self, given: object, fault: InvalidInput) -> Checked:
        """Record that a request could not even be read: for programs that read them from files or a wire (R-8).

        Kept are the fault and the digest of what came, never the body.
        """
        return self._shell.refuse(given, fault)

    def close(self) -> None:
        """Release the storage."""
        self.storage.close()

    def _prepared(self, given: Given) -> Ready | Checked:
        """Read a request for `check`: a finished verdict when it is malformed or was decided before."""
        try:
            ready = self._shell.read(given)
        except InvalidInput as fault:
            return self._shell.refuse(given, fault)
        earlier = self._shell.earlier(ready)
        return ready if earlier is None else earlier


class Preflight(_Parts):
    """The gate and the executor for synchronous programs. Safe to use from many threads.

    Build it with `create_preflight`.
    """

    def check(self, request: Given) -> Checked:
        """Decide a proposed call, record the verdict and return it. Never raises.

        Repeating a check with the same `call_id` and facts returns the same verdict; answers given
        meanwhile are facts, so the check after an answer decides anew. Whatever goes wrong ends in `Held`.
        """
        try:
            prepared = self._prepared(request)
            if not isinstance(prepared, Ready):
                return prepared
            return self._shell.conclude(prepared, self._guard.drive(prepared.path()))
        except Exception as fault:  # noqa: BLE001  R-31: ends in hold
            return self._shell.stopped(request, fault)

    def run_preflight(self, request: Given) -> Decision:
        """Decide without recording: for looking. Nothing can be executed from it.

        Raises InvalidInput for a malformed request.
        """
        ready = self._shell.read(request)
        driven = self._guard.drive(ready.path())
        if driven.interrupt is not None:
            raise driven.interrupt
        return self._shell.draft(ready, driven.decision)

    def run_preflight_and_record(self, request: Given) -> Checked:
        """Decide and record; like `check`, but a malformed request or a failing store raises."""
        ready = self._shell.read(request)
        if (before := self._shell.earlier(ready)) is not None:
            return before
        return self._shell.conclude(ready, self._guard.drive(ready.path()))

    def record_execution_state(self, request: Given, decision: Decision) -> Checked:
        """Record a decision that `run_preflight` made of this request, once.

        Raises InvalidInput for one that was made or changed by hand, or recorded before.
        """
        return self._shell.record_draft(self._shell.read(request), decision)

    def answer(
        self, question_id: str, values: Mapping[str, object], *, person: str, channel: str = "api"
    ) -> Checked | Accepted:
        """Answer a question once and repeat its run.

        `values` maps asked slots to values (None: there is none), item ids to True, or `restatement` to
        text. `person` must be the user who was asked. `channel` is `form`, `page`, `terminal` or a name of your own;
        which is enough the rules say, and `ask_by(question)`. Raises AnswerRefused saying what does not fit.
        Returns `Accepted` when the request is not at hand: check the same call again.
        """
        question, answer = self._questions.take(question_id, values, person=person, channel=channel)
        request = self._shell.repeated(question, answer)
        return Accepted(question_id, question.call_id) if request is None else self.check(request)

    def execute_if_ready(
        self, decision: Executable | Record | str, call: Call, *, tool: Tool | Mapping[str, object] | None = None
    ) -> Execution:
        """Execute a recorded decision at most once; only its id is used, the arguments come from the record.

        `call` is given a `ToolCall` and returns the provider's result; it raises ProviderError when the
        provider refused. `tool` is the tool as its server lists it now: a change refuses the start (R-74). Raises
        CallerError, with nothing started, where `call` is an `async` function.
        """
        return self._executor.execute(_id_of(decision), call, _tool(tool))


class AsyncPreflight(_Parts):
    """The gate and the executor for programs on an event loop; the names of `Preflight`.

    Hooks may be coroutines. What checks and answers store is written on threads, so that a busy disk does not stop the
    loop; the claim and the outcome of an execution are written on the loop, so that no cancellation comes between.
    """

    async def check(self, request: Given) -> Checked:
        """Decide a proposed call, record the verdict and return it; see `Preflight.check`."""
        try:
            prepared = await asyncio.to_thread(self._prepared, request)
            if not isinstance(prepared, Ready):
                return prepared
            driven = await self._guard.drive_async(prepared.path())
            return await asyncio.to_thread(self._shell.conclude, prepared, driven)
        except Exception as fault:  # noqa: BLE001  R-31: ends in hold
            return self._shell.stopped(request, fault)

    async def run_preflight(self, request: Given) -> Decision:
        """Decide without recording; see `Preflight.run_preflight`."""
        ready = await asyncio.to_thread(self._shell.read, request)
        driven = await self._guard.drive_async(ready.path())
        if driven.interrupt is not None:
            raise driven.interrupt
        return self._shell.draft(ready, driven.decision)

    async def run_preflight_and_record(self, request: Given) -> Checked:
        """Decide and record; see `Preflight.run_preflight_and_record`."""
        ready = await asyncio.to_thread(self._shell.read, request)
        if (before := await asyncio.to_thread(self._shell.earlier, ready)) is not None:
            return before
        driven = await self._guard.drive_async(ready.path())
        return await asyncio.to_thread(self._shell.conclude, ready, driven)

    async def record_execution_state(self, request: Given, decision: Decision) -> Checked:
        """Record a decision that `run_preflight` made of this request; see `Preflight.record_execution_state`."""
        ready = await asyncio.to_thread(self._shell.read, request)
        return await asyncio.to_thread(self._shell.record_draft, ready, decision)

    async def answer(
        self, question_id: str, values: Mapping[str, object], *, person: str, channel: str = "api"
    ) -> Checked | Accepted:
        """Answer a question once and repeat its run; see `Preflight.answer`."""
        question, answer = await asyncio.to_thread(
            lambda: self._questions.take(question_id, values, person=person, channel=channel)
        )
        request = self._shell.repeated(question, answer)
        return Accepted(question_id, question.call_id) if request is None else await self.check(request)

    async def execute_if_ready(
        self, decision: Executable | Record | str, call: AsyncCall, *, tool: Tool | Mapping[str, object] | None = None
    ) -> Execution:
        """Execute a recorded decision at most once; see `Preflight.execute_if_ready`. `call` is awaited."""
        return await self._executor.execute_async(_id_of(decision), call, _tool(tool))


class Options(TypedDict, total=False):
    """What `create_preflight` takes besides hooks and storage; everything has a safe default.

    `strict` (True) refuses hooks whose default verifies nothing. `clock` tells the time (the machine's).
    `rules` is a file or folder of rules, read again when it changes, or a `RuleSet`, a callable that returns the
    rules in force, or values by `(server, tool)`; a tool without rules is irreversible. `read_tool` calls a read
    tool for measurements: server, tool, arguments. `limits` bounds what is accepted. `store_instruction` (False)
    keeps the user's words, and the whole request, with the records and questions (R-71).
    `hook_seconds` overrides time limits by hook name (10 s). `signer` signs what is recorded and verifies what
    is executed, `vault` encrypts the values of fields that the rules mark as secret; without, the keys lie in
    files beside the database, or come from the environment (`docs/howto/keys.md`).
    """

    strict: bool
    clock: Clock | None
    rules: RulesGiven
    read_tool: ReadTool | None
    limits: Limits
    store_instruction: bool
    hook_seconds: Mapping[str, float]
    signer: Signer | None
    vault: Vault | None


def create_preflight(*, storage: Storage | str | Path, hooks: object = None, **options: Unpack[Options]) -> Preflight:
    """Build a `Preflight`.

    `storage` is a store, a path of an SQLite file or `:memory:`. `hooks` maps hook names to callables, or is
    an object that has them; without, the shipped hooks are used. `options` are those of `Options`.
    Raises ConstructionError for anything that cannot work (R-100).
    """
    return Preflight(hooks, _store(storage), options)


def create_async_preflight(
    *, storage: Storage | str | Path, hooks: object = None, **options: Unpack[Options]
) -> AsyncPreflight:
    """Build an `AsyncPreflight`; the parameters are those of `create_preflight`."""
    return AsyncPreflight(hooks, _store(storage), options)


def _store(storage: Storage | str | Path | None) -> Storage:
    if storage is None:
        message = "no storage; give a path for an SQLite file, `:memory:`, or a store"
        raise ConstructionError(message)
    if isinstance(storage, str | Path):
        return open_storage(storage)
    if missing := [name for name in ("append", "claim", "finish", "get") if not callable(getattr(storage, name, None))]:
        message = f"`{type(storage).__name__}` is no storage: it has no `{missing[0]}`"
        raise ConstructionError(message)
    return storage


def _unmeasured(record: Record) -> None:
    """Tell nothing about a call in doubt."""


def _vault(given: Vault | None, storage: Storage, clock: Clock) -> Callable[[], Vault]:
    return default_vault(storage, clock) if given is None else lambda: given


def _services(
    given: RulesGiven, storage: Storage, measurer: Measurer, rules: RuleSource, clock: Clock
) -> Services | None:
    """Return what carries rules out; nothing is loaded for it where there are none."""
    if given is None:
        return None
    from preflight.services.service import Services  # noqa: PLC0415  CEL and YAML only where rules are used

    return Services(storage, measurer, rules, clock)


def _id_of(decision: Executable | Record | str) -> str:
    """Return the id of what is to be executed; nothing else of it is used (R-74)."""
    found = decision.record if isinstance(decision, Checked) else decision
    name = found.decision_id if isinstance(found, Record) else found
    if type(name) is not str:
        message = f"a `{type(decision).__name__}` is no decision; give its id, its record or what `check` returned"
        raise CallerError(message)
    return name


def _tool(tool: Tool | Mapping[str, object] | None) -> Tool | None:
    return None if tool is None else Tool.from_mcp(tool)
