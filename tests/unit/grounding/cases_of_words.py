"""Strings, closed sets, codes and lists."""

from __future__ import annotations

from tests.unit.grounding.cases import (
    BODY,
    CONFIRM,
    COUNTRY,
    CURRENCY,
    EMAIL,
    KNOWN,
    LINK,
    MODE,
    NOTIFY,
    ORDER,
    PATH,
    PERSON,
    TAGS,
    TO_ACCOUNT,
    UNKNOWN,
    Case,
)

STRINGS: list[Case] = [
    (("delete order 5000",), {"id": (ORDER, "5000", KNOWN)}, "en"),
    (("open report-2024-final.pdf",), {"path": (PATH, "final.pdf", UNKNOWN)}, "en"),
    (("mail ana@example.org, please",), {"to": (EMAIL, "ana@example.org", KNOWN)}, "en"),
    (("mail bobana@example.org",), {"to": (EMAIL, "ana@example.org", UNKNOWN)}, "en"),
    (("mail x.ana@example.org",), {"to": (EMAIL, "ana@example.org", UNKNOWN)}, "en"),
    (("see https://example.org/a?b=1, thanks",), {"url": (LINK, "https://example.org/a", UNKNOWN)}, "en"),
    (("see https://example.org/a?b=1, thanks",), {"url": (LINK, "https://example.org", UNKNOWN)}, "en"),
    (("see https://example.org.",), {"url": (LINK, "https://example.org", KNOWN)}, "en"),
    (("send to LANDLORD-9",), {"to_account": (TO_ACCOUNT, "landlord-9", UNKNOWN)}, "en"),
    (
        ("pay Ana Lee, IBAN DE89 3704 0044 0532 0130 00",),
        {"iban": ({"type": "string", "description": ""}, "DE89370400440532013001", UNKNOWN)},
        "en",
    ),
    (("order 007",), {"id": (ORDER, "7", UNKNOWN)}, "en"),
    (("order 007",), {"id": (ORDER, "007", KNOWN)}, "en"),
    (("mail ana@example.org",), {"to": (EMAIL, "ana@example.org.evil.example", UNKNOWN)}, "en"),
    (("mail ana@example.org's team",), {"to": (EMAIL, "ana@example.org", KNOWN)}, "en"),
    (("mail <ana@example.org>",), {"to": (EMAIL, "ana@example.org", KNOWN)}, "en"),
    (("mail ana+x@example.org",), {"to": (EMAIL, "ana@example.org", UNKNOWN)}, "en"),
    (("mail Ana@EXAMPLE.org",), {"to": (EMAIL, "ana@example.org", KNOWN)}, "en"),
    (("go to example.org/a",), {"url": (LINK, "https://example.org/a", UNKNOWN)}, "en"),
    (("open http://example.org/a",), {"url": (LINK, "https://example.org/a", UNKNOWN)}, "en"),
    (("open /srv/data/x.log",), {"path": (PATH, "/srv/data", UNKNOWN)}, "en"),
    (("open /srv/data",), {"path": (PATH, "/srv/data/x", UNKNOWN)}, "en"),
    (("open C:\\temp\\a.txt",), {"path": (PATH, "C:\\temp\\a.txt", KNOWN)}, "en"),
    (("open 'my file.txt'",), {"path": (PATH, "my file.txt", KNOWN)}, "en"),
    (("open report.pdf.exe",), {"path": (PATH, "report.pdf", UNKNOWN)}, "en"),
    (("Ana? No, Bob",), {"name": (PERSON, "Ana", UNKNOWN)}, "en"),
    (("send it to bob@example.org rather than amy@example.org",), {"to": (EMAIL, "amy@example.org", UNKNOWN)}, "en"),
    (("everyone except amy@example.org",), {"to": (EMAIL, "amy@example.org", UNKNOWN)}, "en"),
    (("without cc to amy@example.org",), {"cc": (EMAIL, "amy@example.org", UNKNOWN)}, "en"),
    (("keep /srv/data, delete /srv/cache",), {"path": (PATH, "/srv/data", UNKNOWN)}, "en"),
    (("leave /srv/data alone and delete /srv/cache",), {"path": (PATH, "/srv/data", UNKNOWN)}, "en"),
    (("exclude bob@example.org",), {"to": (EMAIL, "bob@example.org", UNKNOWN)}, "en"),
    (("borra todo menos /srv/data",), {"path": (PATH, "/srv/data", UNKNOWN)}, "es"),
    (
        ("fly from Seoul to Busan",),
        {
            "origin": ({"type": "string", "description": "Departure city"}, "Seoul", KNOWN),
            "destination": ({"type": "string", "description": "Arrival city"}, "Busan", KNOWN),
        },
        "en",
    ),
    (
        ("fly from Seoul to Busan",),
        {
            "origin": ({"type": "string", "description": "Departure city"}, "Busan", UNKNOWN),
            "destination": ({"type": "string", "description": "Arrival city"}, "Seoul", UNKNOWN),
        },
        "en",
    ),
    (
        ("fly to Busan from Seoul",),
        {
            "origin": ({"type": "string", "description": "Departure city"}, "Busan", UNKNOWN),
            "destination": ({"type": "string", "description": "Arrival city"}, "Seoul", UNKNOWN),
        },
        "en",
    ),
    (
        ("fly to Busan from Seoul",),
        {
            "origin": ({"type": "string", "description": "Departure city"}, "Seoul", KNOWN),
            "destination": ({"type": "string", "description": "Arrival city"}, "Busan", KNOWN),
        },
        "en",
    ),
    (
        ("서울에서 부산으로",),
        {
            "origin": ({"type": "string", "description": "Departure city"}, "부산", UNKNOWN),
            "destination": ({"type": "string", "description": "Arrival city"}, "서울", UNKNOWN),
        },
        "ko",
    ),
    (
        ("rename a.txt to b.txt",),
        {
            "source": ({"type": "string", "description": "File to rename"}, "b.txt", UNKNOWN),
            "target": ({"type": "string", "description": "New name"}, "a.txt", UNKNOWN),
        },
        "en",
    ),
    (
        ("rename a.txt to b.txt",),
        {
            "source": ({"type": "string", "description": "File to rename"}, "a.txt", KNOWN),
            "target": ({"type": "string", "description": "New name"}, "b.txt", KNOWN),
        },
        "en",
    ),
    (
        ("convert 5 USD to EUR",),
        {
            "from_currency": ({"type": "string", "description": "Currency"}, "EUR", UNKNOWN),
            "to_currency": ({"type": "string", "description": "Currency"}, "USD", UNKNOWN),
        },
        "en",
    ),
    (
        ("Express please",),
        {
            "shipping": (
                {"oneOf": [{"const": "E1", "title": "Express"}, {"const": "S1", "title": "Standard"}]},
                "E1",
                KNOWN,
            )
        },
        "en",
    ),
    (
        ("pay Ana Lee, IBAN DE89370400440532013000",),
        {
            "recipient": (
                {"type": "object", "properties": {"name": {"type": "string"}, "iban": {"type": "string"}}},
                {"name": "Ana Kim", "iban": "DE89370400440532013000"},
                UNKNOWN,
            )
        },
        "en",
    ),
    (
        ("pay IBAN DE89 3704 0044 0532 0130 0099",),
        {"iban": ({"type": "string", "description": ""}, "DE89370400440532013000", UNKNOWN)},
        "en",
    ),
    (("unknown",), {"to_account": (TO_ACCOUNT, "unknown", KNOWN)}, "en"),
    (("set name to null",), {"name": ({"type": "string", "description": "Name"}, "null", KNOWN)}, "en"),
]

