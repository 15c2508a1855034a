"""A client's session whose tool calls go through the gate, for programs that speak MCP themselves.

    gated = GatedSession(session, gate, user_id="minji", server="bank", words=said)
    result = await gated.call_tool("transfer", arguments)

Everything else of the session is as it was. `preflight.mcp.session_sync` is for programs without an event loop.
"""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, Self, cast

from preflight.api import ANYWHERE, AsyncPreflight, Preflight
from preflight.errors import AnswerRefused, CallerError, PreflightError
from preflight.hosts.words import ARGUMENTS, TOOL
from preflight.mcp.calls import CallIds, base_of, instruction_of, segment_shape
from preflight.mcp.said import check_words, segments_in
from preflight.mcp.silence import note_silence
from preflight.mcp.texts import CHANGED, DECISION, changes
from preflight.model.channel import enough
from preflight.model.instruction import Segment
from preflight.model.question import Question
from preflight.model.record import Record
from preflight.model.request import Scope
from preflight.model.tool import Tool
from preflight.ports import Words
from preflight.results import Accepted, Asking, Checked, Deferred, Executable, Refused, ToolCall
from preflight.standing import listed_twice

try:
    import anyio
    import mcp_types as types
    from mcp import Client, ClientSession, MCPError
    from mcp.client.session import ClientRequestContext
    from pydantic import TypeAdapter

    from preflight.mcp.firstword import NotBegun
    from preflight.mcp.overheard import overheard
    from preflight.mcp.turns import Turns
except ImportError as absent:
    message = f"`{absent.name}` is not installed; install the extra: pip install 'execution-state-preflight[mcp]'"
    raise ImportError(message, name=absent.name) from absent

Ask = Callable[[Question, str], "Mapping[str, object] | Awaitable[Mapping[str, object] | None] | None"]
"""Puts a question to the user, and returns what they said, or None for no answer. The text says why what they said
before was not taken, and is empty at first. Show the question to a person: a model must not answer it (R-93)."""
Said = Words | Sequence[Segment] | Callable[[], Sequence[Segment]]
"""Where the user's words come from: a store of them, a list that the program appends to, or a function."""

TRIES = 3
"""How often a question is put again after an answer that does not fit."""
ROUNDS = 10
"""How often a server may ask back in one call."""
CHANNEL = "callback"
_OBJECT: Any = TypeAdapter(dict[str, Any])  # results stay as the server sent them (decision 0004)
_PAGES = 1_000
_NO_JOIN: Mapping[str, str] = {}
_NOTHING: Mapping[str, object] = {}


class NotCalled(PreflightError):
    """The tool was not called. `record` says why; read its `gate`."""

    def __init__(self, what: str, record: Record | None) -> None:
        """Keep the record, where there is one."""
        self.record = record
        super().__init__(what)


class Pending(NotCalled):
    """Something is missing that the user can say: `question`. Once it is answered, make the same call again."""

    def __init__(self, question: Question, record: Record) -> None:
        """Keep the question."""
        self.question = question
        super().__init__(
            f"question `{question.question_id}` waits for its answer; then make the same call again", record
        )


class Stopped(NotCalled):
    """The call is held, waits for its time, or was refused when it was to start. `code` names the reason."""

    def __init__(self, code: str, what: str, record: Record | None) -> None:
        """Keep the stable `code` beside the sentence."""
        self.code = code
        super().__init__(what, record)


