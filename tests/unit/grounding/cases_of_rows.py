"""Values that belong together, and numbers that only lead to one (R-51 to R-53)."""

from __future__ import annotations

from typing import Any

from tests.unit.grounding.cases import AMOUNT, DATE, EMAIL, KNOWN, ORDER, PERSON, TIME, TO_ACCOUNT, UNKNOWN, Case

PEOPLE: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "born": {"type": "string", "format": "date"}},
    },
}
TWO = "hold it for Ana Berg, born 2 April 1990, and Bo Li, born 3 May 1991"


def people(*rows: tuple[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "born": born} for name, born in rows]


ROWS: list[Case] = [
    (("send 100 to Ana and 200 to Bob",), {"amount": (AMOUNT, 100, KNOWN), "to": (PERSON, "Ana", KNOWN)}, "en"),
    (("send 100 to Ana and 200 to Bob",), {"amount": (AMOUNT, 200, KNOWN), "to": (PERSON, "Bob", KNOWN)}, "en"),
    (("send 100 to Ana and 200 to Bob",), {"amount": (AMOUNT, 200, UNKNOWN), "to": (PERSON, "Ana", UNKNOWN)}, "en"),
    (("send 100 to Ana and 200 to Bob",), {"amount": (AMOUNT, 100, UNKNOWN), "to": (PERSON, "Bob", UNKNOWN)}, "en"),
    (("Pay Ana 100 and Bob 200",), {"amount": (AMOUNT, 100, UNKNOWN), "to": (PERSON, "Bob", UNKNOWN)}, "en"),
    (
        ("pay 120.50 for order A-77 and 99 for order A-78",),
        {"amount": (AMOUNT, 99, UNKNOWN), "order": (ORDER, "A-77", UNKNOWN)},
        "en",
    ),
    (
        ("pay 120.50 for order A-77 and 99 for order A-78",),
        {"amount": (AMOUNT, 99, KNOWN), "order": (ORDER, "A-78", KNOWN)},
        "en",
    ),
    (
        ("invite ana@example.org for 4 December and bob@example.org for 5 December",),
        {"to": (EMAIL, "ana@example.org", UNKNOWN), "date": (DATE, "2026-12-05", UNKNOWN)},
        "en",
    ),
    (
        ("meet Ana at 3 pm and Bob at 5 pm",),
        {"with": (PERSON, "Bob", UNKNOWN), "time": (TIME, "15:00", UNKNOWN)},
        "en",
    ),
    # a third number that is of no row, or two that the call takes itself: no rows are seen
    (
        ("I have 900. Send 100 to Ana and 200 to Bob",),
        {"amount": (AMOUNT, 100, KNOWN), "to": (PERSON, "Ana", KNOWN)},
        "en",
    ),
    (
        ("send 100 from 4 December, and 20 from 9 December",),
        {
            "first": (AMOUNT, 100, KNOWN), "then": (AMOUNT, 20, KNOWN),
            "date": (DATE, "2026-12-09", KNOWN), "other": (DATE, "2026-12-04", KNOWN),
        },
        "en",
    ),
    ((TWO,), {"people": (PEOPLE, people(("Ana Berg", "1990-04-02"), ("Bo Li", "1991-05-03")), KNOWN)}, "en"),
    ((TWO,), {"people": (PEOPLE, people(("Ana Berg", "1991-05-03"), ("Bo Li", "1990-04-02")), UNKNOWN)}, "en"),
    ((TWO,), {"people": (PEOPLE, people(("Bo Li", "1991-05-03"), ("Ana Berg", "1990-04-02")), KNOWN)}, "en"),
    (
        (TWO,),
        {
            "people/0/name": (PERSON, "Ana Berg", UNKNOWN), "people/0/born": (DATE, "1991-05-03", UNKNOWN),
            "people/1/name": (PERSON, "Bo Li", UNKNOWN), "people/1/born": (DATE, "1990-04-02", UNKNOWN),
        },
        "en",
    ),
]  # fmt: skip