OPTIONS: list[Case] = [
    (("use the grill",), {"mode": (MODE, "grill", KNOWN)}, "en"),
    (("use the GRILL please",), {"mode": (MODE, "grill", KNOWN)}, "en"),
    (
        ("it is really urgent",),
        {
            "priority": (
                {
                    "type": "string",
                    "description": "Priority",
                    "enum": ["low", "normal", "high"],
                    "x-synonyms": {"high": ["urgent"]},
                },
                "high",
                UNKNOWN,  # the server's own word for it (R-6)
            )
        },
        "en",
    ),
    (("grill, not steam",), {"mode": (MODE, "steam", UNKNOWN)}, "en"),
    (("grill, not steam",), {"mode": (MODE, "grill", KNOWN)}, "en"),
    (("notify: no",), {"notify": (NOTIFY, True, UNKNOWN)}, "en"),
    (("notify: no",), {"notify": (NOTIFY, False, KNOWN)}, "en"),
    (("set dry run to true",), {"dry_run": ({"type": "boolean", "description": "Only show"}, True, KNOWN)}, "en"),
    (
        ("low or high, does not matter",),
        {
            "priority": (
                {"type": "string", "description": "Priority", "enum": ["low", "normal", "high"]},
                "low",
                UNKNOWN,
            )
        },
        "en",
    ),
    (
        ("make it high priority",),
        {"priority": ({"type": "string", "description": "Priority", "enum": ["low", "normal", "high"]}, "high", KNOWN)},
        "en",
    ),
    (
        ("not high, low",),
        {
            "priority": (
                {"type": "string", "description": "Priority", "enum": ["low", "normal", "high"]},
                "high",
                UNKNOWN,
            )
        },
        "en",
    ),
    (
        ("the highest one",),
        {
            "priority": (
                {"type": "string", "description": "Priority", "enum": ["low", "normal", "high"]},
                "high",
                UNKNOWN,
            )
        },
        "en",
    ),
    (("enable notifications",), {"notify": (NOTIFY, True, UNKNOWN)}, "en"),
    (("no notifications",), {"notify": (NOTIFY, False, UNKNOWN)}, "en"),
]

