"""The console over real HTTP: what waits for a user, and what a person does with deferred runs, without JavaScript."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from msgspec.structs import replace

from preflight import ShippedHooks, create_async_preflight, create_preflight
from preflight.console.pairing import Pairing
from preflight.console.view import run
from preflight.console.web import ServedConsole
from preflight.console.whose import Whose
from preflight.errors import StorageError
from preflight.hooks.shipped import Meaning
from preflight.rules import load_rules
from preflight.storage import open_storage
from tests.integration.browser import Browser, Forms
from tests.unit.deferral.runs import DAY, HOUR, NOW, RULES, Bank, schema

EVERY_DAY = "Transfer 100 to Bob every day at 09:00 until I cancel"
AWAITED = (
    RULES.replace("intents: [transfer]", "intents: [transfer]\n        fields: {pin: {secret: true}}")
    + "triggers: {salary: {phrases: [my salary arrives], event: salary.received, deadline: 2d}}\n"
)
PLAIN = set(
    "html head meta title link body nav main section footer h1 h2 h3 p a span strong time ul ol li dl dt dd div form "
    "input button label details summary fieldset legend".split()
)
GONE = "/d/01a22e3e-686f-72d5-a86a-38bf938193bc"


class Here:
    """A bank, its console on a port, and a browser that was paired."""

    def __init__(self, bank: Bank, served: ServedConsole) -> None:
        self.served = served
        self.address = served.address
        self.browser = Browser()
        self.browser.get(self.address + "/")
        self.browser.submit("/pair/", {"code": Pairing.of(bank.store).code()})

    def get(self, path: str, **headers: str) -> Browser:
        return self.browser.get(self.address + path, **headers)

    def at(self, name: str) -> Browser:
        return self.get(f"/d/{name}")


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    store = open_storage(tmp_path / "records.db")
    yield Bank(tmp_path, AWAITED, storage=store)
    store.close()


@pytest.fixture
def here(bank: Bank) -> Iterator[Here]:
    gate = create_async_preflight(storage=bank.store, rules=lambda: bank.rules, clock=bank.clock)
    with start_blocking_portal() as portal:
        served = ServedConsole(gate, Whose("u1"))
        served.needed()
        serving = portal.start_task_soon(served.serve)
        try:
            yield Here(bank, served)
        finally:
            serving.cancel()


# who may come in


def test_a_browser_is_paired_once_and_comes_back_to_where_it_was_going(here: Here, bank: Bank) -> None:
    name = bank.defer()
    browser = Browser()
    link = f"{here.address}/d/{name}"
    assert browser.get(link).status == 403
    assert "transfer" not in browser.html.lower()
    assert browser.submit(f"/pair/d/{name}", {"code": "0123456789"}).status == 403
    assert "does not hold" in browser.html
    assert browser.submit(f"/pair/d/{name}", {"code": Pairing.of(bank.store).code()}).status == 200
    assert browser.url == link
    assert browser.get(here.address + "/").status == 200


@pytest.mark.parametrize("to", ["/evil.example", "%2F%2Fevil.example", "q/..%2F..%2Fx", "d/a?b", "x/y", "d/%5Cevil"])
def test_nobody_is_sent_elsewhere_after_pairing(here: Here, bank: Bank, to: str) -> None:
    browser = Browser()
    browser.get(here.address + "/")
    browser.send(f"/pair/{to}", {"code": Pairing.of(bank.store).code()})
    assert browser.url.startswith(here.address + "/")
    assert browser.status in (200, 404)


def test_nothing_is_shown_under_another_name_or_taken_from_elsewhere(here: Here, bank: Bank) -> None:
    name = bank.defer()
    row = bank.row(name)
    assert here.get("/", Host="evil.example").status == 421
    assert here.get(f"/d/{name}", Host="evil.example:80").status == 421
    assert here.at(name).submit("/cancel", Origin="http://evil.example").status == 403
    assert here.at(name).submit("/cancel", Host="evil.example").status == 403
    assert here.at(name).submit("/cancel", {"csrf": "0" * 64}).status == 403
    assert "too old" in here.browser.html
    form = next(iter(Forms(here.at(name).html).values.values()))
    stranger = Browser()
    stranger.get(here.address + "/")
    assert stranger.send(f"/d/{name}/cancel", form).status == 403
    assert here.browser.send(f"/d/{name}/cancel", {**form, "csrf": ""}).status == 403
    assert bank.row(name) == row


def test_the_form_of_one_run_is_none_of_another(here: Here, bank: Bank) -> None:
    one, other = bank.defer(), bank.defer(claims={"amount": 100, "to": "Bob"}, call_id="c")
    form = next(iter(Forms(here.at(one).html).values.values()))
    assert here.browser.send(f"/d/{other}/cancel", form).status == 403
    assert bank.row(other).state == "waiting"


def test_pages_load_nothing_run_nothing_and_are_not_kept(here: Here, bank: Bank) -> None:
    name = bank.defer()
    for path in ("/", f"/d/{name}", "/?over=yes", "/nowhere"):
        browser = here.get(path)
        assert not Forms(browser.html).tags & {"script", "img", "iframe", "object", "style", "base"}
        assert not re.search(r"<[^>]*\son\w+=", browser.html)  # no handler either
        assert browser.headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'")
        assert browser.headers["cache-control"] == "no-store"
    assert here.get("/style.css").headers["content-type"].startswith("text/css")


# what is shown


def test_everything_that_waits_for_the_user_is_listed(here: Here, bank: Bank) -> None:
    at, always, awaited = bank.defer(), bank.defer(EVERY_DAY), bank.defer("Transfer 100 to Bob once my salary arrives")
    asked = bank.say("transfer", claims={}, call_id="q")
    html = here.get("/").html
    for name in (at, always, awaited):
        assert f'href="/d/{name}"' in html
    assert f'href="/q/{asked.record.question_id}"' in html
    assert "Open: amount, to" in html
    assert "Wednesday 2 December 2026, 09:00 Asia/Seoul" in html
    assert "until cancelled" in html
    assert "once event `salary.received`" in html
    assert "bank/transfer" in html
    page = here.get(f"/q/{asked.record.question_id}").html
    assert '<p class="about why">bank/transfer</p>' in page  # nothing is settled of it yet


def test_what_is_another_user_s_is_not_shown_and_not_changed(here: Here, bank: Bank) -> None:
    mine = bank.defer()
    theirs = bank.defer(user_id="u2", call_id="theirs")
    elsewhere = bank.defer(scope={"tenant": "acme", "conversation": ""}, call_id="acme")
    asked = bank.say("transfer", claims={}, user_id="u2", call_id="q").record.question_id
    html = here.get("/").html
    form = Forms(here.at(mine).html).values[f"/d/{mine}/cancel"]
    for name in (theirs, elsewhere):
        assert name not in html
        assert here.at(name).status == 404
        row = bank.row(name)
        sent = {**form, "to": "2026-12-05T00:00Z", "csrf": here.served._made()._access.csrf(f"run {name}")}
        for action in ("cancel", "move", "run-now", "resume"):
            assert here.browser.send(f"/d/{name}/{action}", sent).status == 404
        assert bank.row(name) == row
    assert asked not in html
    assert here.get(f"/q/{asked}").status == 404
    assert here.get("/q/01a22e3e").status == here.get(GONE).status == 404


def test_every_state_has_its_words(here: Here, bank: Bank) -> None:
    done, cancelled, held = bank.defer(), bank.defer(call_id="b"), bank.defer(call_id="c")
    bank.runs.cancel(cancelled, by="u1")
    bank.runs.run_now(done, by="u1")
    assert bank.at(0) == [("fired", None, "executed")]
    bank.tools["bank", "transfer"] = ({"name": "transfer", "inputSchema": schema("memo")}, bank.transfer)
    assert bank.at(DAY) == [("held", "unknown_at_trigger", None)]
    html = here.get("/").html
    assert ">held</span>" in html
    assert "something is not known" in html
    assert f'href="/q/{bank.row(held).question_id}"' in html
    assert f"/d/{done}" not in html
    over = here.get("/?over=yes").html
    assert f"/d/{done}" in over
    assert f"/d/{cancelled}" in over
    assert ">done</span>" in over
    assert ">cancelled</span>" in over
    assert Forms(here.at(done).html).values == {}
    assert "fired: executed" in here.browser.html
    assert [f.rpartition("/")[2] for f in Forms(here.at(held).html).values] == ["resume", "cancel"]


def test_a_held_run_goes_on_once_its_question_is_answered_here(here: Here, bank: Bank) -> None:
    name = bank.defer()
    bank.tools["bank", "transfer"] = ({"name": "transfer", "inputSchema": schema("memo")}, bank.transfer)
    assert bank.at(DAY) == [("held", "unknown_at_trigger", None)]
    browser = here.get(f"/q/{bank.row(name).question_id}")
    assert "Transfer 100 to Bob tomorrow at 9am" in browser.html
    browser.submit(str(bank.row(name).question_id), {"s0": "rent"})
    assert "Thank you" in browser.html
    assert bank.at(DAY + 1) == [("fired", None, "executed")]
    assert bank.calls == [{"amount": 100, "to": "Bob", "memo": "rent"}]
    assert "to be tried again" in here.at(name).html


NAME = '</p>"><script>alert(1)</script>'
ODD = NAME + "\u202e"


def test_hostile_text_is_shown_and_does_nothing(here: Here, bank: Bank) -> None:
    hooks = ShippedHooks(storage=bank.store, meanings=[Meaning("transfer", NAME, NAME, shared=True)], clock=bank.clock)
    gate = create_preflight(storage=bank.store, clock=bank.clock, hooks=hooks)
    text = "Transfer \"<img src=x onerror='a'>\" tomorrow at 9am"
    properties = {"to": {"type": "string", "description": ODD}}
    request = {
        "user_id": "u1",
        "zone": "Asia/Seoul",
        "instruction": [{"text": text, "trust": "user"}],
        "tool": {"server": NAME, "name": NAME, "inputSchema": {"properties": properties, "required": ["to"]}},
        "claims": {"to": "<img src=x onerror='a'>"},
    }
    deferred = gate.check(request)
    assert deferred.decision == "deferred", deferred.record.reason
    gate.check({**request, "instruction": [{"text": "Transfer now", "trust": "user"}], "claims": {}})
    asked = gate.pending()[0].question_id
    for path in ("/", f"/d/{deferred.record.decision_id}", f"/q/{asked}"):
        page = here.get(path).html
        assert Forms(page).tags <= PLAIN, Forms(page).tags - PLAIN
        assert "\u202e" not in page
        assert "&lt;" in page
    page = here.at(deferred.record.decision_id).html
    assert "&lt;/p&gt;&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;img src=x onerror=&#39;a&#39;&gt;" in page


def test_hostile_text_in_rows_and_notes_is_written_out(bank: Bank) -> None:
    name = bank.defer()
    record = bank.store.get(name).record
    odd = "<b>\u202e\x07"
    tool = replace(record.tool, server=odd, name=odd)
    fixed = replace(record.fixed, c2_user_action_name=odd)
    note = replace(bank.store.notes(name)[0], by=odd, reason=odd)
    row = replace(bank.row(name), said=odd, reason=odd, state="held")
    shown = run(row, replace(record, tool=tool, fixed=fixed), "ahead", [note])
    for text in (shown.act, shown.tool, shown.said, shown.why, shown.changes[0].by, shown.changes[0].why):
        assert "\\u{202e}" in text
        assert "\u202e" not in text
        assert "\x07" not in text


def test_a_run_whose_record_is_gone_is_still_shown(bank: Bank) -> None:
    row = bank.row(bank.defer())
    shown = run(row, None, "ahead")
    assert shown.act == "an act whose record is gone"
    assert shown.due == "Wednesday 2 December 2026, 00:00 UTC"
    assert shown.can == {"cancel"}
    unread = replace(bank.store.get(row.decision_id).record, trigger={"kind": "never heard of"})
    assert run(row, unread, "ahead").can == {"cancel"}


def test_what_is_secret_is_masked(here: Here, bank: Bank) -> None:
    bank.tools["bank", "transfer"] = ({"name": "transfer", "inputSchema": schema("pin")}, bank.transfer)
    name = bank.defer(
        "Transfer 100 to Bob tomorrow at 9am with pin zebra77", claims={"amount": 100, "to": "Bob", "pin": "zebra77"}
    )
    for path in ("/", f"/d/{name}"):
        assert "zebra77" not in here.get(path).html
    assert "pin" in here.at(name).html


# what people do


def last(bank: Bank, name: str) -> tuple[str, str | None]:
    note = bank.store.notes(name)[-1]
    return note.what, note.by


def test_a_link_says_nothing_that_is_not_so(here: Here, bank: Bank) -> None:
    # whoever can hand a link to the person could make a run look cancelled
    name = bank.defer()
    browser = here.at(name)
    assert "It is cancelled" not in browser.get(f"{here.address}/d/{name}?done=cancel").html
    bank.runs.cancel(name, by="u1")
    assert "It is tried again" not in browser.get(f"{here.address}/d/{name}?done=resume").html


def test_cancelling(here: Here, bank: Bank) -> None:
    name = bank.defer()
    browser = here.at(name).submit("/cancel")
    assert browser.status == 200
    assert browser.url == f"{here.address}/d/{name}?done=cancel"
    assert "It is cancelled" in browser.html
    assert Forms(browser.html).values == {}
    assert last(bank, name) == ("cancelled", "u1 (page)")
    assert "by u1 (page)" in browser.html
    assert bank.at(DAY) == []
    assert bank.calls == []


def test_moving(here: Here, bank: Bank) -> None:
    name = bank.defer()
    here.at(name)
    assert Forms(here.browser.html).values[f"/d/{name}/move"]["to"] == "2026-12-02T09:00+09:00"
    browser = here.browser.submit("/move", {"to": " 2026-12-04T10:00:00+09:00 "})
    assert browser.html.count("Friday 4 December 2026, 10:00 Asia/Seoul") >= 2
    assert last(bank, name) == ("moved", "u1 (page)")
    assert bank.at(DAY) == []
    assert bank.at(3 * DAY + HOUR) == [("fired", None, "executed")]


@pytest.mark.parametrize(
    ("to", "why"),
    [
        ("Friday at ten", "is no time; write it like 2026-12-04T10:00:00+09:00"),
        ("", "is no time"),
        ("2026-12-04T10:00", "is not a time to come; give one with its offset"),
        ("2026-11-04T10:00+09:00", "is not a time to come"),
        ("2026-12-04T10:00+09:00", "is not before the next one"),
        ("<script>", "`&lt;script&gt;` is no time"),
    ],
)
def test_a_time_is_read_as_at_the_command_line(here: Here, bank: Bank, to: str, why: str) -> None:
    name = bank.defer(EVERY_DAY)
    row = bank.row(name)
    browser = here.at(name).submit("/move", {"to": to})
    assert browser.status == 422
    assert why in browser.html
    assert 'role="alert"' in browser.html
    assert "<details open>" in browser.html or not to
    assert bank.row(name) == row


def test_running_now_calls_nothing_before_a_worker_looks(here: Here, bank: Bank) -> None:
    name = bank.defer()
    browser = here.at(name).submit("/run-now")
    assert "A worker takes it at its next look; this page calls nothing itself." in browser.html
    assert "no worker has taken it yet" in browser.html
    assert [action.rpartition("/")[2] for action in Forms(browser.html).values] == ["move", "cancel"]
    assert bank.calls == []
    assert last(bank, name) == ("hastened", "u1 (page)")
    assert bank.at(1) == [("fired", None, "executed")]


def test_resuming_what_is_held(here: Here, bank: Bank) -> None:
    name = bank.defer()
    del bank.tools["bank", "transfer"]
    assert bank.at(DAY) == [("held", "tool_removed", None)]
    browser = here.at(name).submit("/resume")
    assert "tried again from the beginning" in browser.html
    assert last(bank, name) == ("resumed", "u1 (page)")
    assert bank.row(name).state == "waiting"


def test_an_occurrence_held_for_itself_is_found_by_its_id(here: Here, bank: Bank) -> None:
    name = bank.defer(EVERY_DAY)
    bank.tools["bank", "transfer"] = ({"name": "transfer", "inputSchema": schema("memo")}, bank.transfer)
    bank.at(DAY)
    (apart,) = [row for row in bank.runs.find() if row.deferral_id != name]
    assert "@" in apart.deferral_id
    path = f"/d/{apart.deferral_id.replace('@', '%40').replace(':', '%3A').replace('+', '%2B')}"
    assert f'href="{path}"' in here.get("/").html
    browser = here.get(path).submit("/cancel")
    assert browser.status == 200
    assert bank.row(apart.deferral_id).state == "cancelled"
    assert bank.row(name).state == "waiting"


def test_the_same_form_sent_twice_changes_once(here: Here, bank: Bank) -> None:
    for action, values in (("/move", {"to": "2026-12-03T10:00+09:00"}), ("/run-now", {}), ("/cancel", {})):
        name = bank.defer(call_id=action)
        page = here.at(name).html
        form = {**Forms(page).values[f"/d/{name}{action}"], **values}
        assert here.browser.send(f"/d/{name}{action}", form).status == 200
        changed, notes = bank.row(name), len(bank.store.notes(name))
        again = here.browser.send(f"/d/{name}{action}", form)
        assert again.status == 409
        assert "was changed meanwhile; look again" in again.html or "there is nothing left to change" in again.html
        assert (bank.row(name), len(bank.store.notes(name))) == (changed, notes)


@pytest.mark.parametrize("version", ["", "x", "٣", "99", "9" * 400, "-1"])
def test_a_version_that_is_none_changes_nothing(here: Here, bank: Bank, version: str) -> None:
    name = bank.defer()
    assert here.at(name).submit("/cancel", {"version": version}).status == 409
    assert bank.row(name).state == "waiting"


def test_what_started_meanwhile_is_neither_cancelled_nor_moved(here: Here, bank: Bank) -> None:
    # the person looks at the page while a worker claims the run
    name = bank.defer()
    page = Forms(here.at(name).html).values
    bank.clock.advance(DAY)
    seen: list[Any] = []

    def slow(call: Any) -> object:
        for action, values in (("cancel", {}), ("move", {"to": "2026-12-05T00:00+09:00"}), ("run-now", {})):
            form = {**page[f"/d/{name}/{action}"], **values}
            browser = here.browser.send(f"/d/{name}/{action}", form)
            seen.append((browser.status, "has started" in browser.html))
        seen.append((">under way</span>" in here.at(name).html, Forms(here.browser.html).values))
        return bank.transfer(call)

    bank.tools["bank", "transfer"] = (bank.tools["bank", "transfer"][0], slow)
    assert [fired.what for fired in bank.worker.run_due()] == ["fired"]
    assert seen == [(409, True), (409, True), (409, True), (True, {})]
    assert len(bank.calls) == 1
    assert bank.noted(name) == [("scheduled", None), ("fired", None)]


def test_of_a_recurrence_under_way_the_further_ones_are_cancelled(here: Here, bank: Bank) -> None:
    name = bank.defer(EVERY_DAY)
    bank.clock.advance(DAY)

    def slow(call: Any) -> object:
        assert list(Forms(here.at(name).html).values) == [f"/d/{name}/cancel"]
        assert here.browser.submit("/cancel").status == 200
        return bank.transfer(call)

    bank.tools["bank", "transfer"] = (bank.tools["bank", "transfer"][0], slow)
    bank.worker.run_due()
    assert len(bank.calls) == 1
    assert bank.row(name).state == "cancelled"
    assert bank.at(2 * DAY) == []


def test_what_was_cancelled_on_the_page_does_not_start_in_a_worker_that_is_about_to(here: Here, bank: Bank) -> None:
    name = bank.defer()
    bank.clock.advance(DAY)
    connections = bank.worker._firing._connections
    listed = connections.tool

    def late(server: str, wanted: str) -> Any:  # the worker has the row, and asks the server for the tool
        assert here.at(name).submit("/cancel").status == 200
        return listed(server, wanted)

    bank.worker._firing._connections = SimpleNamespace(tool=late, call=connections.call)  # type: ignore[assignment]
    assert [fired.what for fired in bank.worker.run_due()] == [None]
    assert bank.calls == []
    assert bank.row(name).state == "cancelled"


def test_there_is_no_other_action_and_no_other_page(here: Here, bank: Bank) -> None:
    name = bank.defer()
    csrf = Forms(here.at(name).html).values[f"/d/{name}/cancel"]
    assert here.browser.send(f"/d/{name}/erase", csrf).status == 404
    assert here.get(f"/d/{name}/cancel").status == 405
    assert "There is no such page" in here.browser.html
    assert here.get("/nowhere").status == 404
    assert bank.row(name).state == "waiting"


def test_a_store_that_fails_says_so(here: Here, bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    bank.defer()

    def broken(*_given: object) -> Any:
        raise StorageError("the disk is full")

    monkeypatch.setattr(bank.store, "deferrals", broken)
    assert here.get("/").status == 503
    assert "the disk is full" in here.browser.html


def test_what_the_rules_want_at_a_terminal_is_not_asked_on_the_page(here: Here, bank: Bank) -> None:
    asked = bank.say("transfer", claims={}, call_id="q").record.question_id
    page = here.get(f"/q/{asked}").html
    bank.file.write_text(AWAITED + "ask_by: {irreversible: terminal}\n", encoding="utf-8")
    bank.rules = load_rules(bank.file)
    shown = here.get(f"/q/{asked}").html
    assert f"<pre>preflight answer {asked}</pre>" in shown
    assert "has to send exactly the same call again" in shown
    assert Forms(here.browser.html).values == {}
    form = {**Forms(page).values[f"/q/{asked}"], "s0": "5", "s1": "Eve"}
    here.browser.send(f"/q/{asked}", form)
    assert bank.store.answer_to(asked) is None


def test_a_question_that_expired_says_so(here: Here, bank: Bank) -> None:
    asked = bank.say("transfer", claims={}, call_id="q").record.question_id
    bank.clock.advance(NOW + 30 * DAY - bank.clock.now())
    assert "has expired" in here.get(f"/q/{asked}").html
    assert "No question is open." in here.get("/").html
