"""A small bank behind a real MCP server: accounts, contacts, invoices and a ledger in one SQLite file.

    python examples/bank/server.py --db bank.db

speaks MCP over standard input and output, in both protocol eras. A new file is filled with two people and their
accounts. Amounts are whole won. A transfer cannot be undone; one that carries an idempotency key in
`_meta["preflight/decision"]` moves money at most once, however often the call is repeated (R-74).
"""

from __future__ import annotations

import argparse
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import anyio
import jsonschema_rs
import mcp_types as types
from mcp import MCPError, stdio_server
from mcp.server import Server, ServerRequestContext

IDEMPOTENCY_KEY = "preflight/decision"
DAILY_LIMIT = 5_000_000  # won an account may send in one day (UTC)

SCHEMA = """
CREATE TABLE account (
    number TEXT PRIMARY KEY, owner TEXT NOT NULL, label TEXT NOT NULL, balance INTEGER NOT NULL CHECK (balance >= 0)
) STRICT;
CREATE TABLE contact (name TEXT NOT NULL, relation TEXT NOT NULL, account TEXT NOT NULL) STRICT;
CREATE TABLE invoice (number TEXT PRIMARY KEY, issued TEXT NOT NULL, archived INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE ledger (
    entry INTEGER PRIMARY KEY, at TEXT NOT NULL,
    from_account TEXT NOT NULL REFERENCES account, to_account TEXT NOT NULL REFERENCES account,
    amount INTEGER NOT NULL CHECK (amount > 0), memo TEXT, decision TEXT UNIQUE
) STRICT;
"""
ACCOUNTS = [
    ("1102534471", "Kim Minji", "everyday", 2_400_000),
    ("1102534488", "Kim Minji", "savings", 8_000_000),
    ("3520198845", "Park Joonho", "rent", 150_000),
]
CONTACTS = [("Park Joonho", "landlord", "3520198845"), ("Kim Minji", "own savings", "1102534488")]
INVOICES = [
    ("INV-2024-011", "2024-03-05"),
    ("INV-2024-047", "2024-11-18"),
    ("INV-2026-003", "2026-02-02"),
    ("INV-2026-019", "2026-09-30"),
]

Arguments = Mapping[str, Any]


class BankError(Exception):
    """The bank refuses what was asked; the text says what is wrong and nothing was changed."""