OPERANDS: list[Case] = [
    (("pay half of 120",), {"amount": (AMOUNT, 120, UNKNOWN)}, "en"),
    (("pay a third of the 120 euros",), {"amount": (AMOUNT, 120, UNKNOWN)}, "en"),
    (("pay twice $120",), {"amount": (AMOUNT, 120, UNKNOWN)}, "en"),
    (("pay 10% of 120",), {"amount": (AMOUNT, 120, UNKNOWN)}, "en"),
    (("pay 120 plus tax",), {"amount": (AMOUNT, 120, UNKNOWN)}, "en"),
    (("pay 120 euros minus 10%",), {"amount": (AMOUNT, 120, UNKNOWN)}, "en"),
    (("pay 120% of the bill",), {"amount": (AMOUNT, 120, UNKNOWN)}, "en"),
    (("pay 120, and half of the tables are free",), {"amount": (AMOUNT, 120, KNOWN)}, "en"),
    (("half of us pay, send 120",), {"amount": (AMOUNT, 120, KNOWN)}, "en"),
    (("transfer half a million",), {"amount": (AMOUNT, 500000, KNOWN)}, "en"),
]

TAKEN_BACK: list[Case] = [
    (("send 500. On second thought, no",), {"amount": (AMOUNT, 500, UNKNOWN)}, "en"),
    (("send 500. Actually leave it.",), {"amount": (AMOUNT, 500, UNKNOWN)}, "en"),
    (("send 500? I don't think so",), {"amount": (AMOUNT, 500, UNKNOWN)}, "en"),
    (("send 500 would be a mistake",), {"amount": (AMOUNT, 500, UNKNOWN)}, "en"),
    (("that was a mistake, send 500",), {"amount": (AMOUNT, 500, KNOWN)}, "en"),
]

RANGES: list[Case] = [
    (("pay between 100 and 120",), {"amount": (AMOUNT, 120, UNKNOWN)}, "en"),
    (("pay between $100 and $120",), {"amount": (AMOUNT, 100, UNKNOWN)}, "en"),
    (("pay 100-120 euros",), {"amount": (AMOUNT, 120, UNKNOWN)}, "en"),
    (("pay 100 – 120 euros",), {"amount": (AMOUNT, 100, UNKNOWN)}, "en"),
    (("zahle zwischen 100 und 120 Euro",), {"amount": (AMOUNT, 100, UNKNOWN)}, "de"),
    (("pay between 100 and 120. Make it 120",), {"amount": (AMOUNT, 120, KNOWN)}, "en"),
    (("between 100 and 120 people came, send 120",), {"amount": (AMOUNT, 120, KNOWN)}, "en"),
    (("between 100 and 120",), {"lowest": (AMOUNT, 100, KNOWN), "highest": (AMOUNT, 120, KNOWN)}, "en"),
    (("between 100 and 120",), {"max_price": (AMOUNT, 120, KNOWN)}, "en"),
    (("some day between 4 December and 6 December",), {"date": (DATE, "2026-12-06", UNKNOWN)}, "en"),
    (("send 100 to account 120",), {"amount": (AMOUNT, 100, KNOWN), "to_account": (TO_ACCOUNT, "120", KNOWN)}, "en"),
]

MAP: dict[str, Any] = {"type": "object", "additionalProperties": {"type": "number"}}
PATTERNED: dict[str, Any] = {"type": "object", "patternProperties": {"^[0-9]+$": {"type": "number"}}}
NAMED: dict[str, Any] = {"type": "object", "propertyNames": {"pattern": "^[0-9]+$"}}
FREE: dict[str, Any] = {"type": "object"}
NESTED: dict[str, Any] = {"type": "array", "items": MAP}
OBJECTS: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {"type": "object", "properties": {"amount": {"type": "number"}}},
}
EITHER: dict[str, Any] = {"anyOf": [{"type": "null"}, {"properties": {"amount": {"type": "number"}}}]}

