"""The engine for many machines: jobs of `procrastinate` in the same PostgreSQL wake the workers.

Theory of operation
-------------------
Triggers in the database write a job for each row that is due within minutes, in the transaction that defers or moves
it, whoever does (`wake.sql`). The job's one argument is the row's id. A thread listens for jobs and hands the ids to
the worker's own thread, which looks at the row as it always does: so a job that is stale, twice or lost by a kill
changes nothing but the time of a look. A slow scan finds what no job woke for, schedules what is missing, and drops
the jobs of workers that died. Should the engine fail, the scan goes on.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import psycopg
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ProcrastinateException
from procrastinate.jobs import Status

from preflight.deferral.engines import wake_schema
from preflight.deferral.engines.polling import POLL_SECONDS
from preflight.deferral.worker import Worker
from preflight.errors import ConstructionError, StorageError, describe
from preflight.storage.postgres import WAIT_SECONDS, PostgresStorage
from preflight.storage.postgres_pool import PostgresPool, keeping, unescape

SCAN_SECONDS = 30.0
"""How late a run is at most whose wake-up was lost."""
RETRY_SECONDS = 5.0
_END_SECONDS = 5.0
"""After how long the engine is asked again to end."""
_SLICE = 0.25  # how soon the worker's thread sees that it is to stop, in seconds
_QUEUE, _TASK = "preflight", "preflight.wake"
_log = logging.getLogger("preflight.worker")


class Procrastinate:
    """Wakes workers of a PostgreSQL store; any number of machines may run it."""

    def __init__(self, url: str, *, poll_seconds: float = POLL_SECONDS, scan_seconds: float = SCAN_SECONDS) -> None:
        """Connect to the store's database; raises StorageError when that fails.

        A wake-up is at most `poll_seconds` late, one that was lost `scan_seconds`.
        """
        self._url = url
        self._poll_seconds = poll_seconds
        self._scan_seconds = scan_seconds
        self._pool = PostgresPool(url, size=2, wait_seconds=WAIT_SECONDS, tenant=None)

    def set_up(self) -> None:
        """Make what the engine keeps in the database, where it is missing or older; raises StorageError."""
        wake_schema.set_up(self._pool)

    def close(self) -> None:
        """Release the connections."""
        self._pool.close()

    def run(self, worker: Worker, stop: threading.Event) -> None:
        """Wake `worker` until `stop` is set.

        Raises ConstructionError for a worker of another store, or of one tenant only, and StorageError when the
        engine cannot be set up.
        """
        self._check(worker)
        self.set_up()
        listener = _Listener(self._url, self._poll_seconds)
        listener.start()
        try:
            self._serve(worker, stop, listener)
        finally:
            again_at = 0.0
            while listener.is_alive():
                if (
                    time.monotonic() >= again_at
                ):  # the engine's packages may lose a cancellation that comes as they open
                    listener.end()
                    again_at = time.monotonic() + _END_SECONDS
                with suppress(queue.Empty):  # a job that came meanwhile is for another worker, or for the next start
                    self._over(listener.woken.get(timeout=_SLICE))

    def _serve(self, worker: Worker, stop: threading.Event, listener: _Listener) -> None:
        self._catch_up()
        scan_at = time.monotonic() + self._scan_seconds
        while not stop.is_set():
            if time.monotonic() >= scan_at:
                worker.look()
                self._catch_up()
                listener.drop_stalled()
                scan_at = time.monotonic() + self._scan_seconds
            with suppress(queue.Empty):
                self._woken(worker, listener.woken.get(timeout=_SLICE))

    def _woken(self, worker: Worker, wakeup: _Wakeup) -> None:
        try:
            worker.look(only=wakeup.deferral_id)
        finally:
            self._over(wakeup)

    def _over(self, wakeup: _Wakeup) -> None:
        try:
            wake_schema.again(self._pool, wakeup.deferral_id)
        except StorageError as fault:
            _log.error("the next wake-up is left to the scan: %s", describe(fault))
        finally:
            wakeup.done()

    def _catch_up(self) -> None:
        try:
            wake_schema.catch_up(self._pool)
        except StorageError as fault:
            _log.error("wake-ups are left to the next scan: %s", describe(fault))

    def _check(self, worker: Worker) -> None:
        store = worker.storage
        if not isinstance(store, PostgresStorage) or store.tenant is not None:
            raise ConstructionError(
                "the engine `procrastinate` wakes for every row of a PostgreSQL store, and this worker has a "
                f"`{type(store).__name__}`; open its store by a `postgresql://` address, without `tenant`"
            )
        if store.name != self._pool.name:
            raise ConstructionError(f"the engine is at `{self._pool.name}`, the worker's store at `{store.name}`")


class _Wakeup(NamedTuple):
    """A row to look at, and what to call when that was done."""

    deferral_id: str
    done: Callable[[], object]


class _Listener(threading.Thread):
    """Fetches jobs in a loop of its own and hands them over; starts the engine again when it fails."""

    def __init__(self, url: str, poll_seconds: float) -> None:
        super().__init__(name="preflight-waking", daemon=True)
        self.woken: queue.SimpleQueue[_Wakeup] = queue.SimpleQueue()
        self._poll_seconds = poll_seconds
        self._ending = False
        self._app = App(connector=_connector(url))
        self._app.task(name=_TASK, queue=_QUEUE)(self._wake)
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = self._runner.get_loop()
        self._listening = self._loop.create_task(self._listen())

    def run(self) -> None:
        """Fetch jobs until the end is asked for."""
        with self._runner:  # which also ends what the engine left behind
            self._runner.run(self._listened())

    def end(self) -> None:
        """Ask for the end. Jobs that were fetched must still be told to be done."""
        self._ending = True
        with suppress(RuntimeError):  # the loop is closed: it ended meanwhile
            self._loop.call_soon_threadsafe(self._listening.cancel)

    def drop_stalled(self) -> None:
        """Drop the jobs of workers that died: their rows are woken for again when the leases end."""
        asyncio.run_coroutine_threadsafe(self._drop_stalled(), self._loop).result()

    async def _wake(self, deferral_id: str) -> None:
        seen = asyncio.Event()
        done = partial(self._loop.call_soon_threadsafe, seen.set)
        self.woken.put(_Wakeup(unescape(deferral_id), done))
        await seen.wait()

    async def _listened(self) -> None:
        with suppress(asyncio.CancelledError):
            await self._listening

    async def _listen(self) -> None:
        while True:
            try:
                await self._fetch()
                told = "it stopped by itself"
            except Exception as fault:  # noqa: BLE001  whatever it was, the scan goes on and the engine is tried again
                told = describe(fault.__cause__ or fault)  # the engine's own text is `Database error`
            if self._ending:
                return
            _log.error("the engine failed, starting it again: %s", told)
            await asyncio.sleep(RETRY_SECONDS)

    async def _fetch(self) -> None:
        try:
            await self._app.open_async()
            await self._app.run_worker_async(
                queues=[_QUEUE],
                concurrency=1,
                fetch_job_polling_interval=self._poll_seconds,
                delete_jobs="always",
                install_signal_handlers=False,
            )
        finally:
            await self._app.close_async()  # also where the end came while it was opened

    async def _drop_stalled(self) -> None:
        jobs = self._app.job_manager
        try:
            for job in await jobs.get_stalled_jobs(queue=_QUEUE):
                await jobs.finish_job(job, Status.FAILED, delete_job=True)
        except (ProcrastinateException, psycopg.Error) as fault:  # another worker dropped it, or there is no connection
            _log.info("jobs of dead workers are left to the next scan: %s", describe(fault))


def _connector(url: str) -> PsycopgConnector:
    return PsycopgConnector(
        conninfo=url,
        kwargs=keeping(url, WAIT_SECONDS),
        min_size=1,
        max_size=4,
        timeout=WAIT_SECONDS,
        configure=_configure,
    )


async def _configure(connection: psycopg.AsyncConnection) -> None:
    """Have a session of the engine find its tables, and wait no longer than the store does."""
    wait = f"{int(WAIT_SECONDS * 1000)}ms"
    settings = {"search_path": wake_schema.SCHEMA, "lock_timeout": wait, "statement_timeout": wait}
    for name, value in settings.items():
        await connection.execute("SELECT set_config(%s, %s, false)", (name, value))
    await connection.commit()