class Bank:
    """The bank's books in one SQLite file, made and filled when the file is new."""

    def __init__(self, path: str) -> None:
        # Autocommit: transactions are opened by hand, where more than one statement belongs together.
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        self._db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;")
        with self._transaction():
            if not self._rows("SELECT 1 FROM sqlite_schema WHERE name = 'account'"):
                self._fill()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def accounts(self) -> list[dict[str, Any]]:
        """Return number, owner and label of each account, without balances."""
        return self._rows("SELECT number, owner, label FROM account ORDER BY number")

    def balance(self, number: str) -> dict[str, Any]:
        """Return what an account holds, what it sent today and what it may send in a day, all in won."""
        account = self._account(number)
        return {
            "account": number,
            "owner": account["owner"],
            "balance": account["balance"],
            "sent_today": self._sent_today(number),
            "daily_limit": DAILY_LIMIT,
        }

    def contacts(self, name: str | None = None) -> list[dict[str, Any]]:
        """Return the contacts whose name or relation is exactly this, whatever the case; without a name, all."""
        everyone = self._rows("SELECT name, relation, account FROM contact ORDER BY rowid")
        if name is None:
            return everyone
        wanted = name.strip().casefold()
        return [row for row in everyone if wanted in (row["name"].casefold(), row["relation"].casefold())]

    def ledger(self) -> list[dict[str, Any]]:
        """Return every transfer ever made, oldest first."""
        return self._rows("SELECT entry, at, from_account, to_account, amount, memo FROM ledger ORDER BY entry")

    def archive_invoices(self, before: str) -> int:
        """Put the invoices issued before this date away, and return how many."""
        done = self._db.execute("UPDATE invoice SET archived = 1 WHERE archived = 0 AND issued < ?", (before,))
        return done.rowcount

    def delete_all_records(self) -> int:
        """Delete every invoice for good, archived or not, and return how many."""
        return self._db.execute("DELETE FROM invoice").rowcount

    def transfer(self, sender: str, receiver: str, amount: int, memo: str | None, key: str | None) -> dict[str, Any]:
        """Move `amount` won and return the entry; a key seen before returns its first entry and moves nothing."""
        asked = {"from_account": sender, "to_account": receiver, "amount": amount, "memo": memo}
        with self._transaction():
            made = self._rows("SELECT * FROM ledger WHERE decision = ?", key) if key else []
            if made:
                return {**_same_or_refused(made[0], asked), "repeated": True}
            self._check(sender, receiver, amount)
            self._db.execute("UPDATE account SET balance = balance - ? WHERE number = ?", (amount, sender))
            self._db.execute("UPDATE account SET balance = balance + ? WHERE number = ?", (amount, receiver))
            entry = self._db.execute(
                "INSERT INTO ledger (at, from_account, to_account, amount, memo, decision) VALUES (?, ?, ?, ?, ?, ?)",
                (datetime.now(UTC).isoformat(timespec="seconds"), sender, receiver, amount, memo, key),
            ).lastrowid
        return {"entry": entry, **asked, "repeated": False}

    def _check(self, sender: str, receiver: str, amount: int) -> None:
        account = self._account(sender)
        self._account(receiver)
        if sender == receiver:
            raise BankError(f"`from_account` and `to_account` are both `{sender}`; nothing was sent")
        if account["balance"] < amount:
            raise BankError(f"account `{sender}` holds {account['balance']} won, less than {amount}; nothing was sent")
        left = DAILY_LIMIT - self._sent_today(sender)
        if amount > left:
            raise BankError(f"account `{sender}` may send {left} more won today, not {amount}; nothing was sent")

    def _account(self, number: str) -> dict[str, Any]:
        found = self._rows("SELECT * FROM account WHERE number = ?", number)
        if not found:
            raise BankError(f"there is no account `{number}` here; `accounts_list` names those there are")
        return found[0]

    def _sent_today(self, number: str) -> int:
        today = datetime.now(UTC).date().isoformat()
        sent = self._rows(
            "SELECT coalesce(sum(amount), 0) AS sent FROM ledger WHERE from_account = ? AND substr(at, 1, 10) = ?",
            number,
            today,
        )
        return int(sent[0]["sent"])

    def _fill(self) -> None:
        for statement in SCHEMA.split(";"):
            self._db.execute(statement)
        self._db.executemany("INSERT INTO account VALUES (?, ?, ?, ?)", ACCOUNTS)
        self._db.executemany("INSERT INTO contact VALUES (?, ?, ?)", CONTACTS)
        self._db.executemany("INSERT INTO invoice (number, issued) VALUES (?, ?)", INVOICES)

    def _rows(self, statement: str, *values: object) -> list[dict[str, Any]]:
        return [dict(row) for row in self._db.execute(statement, values)]

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")


