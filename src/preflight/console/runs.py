"""Everything that waits for a user, and what people do with deferred runs: look, cancel, move, hasten, resume.

The changes are those of the command line (`preflight.deferral.changes`). Nothing here calls a tool: a run that is
hastened or resumed is due, and a worker takes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from preflight.api import AsyncPreflight
from preflight.clock import iso
from preflight.console import look, view
from preflight.console.access import Access, is_here
from preflight.console.whose import Whose
from preflight.deferral.changes import OPEN, DeferredRuns, time_of
from preflight.errors import InvalidInput
from preflight.model.channel import signed
from preflight.model.deferral import Deferral, DeferralNote
from preflight.model.record import Record
from preflight.ports import Scheduling
from preflight.render.visible import visible

MOST: Final = 200
"""How many runs that are over are listed."""
_WORKER: Final = "A worker takes it at its next look; this page calls nothing itself."
_DONE: Final = {
    "cancel": "It is cancelled. Nothing of it fires any more.",
    "move": "It is moved.",
    "run-now": f"It is due now. {_WORKER}",
    "resume": f"It is tried again from the beginning. {_WORKER}",
}


class RunPages:
    """The pages of a user's deferred runs, and the one of everything that waits."""

    def __init__(self, gate: AsyncPreflight, access: Access, whose: Whose) -> None:
        """Show and change what is `whose` in the store of `gate`, to browsers that were paired."""
        self._gate = gate
        self._access = access
        self._whose = whose
        self._runs = DeferredRuns(gate) if isinstance(gate.storage, Scheduling) else None
        self.routes = [
            Route("/", self._home),
            Route("/d/{run}", self._show),
            Route("/d/{run}/{action}", self._change, methods=["POST"]),
        ]

    async def _home(self, request: Request) -> Response:
        if (shut := self._shut(request, "")) is not None:
            return shut
        over = request.query_params.get("over") == "yes"
        waiting, runs = await anyio.to_thread.run_sync(self._all, over)
        return look.page("home", "What waits", asked=waiting, runs=runs, over=over, user=visible(self._whose.user))

    async def _show(self, request: Request) -> Response:
        run_id = request.path_params["run"]
        if (shut := self._shut(request, f"d/{run_id}")) is not None:
            return shut
        done = request.query_params.get("done", "")
        found = await anyio.to_thread.run_sync(self._mine, run_id)
        # anybody can write a link: it says nothing that the run itself does not show
        true = found is not None and (found[0].state == "cancelled") == (done == "cancel")
        return await self._run(run_id, _DONE.get(done, "") if true else "")

    async def _change(self, request: Request) -> Response:
        """Change a run by the page's own form, of the run as that page showed it."""
        run_id, action = request.path_params["run"], request.path_params["action"]
        form = await self._access.form(request)
        if form is None or not self._access.paired(request):
            return look.note("Who is asking?", status=403)
        if not self._access.is_ours(form, f"run {run_id}"):
            return await self._run(run_id, "The page was too old; look again.", 403)
        if action not in _DONE:
            return look.note("There is nothing like that to do", status=404, home=True)
        try:
            changed = await anyio.to_thread.run_sync(self._changed, run_id, action, form)
        except InvalidInput as refused:
            status = 422 if refused.where == "to" else 409
            why = str(refused).removeprefix(f"`{refused.where}`: ")
            return await self._run(run_id, visible(why), status, form.get("to", "") if status == 422 else "")
        if changed is None:
            return look.note("There is no such run", status=404, home=True)
        return look.away(f"{changed}?done={action}")

    def _shut(self, request: Request, to: str) -> Response | None:
        if not is_here(request):
            return look.note("This page is only for this machine", status=421)
        if not self._access.paired(request):
            return look.page("pair", "Who is asking?", to=to, status=403)
        return None

    # on a thread: the store

    def _all(self, over: bool) -> tuple[list[view.Asked], list[view.Run]]:  # noqa: FBT001  handed to a thread
        waiting = [
            view.asked(question, self._record(question.decision_id))
            for question in self._gate.pending()
            if self._whose.is_of(question.user_id, question.scope)
        ]
        found = [] if self._runs is None else self._runs.find(states=("done", "cancelled") if over else OPEN)
        mine = [row for row in found if self._whose.is_of(row.user_id, row.scope)]
        return waiting, [self._shown(row) for row in (mine[-MOST:][::-1] if over else mine)]

    def _shown(self, row: Deferral, notes: list[DeferralNote] | None = None) -> view.Run:
        progress: view.Progress = "due" if row.due <= iso(self._gate.clock.now()) else "ahead"
        if progress == "due" and self._runs is not None and self._runs.started(row):
            progress = "started"
        return view.run(row, self._record(row.decision_id), progress, notes or ())

    def _record(self, decision_id: str) -> Record | None:
        stored = self._gate.storage.get(decision_id)
        return None if stored is None else stored.record

    def _mine(self, run_id: str) -> tuple[Deferral, list[DeferralNote]] | None:
        """Return a run of this user, and what happened to it; of another's, not even that it is there."""
        if self._runs is None:
            return None
        try:
            row, notes = self._runs.show(run_id)
        except InvalidInput:
            return None
        return (row, notes) if self._whose.is_of(row.user_id, row.scope) else None

    def _changed(self, run_id: str, action: str, form: dict[str, str]) -> str | None:
        """Change a run and return where it is shown; None where the user has no such run."""
        runs = self._runs
        if runs is None or self._mine(run_id) is None:
            return None
        version, by = form.get("version", ""), signed(self._whose.user, "page")
        seen = int(version) if version.isascii() and version.isdigit() and len(version) < 10 else 0
        changes: dict[str, Callable[[], Deferral]] = {
            "cancel": lambda: runs.cancel(run_id, by=by, seen=seen),
            "move": lambda: runs.move(run_id, time_of(form.get("to", "")), by=by, seen=seen),
            "run-now": lambda: runs.run_now(run_id, by=by, seen=seen),
            "resume": lambda: runs.resume(run_id, by=by, seen=seen),
        }
        changes[action]()
        return view.path_of(run_id)

    async def _run(self, run_id: str, told: str, status: int = 200, typed: str = "") -> Response:
        found = await anyio.to_thread.run_sync(self._mine, run_id)
        if found is None:
            return look.note("There is no such run", status=404, home=True)
        shown = await anyio.to_thread.run_sync(self._shown, *found)
        csrf = self._access.csrf(f"run {run_id}")
        return look.page("run", shown.act, told, status=status, run=shown, csrf=csrf, typed=typed or shown.due_at)