KEYS: list[Case] = [
    *(
        (("send 500 to my landlord",), {"payments": (schema, claim, UNKNOWN)}, "en")
        for schema, claim in [
            (MAP, {"9988776655": 500}), (PATTERNED, {"9988776655": 500}), (NAMED, {"9988776655": 500}),
            (FREE, {"9988776655": 500}), (NESTED, [{"9988776655": 500}]), (OBJECTS, {"9988776655": {"amount": 500}}),
            (MAP, {"500": 500}),  # one span feeds one of them
        ]
    ),
    (("send 500 to 9988776655",), {"payments": (MAP, {"9988776655": 500}, KNOWN)}, "en"),
    (("send 500 to 9988776655",), {"payments": (OBJECTS, {"9988776655": {"amount": 500}}, KNOWN)}, "en"),
    (("send 500",), {"payment": (EITHER, {"amount": 500}, KNOWN)}, "en"),  # the schema's own name
    (("set mode to true",), {"env": (FREE, {"ADMIN": "true"}, UNKNOWN)}, "en"),
    (("set MODE to true",), {"env": (FREE, {"MODE": "true"}, KNOWN)}, "en"),
    (("size: 3 and 4, colour: red",), {"rows": (FREE, {"a": [{"size": 3}, {"size": 4}]}, UNKNOWN)}, "en"),
    (
        ("rows of size 3 and 4",),
        {"all": ({"type": "array", "items": FREE}, [{"size": 3}, {"size": 4}], KNOWN)},
        "en",
    ),
    (("pay bob 100 and alice 200",), {"payments": (MAP, {"bob": 100, "alice": 200}, KNOWN)}, "en"),
    (("pay bob 100 and alice 200",), {"payments": (MAP, {"bob": 200, "alice": 100}, UNKNOWN)}, "en"),
]  # fmt: skip

LOWER: list[Case] = [
    (("send to bob 500 and to alice 700",), {"to": (PERSON, "bob", KNOWN), "amount": (AMOUNT, 500, KNOWN)}, "en"),
    (("send to bob 500 and to alice 700",), {"to": (PERSON, "bob", UNKNOWN), "amount": (AMOUNT, 700, UNKNOWN)}, "en"),
    (("send 500 to bob, 700 to alice",), {"to": (PERSON, "alice", UNKNOWN), "amount": (AMOUNT, 500, UNKNOWN)}, "en"),
    (("I want to send 500 to bob for 7",), {"to": (PERSON, "bob", KNOWN), "amount": (AMOUNT, 500, KNOWN)}, "en"),
    (("Transfer 100 to Bob in 2 hours",), {"to": (PERSON, "Bob", KNOWN), "amount": (AMOUNT, 100, KNOWN)}, "en"),
    (("pay 500 to Ann and 500 to Bob",), {"to": (PERSON, "Bob", KNOWN), "amount": (AMOUNT, 500, KNOWN)}, "en"),
]

ROLE: dict[str, Any] = {"type": "string"}
FEE: dict[str, Any] = {"type": "number", "description": "Fee"}

NAMED_OTHERWISE: list[Case] = [
    (("create user bob with role admin",), {"user": (ROLE, "bob", KNOWN), "role": (ROLE, "admin", KNOWN)}, "en"),
    (("create user bob with role admin",), {"user": (ROLE, "admin", UNKNOWN), "role": (ROLE, "bob", UNKNOWN)}, "en"),
    (
        ("send to bob with password hunter2zz",),
        {"to": (ROLE, "hunter2zz", UNKNOWN), "password": (ROLE, "bob", UNKNOWN)},
        "en",
    ),
    (
        ("set the title to Plan and the owner to Bob",),
        {"title": (ROLE, "Bob", UNKNOWN), "owner": (ROLE, "Plan", UNKNOWN)},
        "en",
    ),
    (("title: Plan, owner: Bob",), {"title": (ROLE, "Plan", KNOWN), "owner": (ROLE, "Bob", KNOWN)}, "en"),
    (("send 500 with a fee of 20",), {"amount": (AMOUNT, 20, UNKNOWN), "fee": (FEE, 500, UNKNOWN)}, "en"),
    (("send 500 with a fee of 20",), {"amount": (AMOUNT, 500, KNOWN), "fee": (FEE, 20, KNOWN)}, "en"),
    (("send 500, fee and tip as 20 and 30",), {"fee": (FEE, 20, KNOWN), "tip": (FEE, 30, KNOWN)}, "en"),
]