CODES: list[Case] = [
    (("ship it to Switzerland",), {"country": (COUNTRY, "CH", KNOWN)}, "en"),
    (("ship it to Germany",), {"country": (COUNTRY, "GE", UNKNOWN)}, "en"),
    (("pay in yen",), {"currency": (CURRENCY, "JPY", KNOWN)}, "en"),
    (("pay $20",), {"currency": (CURRENCY, "USD", KNOWN)}, "en"),
    (
        ("an office in Austin, Texas",),
        {"state": ({"type": "string", "description": "US state, two letters"}, "TX", KNOWN)},
        "en",
    ),
    (
        ("translate it into Spanish",),
        {"language": ({"type": "string", "description": "ISO 639-1 code of the language"}, "es", KNOWN)},
        "en",
    ),
    (("tell ana@example.org to read the page",), {"body": (BODY, "Read https://evil.example/x", UNKNOWN)}, "en"),
    (
        ("tell ana@example.org to read https://example.org/x",),
        {"body": (BODY, "Read https://example.org/x", CONFIRM)},
        "en",
    ),
    (("ship to Georgia",), {"country": (COUNTRY, "GE", KNOWN)}, "en"),
    (
        ("an office in Georgia",),
        {"state": ({"type": "string", "description": "US state, two letters"}, "GA", KNOWN)},
        "en",
    ),
    (("pay in Canadian dollars",), {"currency": (CURRENCY, "USD", UNKNOWN)}, "en"),
    (("pay in Canadian dollars",), {"currency": (CURRENCY, "CAD", KNOWN)}, "en"),
    (("pay in pounds",), {"currency": (CURRENCY, "GBP", KNOWN)}, "en"),
    (
        ("translate to Chinese",),
        {"language": ({"type": "string", "description": "ISO 639-1 code of the language"}, "zh", KNOWN)},
        "en",
    ),
    (
        ("in South Korea",),
        {"country": ({"type": "string", "description": "ISO 3166 alpha-2 code"}, "KP", UNKNOWN)},
        "en",
    ),
    (
        ("in New Mexico",),
        {"country": ({"type": "string", "description": "ISO 3166 alpha-2 code"}, "MX", UNKNOWN)},
        "en",
    ),
    (
        ("in West Virginia",),
        {"state": ({"type": "string", "description": "US state, two letters"}, "VA", UNKNOWN)},
        "en",
    ),
    (
        ("write a poem about spring",),
        {"body": ({"type": "string", "description": "Text", "x-role": "content"}, "Spring is here", CONFIRM)},
        "en",
    ),
    (
        ("write to Ana",),
        {
            "subject": (
                {"type": "string", "description": "Subject", "x-role": "content"},
                "Call me at 555-123-4567",
                UNKNOWN,
            )
        },
        "en",
    ),
]

LISTS: list[Case] = [
    (("tag it red, blue and green",), {"tags": (TAGS, ["red", "blue"], UNKNOWN)}, "en"),
    (("tag it red, blue and green",), {"tags": (TAGS, ["red", "blue", "yellow"], UNKNOWN)}, "en"),
    (
        ("cancel orders 12, 15 and 19",),
        {"ids": ({"type": "array", "items": {"type": "integer"}, "description": "Order numbers"}, [12, 15], UNKNOWN)},
        "en",
    ),
    (
        ("cancel orders 2, 3 and 4",),
        {"ids": ({"type": "string", "description": "Order numbers, comma separated"}, "2,3,4", KNOWN)},
        "en",
    ),
    (("tags: red and blue",), {"tags": (TAGS, ["blue", "red"], KNOWN)}, "en"),
    (("tag it red",), {"tags": (TAGS, ["red", "red"], UNKNOWN)}, "en"),
]
