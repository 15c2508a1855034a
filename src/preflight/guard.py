"""The only place that calls a hook: time limits, exact types, exceptions turned into facts (R-10, R-101).

The core hands out needs; `Guard.drive` calls the hook of each and sends the fact back. A hook declared
inline is called in place. At the first sync hook that is not, the rest of the decision moves to a worker
thread and the calling thread watches: when a hook exceeds its limit the watcher takes the decision over with
a `Failed`, and what the abandoned thread brings later is dropped.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import math
import threading
from collections.abc import Mapping
from time import monotonic
from types import CoroutineType, MappingProxyType

import msgspec

from preflight.core.decide import Path
from preflight.core.needs import Failed, Need
from preflight.errors import CallerError, ConstructionError, describe
from preflight.hooks.protocol import Hook, is_inline
from preflight.limits import Limits
from preflight.model.checklist import Match
from preflight.model.decision import Decision
from preflight.model.evidence import Located, NotGrounded
from preflight.model.rules import ToolRules
from preflight.model.slot import FieldState
from preflight.workers import Job, Workers

_EXACT = frozenset(
    {
        type(None), bool, int, float, str, dict, list, tuple, MappingProxyType,
        FieldState, Match, Located, NotGrounded, ToolRules,
    }
)  # fmt: skip
_PLAIN = frozenset({type(None), FieldState, Match, Located, NotGrounded})  # nothing more to check
_inside: contextvars.ContextVar[bool] = contextvars.ContextVar("preflight_inside_hook", default=False)


class Driven(msgspec.Struct):
    """A decision, and the interrupt a hook raised on the way, to be raised again once it is recorded."""

    decision: Decision
    interrupt: BaseException | None = None


class _Called(msgspec.Struct, frozen=True):
    """One hook as the guard calls it."""

    name: str
    call: Hook
    inline: bool
    waits: bool
    seconds: float


_NO_THREAD = Failed("no worker thread is free")


def _called(name: str, hook: Hook, seconds: float) -> _Called:
    waits = inspect.iscoroutinefunction(hook)
    return _Called(name, hook, is_inline(hook) and not waits, waits, seconds)


def _seconds(given: object, hooks: Mapping[str, Hook]) -> Mapping[str, float]:
    """Return the time limits by hook; what names no hook, or sets no limit, would be lost unseen (R-100)."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        message = f"`hook_seconds` is a `{type(given).__name__}`; map names of hooks to seconds"
        raise ConstructionError(message)
    for name, seconds in given.items():
        if name not in hooks:
            message = f"`hook_seconds` has `{name}`, which is no hook here; the hooks are {', '.join(sorted(hooks))}"
            raise ConstructionError(message)
        if type(seconds) not in (int, float) or not 0 <= seconds < math.inf:
            message = f"`hook_seconds` of `{name}` is no length of time; give seconds"
            raise ConstructionError(message)
    return given