def _same_or_refused(made: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """Return the entry made under a key, or refuse: one key stands for one transfer."""
    if any(made[name] != value for name, value in asked.items()):
        raise BankError(f"the key `{made['decision']}` belongs to another transfer, entry {made['entry']}")
    return {"entry": made["entry"], **asked}


@dataclass(frozen=True)
class Offer:
    """One tool: what the client is told about it, and what the bank does when it is called."""

    tool: types.Tool
    act: Callable[[Bank, Arguments, str | None], dict[str, Any]]


def offer(
    name: str,
    description: str,
    act: Callable[[Bank, Arguments, str | None], dict[str, Any]],
    properties: dict[str, Any] | None = None,
    optional: tuple[str, ...] = (),
    *,
    hints: types.ToolAnnotations,
) -> Offer:
    """Describe a tool whose properties are all required, but for the `optional` ones."""
    properties = properties or {}
    schema = {
        "type": "object",
        "properties": properties,
        "required": [key for key in properties if key not in optional],
        "additionalProperties": False,
    }
    return Offer(types.Tool(name=name, description=description, input_schema=schema, annotations=hints), act)


def _transfer(bank: Bank, args: Arguments, key: str | None) -> dict[str, Any]:
    return bank.transfer(args["from_account"], args["to_account"], args["amount"], args.get("memo"), key)


READS = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
TIDIES = types.ToolAnnotations(destructive_hint=False, idempotent_hint=True, open_world_hint=False)
DESTROYS = types.ToolAnnotations(destructive_hint=True, open_world_hint=False)

ACCOUNT = {"type": "string", "pattern": "^[0-9]{10}$"}
OFFERS = [
    offer(
        "accounts_list",
        "Lists the accounts of this bank: number, owner and label.",
        lambda bank, _args, _key: {"accounts": bank.accounts()},
        hints=READS,
    ),
    offer(
        "balance_get",
        "Tells what an account holds, what it has sent today and what it may send in a day, in won.",
        lambda bank, args, _key: bank.balance(args["account"]),
        {"account": {**ACCOUNT, "description": "The account's number."}},
        hints=READS,
    ),
    offer(
        "contacts_find",
        "Finds the customer's contacts by full name or by relation, for example `landlord`; without a name, all.",
        lambda bank, args, _key: {"contacts": bank.contacts(args.get("name"))},
        {"name": {"type": "string", "minLength": 1, "description": "A full name or a relation."}},
        optional=("name",),
        hints=READS,
    ),
    offer(
        "ledger_list",
        "Lists every transfer that was made, oldest first.",
        lambda bank, _args, _key: {"entries": bank.ledger()},
        hints=READS,
    ),
    offer(
        "transfer",
        "Moves won from one account to another at once. A transfer cannot be called back.\n"
        f"The sum sent from an account in one day must stay within its daily limit of {DAILY_LIMIT:,} won.",
        _transfer,
        {
            "from_account": {**ACCOUNT, "description": "The account that pays."},
            "to_account": {**ACCOUNT, "description": "The account that receives."},
            "amount": {"type": "integer", "minimum": 1, "description": "Whole won."},
            "memo": {"type": "string", "maxLength": 140, "description": "A line that the receiver sees."},
        },
        optional=("memo",),
        hints=DESTROYS,
    ),
    offer(
        "invoices_archive",
        "Archives the invoices issued before a date. Archived invoices stay readable.",
        lambda bank, args, _key: {"archived": bank.archive_invoices(args["before"])},
        {"before": {"type": "string", "format": "date", "description": "The first date that is kept, as YYYY-MM-DD."}},
        hints=TIDIES,
    ),
    offer(
        "records_delete_all",
        "Deletes every invoice on record, archived ones too. They cannot be brought back.",
        lambda bank, _args, _key: {"deleted": bank.delete_all_records()},
        hints=DESTROYS,
    ),
]


class Counter:
    """The MCP side: lists the offers, checks arguments against their schemas, and hands calls to the bank."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._offers = {each.tool.name: each for each in OFFERS}
        self._validators = {
            name: jsonschema_rs.validator_for(each.tool.input_schema, validate_formats=True)
            for name, each in self._offers.items()
        }

    async def list_tools(
        self, _ctx: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """Answer `tools/list`."""
        return types.ListToolsResult(tools=[each.tool for each in OFFERS])

    async def call_tool(
        self, _ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Answer `tools/call`; what the bank refuses is a result with `isError`, so that an agent can read it."""
        if params.name not in self._offers:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool `{params.name}` here")
        arguments = params.arguments or {}
        try:
            self._validate(params.name, arguments)
            answer = self._offers[params.name].act(self._bank, arguments, _idempotency_key(params.meta))
        except BankError as refusal:
            return types.CallToolResult(content=[types.TextContent(text=str(refusal))], is_error=True)
        text = json.dumps(answer, ensure_ascii=False)
        return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=answer)

    def _validate(self, name: str, arguments: Arguments) -> None:
        for fault in self._validators[name].iter_errors(arguments):
            place = "/".join(map(str, fault.instance_path)) or "arguments"
            raise BankError(f"{name}: `{place}`: {fault.message}")


def _idempotency_key(meta: Mapping[str, Any] | None) -> str | None:
    key = (meta or {}).get(IDEMPOTENCY_KEY)
    if key is not None and not (isinstance(key, str) and key):
        raise BankError(f"`_meta[{IDEMPOTENCY_KEY!r}]` must be a non-empty string; nothing was done")
    return key


async def serve(bank: Bank) -> None:
    """Speak MCP over standard input and output until the client goes away."""
    counter = Counter(bank)
    server = Server("bank", version="1", on_list_tools=counter.list_tools, on_call_tool=counter.call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def main() -> None:
    """Open the books and serve them."""
    parser = argparse.ArgumentParser(description="A small bank behind an MCP server on standard input and output.")
    parser.add_argument("--db", required=True, metavar="FILE", help="the bank's books; made and filled when absent")
    path = parser.parse_args().db
    try:
        bank = Bank(path)
    except sqlite3.Error as fault:
        parser.error(f"cannot keep the books in `{path}`: {fault}; name a new file, or one made by this program")
    with closing(bank):
        anyio.run(serve, bank)


if __name__ == "__main__":
    main()
