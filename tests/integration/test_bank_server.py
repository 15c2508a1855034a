"""The example bank, spoken to as any MCP client would: a process of its own, over standard input and output."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, cast

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import RequestParamsMeta

SERVER = Path(__file__).resolve().parents[2] / "examples" / "bank" / "server.py"
PAYER, PAYEE = "1102534471", "3520198845"
RENT: dict[str, Any] = {"from_account": PAYER, "to_account": PAYEE, "amount": 500_000}
SECONDS = 30  # a bound against hanging, far above what any of this takes

Era = Literal["auto", "legacy"]

pytestmark = pytest.mark.anyio


@pytest.fixture
def books(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "bank.db"
    assert (tmp_path / "bank.db").exists()


@asynccontextmanager
async def bank(books: Path, era: Era = "auto") -> AsyncIterator[Client]:
    process = StdioServerParameters(command=sys.executable, args=[str(SERVER), "--db", str(books)])
    with anyio.fail_after(SECONDS):
        async with Client(process, mode=era) as client:
            yield client


def meta(key: object) -> RequestParamsMeta | None:
    return None if key is None else cast("RequestParamsMeta", {"preflight/decision": key})


async def answer(client: Client, tool: str, key: str | None = None, **arguments: object) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments, meta=meta(key))
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refusal(client: Client, tool: str, key: object = None, **arguments: object) -> str:
    result = await client.call_tool(tool, arguments, meta=meta(key))
    assert result.is_error
    assert result.structured_content is None
    return "".join(block.text for block in result.content if block.type == "text")


async def balance(client: Client, account: str) -> int:
    return int((await answer(client, "balance_get", account=account))["balance"])


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_both_protocol_eras_see_the_same_tools(books: Path, era: Era) -> None:
    async with bank(books, era) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        held = await balance(client, PAYER)
    reads = {name for name, tool in tools.items() if tool.annotations and tool.annotations.read_only_hint}
    assert reads == {"accounts_list", "balance_get", "contacts_find", "ledger_list"}
    assert set(tools) - reads == {"transfer", "invoices_archive", "records_delete_all"}
    assert tools["transfer"].input_schema["required"] == ["from_account", "to_account", "amount"]
    assert "daily limit" in str(tools["transfer"].description)
    assert held == 2_400_000


async def test_reading_changes_nothing(books: Path) -> None:
    async with bank(books) as client:
        accounts = (await answer(client, "accounts_list"))["accounts"]
        landlord = (await answer(client, "contacts_find", name="Landlord"))["contacts"]
        nobody = (await answer(client, "contacts_find", name="land"))["contacts"]
        ledger = (await answer(client, "ledger_list"))["entries"]
        status = await answer(client, "balance_get", account=PAYER)
    assert [account["number"] for account in accounts] == [PAYER, "1102534488", PAYEE]
    assert {account["owner"] for account in accounts} == {"Kim Minji", "Park Joonho"}
    assert landlord == [{"name": "Park Joonho", "relation": "landlord", "account": PAYEE}]
    assert nobody == []
    assert ledger == []
    assert status["sent_today"] == 0
    assert status["daily_limit"] == 5_000_000


async def test_a_transfer_moves_money_once_and_is_in_the_ledger(books: Path) -> None:
    async with bank(books) as client:
        made = await answer(client, "transfer", **RENT, memo="rent, March")
        held = await balance(client, PAYER), await balance(client, PAYEE)
        entries = (await answer(client, "ledger_list"))["entries"]
    assert made == {"entry": 1, **RENT, "memo": "rent, March", "repeated": False}
    assert held == (1_900_000, 650_000)
    assert [{**entry, "at": None} for entry in entries] == [{"entry": 1, "at": None, **RENT, "memo": "rent, March"}]


async def test_one_key_moves_money_once_even_after_a_restart(books: Path) -> None:
    async with bank(books) as client:
        first = await answer(client, "transfer", key="d-1", **RENT)
        again = await answer(client, "transfer", key="d-1", **RENT)
    async with bank(books) as client:
        later = await answer(client, "transfer", key="d-1", **RENT)
        other = await answer(client, "transfer", key="d-2", **RENT)
        held = await balance(client, PAYER)
    assert [made["entry"] for made in (first, again, later, other)] == [1, 1, 1, 2]
    assert [made["repeated"] for made in (first, again, later, other)] == [False, True, True, False]
    assert held == 2_400_000 - 2 * RENT["amount"]


async def test_a_key_cannot_stand_for_two_transfers(books: Path) -> None:
    async with bank(books) as client:
        await answer(client, "transfer", key="d-1", **RENT)
        text = await refusal(client, "transfer", key="d-1", **{**RENT, "amount": 1})
        held = await balance(client, PAYER)
    assert "belongs to another transfer" in text
    assert held == 1_900_000


async def test_calls_at_the_same_time_with_one_key_move_money_once(books: Path) -> None:
    async def send(made: list[int]) -> None:
        async with bank(books) as client:
            made.append((await answer(client, "transfer", key="d-1", **RENT))["entry"])

    async with bank(books):
        pass  # the books exist before the three processes open them
    made: list[int] = []
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(send, made)
    async with bank(books) as client:
        held = await balance(client, PAYER)
    assert made == [1, 1, 1]
    assert held == 1_900_000


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "unknown receiver": ({"to_account": "9999999999"}, "there is no account `9999999999`"),
    "unknown sender": ({"from_account": "9999999999"}, "there is no account `9999999999`"),
    "no account number": ({"to_account": "my landlord"}, "`to_account`"),
    "to itself": ({"to_account": PAYER}, "are both"),
    "more than there is": ({"amount": 2_400_001}, "less than 2400001"),
    "over the daily limit": ({"from_account": "1102534488", "amount": 5_000_001}, "5000000 more won today"),
    "nothing": ({"amount": 0}, "`amount`"),
    "part of a won": ({"amount": 0.5}, "`amount`"),
    "text for a number": ({"amount": "500000"}, "`amount`"),
    "a property that is not declared": ({"dry_run": True}, "dry_run"),
}


async def test_a_bad_transfer_is_refused_and_changes_nothing(books: Path) -> None:
    async with bank(books) as client:
        texts = {case: await refusal(client, "transfer", **{**RENT, **change}) for case, (change, _) in REFUSED.items()}
        held = await balance(client, PAYER), await balance(client, PAYEE), await balance(client, "1102534488")
        entries = (await answer(client, "ledger_list"))["entries"]
    assert {case: text for case, text in texts.items() if REFUSED[case][1] not in text} == {}
    assert held == (2_400_000, 150_000, 8_000_000)
    assert entries == []


async def test_other_bad_calls_say_what_is_wrong(books: Path) -> None:
    async with bank(books) as client:
        missing = await refusal(client, "transfer", from_account=PAYER, amount=1)
        odd_key = await refusal(client, "transfer", key=17, **RENT)
        no_account = await refusal(client, "balance_get", account="0000000000")
        no_date = await refusal(client, "invoices_archive", before="2026-02-30")
        with pytest.raises(MCPError, match="there is no tool `transfers` here"):
            await client.call_tool("transfers", {})
    assert "to_account" in missing
    assert "preflight/decision" in odd_key
    assert "there is no account `0000000000`" in no_account
    assert "`before`" in no_date


async def test_the_invoices_can_be_put_away_or_lost(books: Path) -> None:
    async with bank(books) as client:
        archived = [await answer(client, "invoices_archive", before="2025-01-01") for _ in range(2)]
        deleted = [await answer(client, "records_delete_all") for _ in range(2)]
    assert archived == [{"archived": 2}, {"archived": 0}]
    assert deleted == [{"deleted": 4}, {"deleted": 0}]


def test_a_file_that_holds_no_books_is_refused_in_words(tmp_path: Path) -> None:
    other = tmp_path / "letter.txt"
    other.write_text("dear landlord, " * 100, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, SERVER, "--db", other], capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 2
    assert "cannot keep the books" in run.stderr
    assert "Traceback" not in run.stderr
    assert other.read_text(encoding="utf-8").startswith("dear landlord")