class Guard:
    """Drives decisions with one set of hooks. Safe to use from many threads."""

    def __init__(self, hooks: Mapping[str, Hook], limits: Limits, seconds: Mapping[str, float] | None = None) -> None:
        """Take hooks by name; `seconds` overrides the time limit of single hooks.

        Raises ConstructionError where `seconds` is no mapping of these names to lengths of time.
        """
        given = _seconds(seconds, hooks)
        limit = {name: given.get(name, limits.hook_seconds) for name in hooks}
        self._hooks = {name: _called(name, hook, limit[name]) for name, hook in hooks.items()}
        self._result_limit = limits.hook_result_bytes
        self.patience = limits.hook_seconds
        self._workers = Workers(limits.hook_threads)
        self._portal = Portal()

    def drive(self, path: Path) -> Driven:
        """Walk a decision path to its end, calling each hook it needs."""
        refuse_reentry()
        token = _inside.set(True)
        try:
            return self._drive_here(path)
        finally:
            _inside.reset(token)

    def _drive_here(self, path: Path) -> Driven:
        """Call hooks in place as long as they are inline; from the first that may wait, a thread is watched.

        Written out, and one clock reading a hook: this loop is the hot path.
        """
        driven = Driven(None)  # type: ignore[arg-type]  # set before it is returned
        hooks, send = self._hooks, path.send
        fact: object = None
        ended = monotonic()
        try:
            while True:
                need = send(fact)
                hook = hooks[need.hook]
                if not hook.inline:
                    return _Watched(self, path, driven).run(need)
                try:
                    fact = hook.call(*need.args)
                except BaseException as fault:  # noqa: BLE001  R-10: whatever a hook raises is a fact
                    fact = self._raised(fault, driven)
                started, ended = ended, monotonic()
                if ended - started > hook.seconds:
                    fact = Failed(f"took longer than {hook.seconds} s")  # a late result is dropped
                elif type(fact) not in _PLAIN:
                    fact = self._checked(fact)
        except StopIteration as end:
            driven.decision = end.value
            return driven

    async def drive_async(self, path: Path) -> Driven:
        """Walk a decision path to its end on an event loop."""
        refuse_reentry()
        token = _inside.set(True)
        driven = Driven(None)  # type: ignore[arg-type]  # set before it is returned
        try:
            need = next(path)
            while True:
                need = path.send(await self._call_async(self._hooks[need.hook], need, driven))
        except StopIteration as end:
            driven.decision = end.value
            return driven
        finally:
            _inside.reset(token)

    def hook(self, need: Need) -> _Called:
        """Return the hook a need names."""
        return self._hooks[need.hook]

    def submit(self, job: Job, patience: float = 0.0) -> bool:
        """Run a job on a worker thread in a copy of this context; False when none is free within `patience` seconds."""
        context = contextvars.copy_context()
        return self._workers.run(lambda: context.run(job), patience)

    def call(self, hook: _Called, need: Need, driven: Driven) -> object:
        """Call one hook in place and return its result, or `Failed`."""
        started = monotonic()
        try:
            result = hook.call(*need.args)
            if type(result) is CoroutineType:
                result = self._portal.wait(result, hook.seconds)
        except BaseException as fault:  # noqa: BLE001  R-10: whatever a hook raises is a fact
            return self._raised(fault, driven)
        if monotonic() - started > hook.seconds:
            return Failed(f"took longer than {hook.seconds} s")
        return self._checked(result)

    async def _call_async(self, hook: _Called, need: Need, driven: Driven) -> object:
        if hook.inline:
            return self.call(hook, need, driven)
        own = Driven(driven.decision)
        started = monotonic()
        task = asyncio.ensure_future((self._awaited if hook.waits else self._threaded)(hook, need, own))
        try:
            done, _ = await asyncio.wait((task,), timeout=hook.seconds)
        finally:
            task.cancel()  # without effect on one that is done; one that ignores it goes on alone
        if not done or monotonic() - started > hook.seconds:
            return Failed(f"took longer than {hook.seconds} s")
        if task.cancelled():
            return Failed("cancelled itself")
        if own.interrupt is not None:
            driven.interrupt = own.interrupt
        fault = task.exception()
        return task.result() if fault is None else self._raised(fault, driven)

    async def _awaited(self, hook: _Called, need: Need, driven: Driven) -> object:
        """Await a hook in a task of its own, where an interrupt it raises must not reach the loop."""
        try:
            return self._checked(await hook.call(*need.args))
        except (KeyboardInterrupt, SystemExit, Exception) as fault:  # noqa: BLE001  R-10: whatever it raises is a fact
            return self._raised(fault, driven)

    async def _threaded(self, hook: _Called, need: Need, driven: Driven) -> object:
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[object] = loop.create_future()

        def job() -> None:
            fact = self.call(hook, need, driven)
            with contextlib.suppress(RuntimeError):  # the loop may have closed meanwhile: the result is late
                loop.call_soon_threadsafe(lambda: None if ended.done() else ended.set_result(fact))

        if self.submit(job) or await asyncio.to_thread(self.submit, job, hook.seconds):
            return await ended
        return _NO_THREAD

    def _raised(self, fault: BaseException, driven: Driven) -> Failed:
        if isinstance(fault, KeyboardInterrupt | SystemExit):
            driven.interrupt = fault  # recorded first, then raised again
        return Failed(describe(fault))

    def _checked(self, result: object) -> object:
        if type(result) is dict:
            for part in result.values():
                if type(part) is str and len(part) > self._result_limit:
                    return Failed(f"returned more than {self._result_limit} characters")
            return result
        if type(result) is CoroutineType:
            result.close()
            return Failed("returned a coroutine; declare the hook with `async def` and not inline")
        if type(result) not in _EXACT and type(result) is not Failed:
            return Failed(f"returned a `{type(result).__name__}`")
        if type(result) is float and not math.isfinite(result):
            return Failed("returned a number that is not finite")
        if type(result) is str and len(result) > self._result_limit:
            return Failed(f"returned more than {self._result_limit} characters")
        return result


