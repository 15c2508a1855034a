"""The answer page: opened by the person alone, one question, one answer."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import anyio
import pytest

from preflight.console.pairing import Pairing
from preflight.storage import open_storage
from tests.integration.browser import LINK, Browser, Form
from tests.integration.test_proxy_asks import RENT, WORDS, at_bank, ledger, states, writing
from tests.integration.wire import Message, said

URL: Message = {"elicitation": {"form": {}, "url": {}}}

pytestmark = pytest.mark.anyio


def code(folder: Path) -> str:
    storage = open_storage(folder / "records.db")
    try:
        return Pairing.of(storage).code()
    finally:
        storage.close()


def answering(browser: Browser, *answers: dict[str, str]) -> Any:
    """Return a client that opens the links it is sent, and whose person then answers on the page."""
    left = list(answers)

    async def answer(_method: str, params: Message) -> Message:
        assert params["mode"] == "url"
        await anyio.to_thread.run_sync(browser.get, params["url"])
        await anyio.to_thread.run_sync(browser.post, left.pop(0))
        return {"action": "accept"}

    return answer


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_what_cannot_be_undone_is_answered_on_the_page(tmp_path: Path, era: str) -> None:
    browser = Browser()
    answer = answering(browser, {"said": WORDS})
    async with at_bank(tmp_path, era=era, able=URL, answer=answer) as wire:
        response = await wire.call("transfer", RENT)
        assert len(await ledger(wire)) == 1
    assert browser.html.count("Thank you")
    assert "have it send exactly the same call again" in browser.html
    assert response["result"]["structuredContent"]["amount"] == 500_000
    assert "/t/" not in str(response)
    storage = open_storage(tmp_path / "records.db")
    (question,) = {stored.record.question_id for stored in storage.scan() if stored.record.question_id}
    given = storage.answer_to(question)
    storage.close()
    assert given is not None
    assert given.channel == "page"


async def test_a_link_opens_once_and_only_there(tmp_path: Path) -> None:
    first, second = Browser(), Browser()

    def look(url: str) -> None:
        assert second.head(url).status == 200  # what previews links has opened none
        assert Form(first.get(url).html).names == ["csrf", "said"]
        assert first.status == 200
        assert second.get(url).status == 410
        assert second.get(first.url).status == 403
        assert first.get(first.url).status == 200
        assert "'none'" in first.headers["content-security-policy"]
        assert first.headers["cache-control"] == "no-store"

    async def answer(_method: str, params: Message) -> Message:
        await anyio.to_thread.run_sync(look, params["url"])
        return {"action": "cancel"}

    async with at_bank(tmp_path, able=URL, answer=answer) as wire:
        assert "waits for a person" in said(await wire.call("transfer", RENT))


async def test_the_link_that_a_model_reads_opens_only_in_a_paired_browser(tmp_path: Path) -> None:
    browser = Browser()
    async with at_bank(tmp_path) as wire:
        response = await wire.call("transfer", RENT)
        (link,) = LINK.findall(said(response))
        assert browser.get(link).status == 403
        assert Form(browser.html).names == ["code"]
        assert browser.post({"code": "0123456789"}).status == 403
        assert browser.post({"code": code(tmp_path)}).status == 200
        assert browser.url == link
        assert "Thank you" in browser.post({"said": WORDS}).html
        assert browser.get(link).html.count("This question is answered") == 2  # its title and its heading
        ran = await wire.call("transfer", RENT)  # the same call again attaches to the answered question
    assert ran["result"]["structuredContent"]["amount"] == 500_000
    assert stat.S_IMODE((tmp_path / "records.db.keys.page").stat().st_mode) == 0o600
    assert states(tmp_path) == ["ask_user", "execute", "executing", "executed"]


async def test_nothing_is_taken_from_elsewhere(tmp_path: Path) -> None:
    browser = Browser()
    async with at_bank(tmp_path) as wire:
        (link,) = LINK.findall(said(await wire.call("transfer", RENT)))
        browser.get(link)
        browser.post({"code": code(tmp_path)})
        assert browser.post({"said": WORDS}, Origin="http://evil.example").status == 403
        browser.get(link)
        assert browser.post({"said": WORDS, "csrf": "0" * 64}).status == 403
        assert browser.get(link, Host="evil.example").status == 421
        assert Browser().get(link.replace("/q/", "/t/")).status == 410
        assert browser.get(link[:-1] + ("0" if link[-1] != "0" else "1")).status == 404
        assert browser.get(link).status == 200
        assert browser.post({"said": "  "}).html.count("Nothing was filled in")
    assert states(tmp_path) == ["ask_user"]


async def test_what_was_typed_stays_where_it_did_not_fit_and_is_escaped(tmp_path: Path) -> None:
    browser = Browser()
    odd = '<script>alert(1)</script>"'
    async with writing(tmp_path, able={}) as wire:
        arguments = {"line": f"hello {odd}", "mode": "x"}
        (link,) = LINK.findall(said(await wire.call("write", arguments)))
        browser.get(link)
        browser.post({"code": code(tmp_path)})
        browser.post({"said": "write it down now"})
        (second,) = LINK.findall(said(await wire.call("write", arguments)))
        html = browser.get(second).html
        assert "&lt;script&gt;" in html
        assert "<script" not in html
        assert Form(html).names[:2] == ["csrf", "s0"]
        assert "Thank you" in browser.post({"c0": "true"}).html
        assert odd in said(await wire.call("write", arguments)).encode().decode("unicode_escape")