class GatedSession:
    """A `ClientSession` or `Client` of the MCP package, with `call_tool` behind the gate.

    `server` is the name under which the rules know the server. `words` are the user's, `join` says to a store of
    words which session this is. `ask` puts questions; without it, without an answer, or where the rules (`ask_by`)
    want more than a program to ask, `Pending` is raised. `request` holds further keys of the requests, like `zone`,
    `locale` or `pre_set_data`. `hide_forbidden` leaves tools that the rules forbid out of `list_tools`. Calls of one
    kind run one after the other. `unattended` says that nobody is there: nobody is asked, and the rules say what may
    run all the same. May be used as a context manager, which then opens and closes the session too.
    """

    def __init__(  # noqa: PLR0913  each says something else about whose calls these are
        self,
        session: ClientSession | Client,
        preflight: AsyncPreflight | Preflight,
        *,
        user_id: str,
        server: str = "",
        scope: Scope = ANYWHERE,
        words: Said = (),
        join: Mapping[str, str] = _NO_JOIN,
        ask: Ask | None = None,
        request: Mapping[str, object] = _NOTHING,
        unattended: bool = False,
        hide_forbidden: bool = False,
    ) -> None:
        """Put a session behind a gate."""
        check_words(words)
        self._wrapped = session
        self._gate = preflight
        self._user_id = user_id
        self._server = server
        self._scope = scope
        self._words = words
        self._join = dict(join)
        self._request = {**request, "unattended": True} if unattended else dict(request)
        self._ask = None if self._request.get("unattended") is True else ask
        self._hides = hide_forbidden
        self._calls = CallIds(preflight.storage)
        self._turns = Turns()

    def __getattr__(self, name: str) -> Any:
        """Return what the session has: everything but calls of tools passes."""
        return getattr(self._wrapped, name)

    async def __aenter__(self) -> Self:
        """Open the session."""
        await self._wrapped.__aenter__()
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Close the session."""
        await self._wrapped.__aexit__(*cast("Any", raised))

    @property
    def session(self) -> GatedSession:
        """This session: the one inside a `Client` would lead past the gate."""
        return self

    async def send_request(self, request: Any, *rest: Any, **named: Any) -> Any:
        """Send a request as the session does; a call of a tool is refused here, so that none goes past the gate."""
        if getattr(request, "method", None) == "tools/call":
            message = "a tool is called with `call_tool`, which goes through the gate"
            raise CallerError(message)
        return await self._inner.send_request(request, *rest, **named)

    async def list_tools(self, *given: Any, **named: Any) -> types.ListToolsResult:
        """List tools as the session does, without those that the rules forbid where they are to be hidden."""
        result: types.ListToolsResult = await self._wrapped.list_tools(*given, **named)
        if not self._hides:
            return result
        return result.model_copy(update={"tools": [tool for tool in result.tools if not self._forbidden(tool.name)]})

    def _forbidden(self, name: str) -> bool:
        return self._gate.rules().for_tool(self._server, name, self._user_id, self._scope.tenant).forbidden

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        read_timeout_seconds: float | None = None,
        progress_callback: Any = None,
        *,
        meta: Mapping[str, Any] | None = None,
        repeat: bool = False,
    ) -> types.CallToolResult:
        """Call a tool, once, if the gate says so; the parameters are those of the session's own `call_tool`.

        The same call on the same words as one that ran is not made again, unless it reads or `repeat` says that it
        is meant. The result's `_meta` has the decision's id, and under `preflight/changed` what was not sent
        as proposed. Raises Pending or Stopped when nothing was called, and what the session
        raises otherwise; whether a call took effect that ended in an error stands in the record.
        """
        given = dict(arguments or {})
        said = await self._segments(name, given)
        tool = await self._tool(name)
        base = base_of(self._scope.conversation, self._user_id, tool, given)
        async with self._turns.of(base) as waited:  # of calls that are the same, the second sees whether the first ran
            tool = await self._tool(name) if waited else tool
            tool, checked = await self._decided(tool, given, said, base, repeat=repeat)
            if not isinstance(checked, Executable):
                raise _not_called(checked)
            send = partial(self._send, read_timeout_seconds, progress_callback, dict(meta or {}))
            async with self._turns.at(checked.record) as late:  # it may have changed meanwhile
                raw = await self._executed(checked, await self._tool(name) if late else tool, send)
        result = types.CallToolResult.model_validate(raw, by_name=False)
        told = changes(given, checked.record)
        result.meta = {**(result.meta or {}), DECISION: checked.decision_id, **({CHANGED: told} if told else {})}
        if not result.is_error:
            await self._inner.validate_tool_result(name, result)
        return result

    # before the call

    @property
    def _inner(self) -> ClientSession:
        return self._wrapped.session if isinstance(self._wrapped, Client) else self._wrapped

    async def _segments(self, name: str, arguments: Mapping[str, Any]) -> Sequence[Segment]:
        words = self._words
        if isinstance(words, Sequence):
            return segments_in(words)
        if callable(words):
            return segments_in(words())
        call = {TOOL: name, ARGUMENTS: _text(arguments)}
        return await anyio.to_thread.run_sync(words.segments, {**call, **self._join})

    async def _decided(
        self, tool: Tool, arguments: dict[str, Any], said: Sequence[Segment], base: str, *, repeat: bool
    ) -> tuple[Tool, Checked]:
        run = await anyio.to_thread.run_sync(self._calls.current, self._scope, base)
        # the requests of a store of words are numbered for all sessions, those of a program for its own
        conversation = self._scope.conversation if isinstance(self._words, Sequence) or callable(self._words) else None
        request = {
            **self._request,
            "user_id": self._user_id,
            "scope": {"tenant": self._scope.tenant, "conversation": self._scope.conversation},
            "instruction": [segment_shape(each) for each in said],
            "instruction_id": None if repeat else instruction_of(said, conversation),
            "tool": tool,
            "claims": arguments,
            "call_id": run.call_id,
        }
        checked = await self._check(request)
        if isinstance(checked, Asking):
            checked = await self._asked(checked, request)
            tool = await self._tool(tool.name)  # it may have changed while somebody thought
        return tool, checked

    async def _asked(self, checked: Checked, request: Mapping[str, object]) -> Checked:
        """Put the question until nothing is open, or nobody answers: then it stays open (R-92)."""
        while isinstance(checked, Asking) and self._ask is not None:
            least = await anyio.to_thread.run_sync(self._gate.ask_by, checked.question)
            if not enough(CHANNEL, least):
                break  # the rules want it on the page or at a terminal, so it is not even put here
            answered = await self._answered(checked.question, self._ask)
            if answered is None:
                break
            checked = await self._check(request) if isinstance(answered, Accepted) else answered
        return checked

    async def _answered(self, question: Question, ask: Ask) -> Checked | Accepted | None:
        why = ""
        for _ in range(TRIES):
            began = time.monotonic()
            said = ask(question, why)
            values = await said if inspect.isawaitable(said) else said
            if values is None:
                took = time.monotonic() - began
                await anyio.to_thread.run_sync(note_silence, self._gate, question, CHANNEL, "decline", took)
                return None
            answer = partial(self._gate.answer, question.question_id, values, person=self._user_id, channel=CHANNEL)
            try:
                taken: Checked | Accepted = await _awaited(answer)
            except AnswerRefused as refused:
                why = str(refused)
            else:
                return taken
        return None

    async def _check(self, request: Mapping[str, object]) -> Checked:
        checked: Checked = await _awaited(partial(self._gate.check, request))
        return checked

    async def _tool(self, name: str) -> Tool:
        """Return the tool as the server lists it now, with all that it says (R-68)."""
        found = await self._listed(name)
        if not found:
            raise Stopped("unknown_tool", f"the server lists no tool `{name}`", None)
        if listed_twice(listed for listed, _ in found):
            what = f"the server lists `{name}` more than once, with different definitions; have it name them apart"
            raise Stopped("tool_ambiguous", what, None)
        listed, params = found[0]
        if '"x-mcp-header"' in json.dumps(listed):
            await self._inner.list_tools(params=params)  # the session then sends its headers
        return Tool.from_mcp(listed, server=self._server)

    async def _listed(self, name: str) -> list[tuple[Mapping[str, object], Any]]:
        """Return every definition that the server lists under a name, with what its page was asked for."""
        found: list[tuple[Mapping[str, object], Any]] = []
        cursors: list[str] = []
        while len(cursors) < _PAGES:
            params = types.PaginatedRequestParams(cursor=cursors[-1]) if cursors else None
            page = await self._inner.send_request(types.ListToolsRequest(params=params), _OBJECT)
            tools = [listed for listed in page.get("tools", ()) if isinstance(listed, dict)]
            found += [(listed, params) for listed in tools if listed.get("name") == name]
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or not cursor:
                return found
            if cursor in cursors:
                break
            cursors.append(cursor)
        raise Stopped("list_endless", f"the server's list of tools does not end after {len(cursors)} pages", None)

    # the call

    async def _executed(
        self, decision: Executable, tool: Tool, send: Callable[[ToolCall], Awaitable[dict[str, Any]]]
    ) -> dict[str, Any]:
        """Start the decision, call, and record what came of it."""
        claimed: Any = await _recorded(partial(self._gate.claim, decision, tool))
        if isinstance(claimed, Refused):
            raise Stopped(claimed.code, claimed.why, claimed.record)
        try:
            raw = await send(claimed.call)
        except BaseException as fault:
            await _recorded(partial(self._gate.fail, claimed, fault, refused=isinstance(fault, NotBegun)))
            raise
        await _recorded(partial(self._gate.settle, claimed, raw))
        return raw

    async def _send(self, seconds: float | None, progress: Any, meta: dict[str, Any], call: ToolCall) -> dict[str, Any]:
        """Call the tool with the arguments of the record, and answer what the server asks back meanwhile."""
        params = types.CallToolRequestParams(
            name=call.name, arguments=call.arguments, _meta=cast("Any", {**meta, **call.meta})
        )
        for number in range(ROUNDS):
            # who asked back has begun, whatever it says then
            with nullcontext() if number else overheard(self._inner).first_word():
                raw: dict[str, Any] = await self._inner.send_request(
                    types.CallToolRequest(params=params), _OBJECT, seconds, progress_callback=progress
                )
            if raw.get("resultType", "complete") != "input_required":
                return raw
            wanted = types.InputRequiredResult.model_validate(raw, by_name=False)
            given = {key: await self._given(key, each) for key, each in (wanted.input_requests or {}).items()}
            update = {"input_responses": given or None, "request_state": wanted.request_state}
            params = params.model_copy(update=update)
        message = f"the server asked back more than {ROUNDS} times"
        raise RuntimeError(message)

    async def _given(self, key: str, asked: Any) -> Any:
        context = ClientRequestContext(
            session=self._inner, request_id=key, meta=asked.params.meta if asked.params else None
        )
        given = await self._inner.dispatch_input_request(context, asked)
        if isinstance(given, types.ErrorData):
            raise MCPError.from_error_data(given)
        return given


async def _awaited(call: partial[Any]) -> Any:
    """Run a method of either face of the gate without stopping the event loop."""
    return await call() if inspect.iscoroutinefunction(call.func) else await anyio.to_thread.run_sync(call)


async def _recorded(record: Callable[[], object]) -> object:
    """Write a step of an execution, whatever cancels this task meanwhile (R-75)."""
    written: object = None
    with anyio.CancelScope(shield=True):
        written = await anyio.to_thread.run_sync(record)
    return written  # noqa: RET504  a cancel scope may end its block early, says its type


def _not_called(checked: Checked) -> NotCalled:
    record = checked.record
    if isinstance(checked, Asking):
        return Pending(checked.question, record)
    code = "deferred" if isinstance(checked, Deferred) else record.gate.kind if record.gate else "held"
    return Stopped(code, record.reason, record)


def _text(value: object) -> str:
    """Return a value as JSON text; what has none is refused at the gate, and needs only some text here."""
    try:
        return json.dumps(value, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return repr(value)