class _Watched:
    """One decision on a worker thread, with the calling thread watching the clock."""

    def __init__(self, guard: Guard, path: Path, driven: Driven) -> None:
        self._guard = guard
        self._path = path
        self._driven = driven
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._owner: object = None
        self._since: float | None = None
        self._hook: _Called | None = None
        self._fault: BaseException | None = None

    def run(self, need: Need) -> Driven:
        """Go on from a need that waits for its hook."""
        self._hand_over(need, None)
        while not self._done.wait(self._patience()):
            with self._lock:
                hook, since = self._hook, self._since
                hung = hook is not None and since is not None and monotonic() - since >= hook.seconds
                if hung:
                    self._owner = None
            if hung and hook is not None:
                self._hand_over(None, Failed(f"took longer than {hook.seconds} s"))
        if self._fault is not None:
            raise self._fault
        return self._driven

    def _patience(self) -> float:
        hook, since = self._hook, self._since
        if hook is None or since is None:
            return 0.05
        return max(0.0, since + hook.seconds - monotonic()) + 0.001

    def _hand_over(self, need: Need | None, fact: object) -> None:
        """Let a thread of its own call the hook of `need`, or go on with a fact."""
        owner = object()
        with self._lock:
            self._owner, self._since = owner, None
        if not self._guard.submit(lambda: self._advance(owner, need, fact), self._guard.patience):
            self._finish_without_workers(_NO_THREAD if need is not None else fact)

    def _finish_without_workers(self, fact: object) -> None:
        """With every thread hung, the rest of the decision sees each hook fail: it ends in hold."""
        try:
            self._path.send(fact)
            while True:
                self._path.send(_NO_THREAD)
        except StopIteration as end:
            self._driven.decision = end.value
        self._done.set()

    def _advance(self, owner: object, waiting: Need | None, fact: object) -> None:
        try:
            need = self._path.send(fact) if waiting is None else waiting
            while True:
                hook = self._guard.hook(need)
                self._hook, self._since = hook, monotonic()
                own = Driven(self._driven.decision)
                fact = self._guard.call(hook, need, own)
                with self._lock:
                    if self._owner is not owner:
                        return  # taken over meanwhile: this result is late, and so is an interrupt
                    self._since = None
                if own.interrupt is not None:
                    self._driven.interrupt = own.interrupt
                need = self._path.send(fact)
        except StopIteration as end:
            self._driven.decision = end.value
        except BaseException as fault:  # noqa: BLE001  handed to the thread that waits
            self._fault = fault
        self._done.set()


class Portal:
    """An event loop on a daemon thread, for async hooks of a sync caller; started when first needed."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def wait(self, coroutine: CoroutineType[object, object, object], seconds: float) -> object:
        """Run a coroutine to its end and return its result; raises TimeoutError after `seconds`."""
        return asyncio.run_coroutine_threadsafe(asyncio.wait_for(coroutine, seconds), self._running()).result(
            seconds + 1
        )

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="preflight-portal", daemon=True).start()
            return self._loop


def refuse_reentry() -> None:
    """Refuse to decide from inside a hook: a decision that asks itself never ends."""
    if _inside.get():
        message = "a hook called the gate again; a hook may only look things up"
        raise CallerError(message)
