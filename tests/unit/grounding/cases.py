"""Cases by kind: what the user said, what is claimed, what must come out.

The clock is Monday, 30 November 2026 in Seoul.
"""

from __future__ import annotations

from typing import Any

from preflight.model.instruction import Segment

Case = tuple[tuple[str | Segment, ...], dict[str, tuple[dict[str, Any], Any, str]], str]

NOW, ZONE = "2026-11-30T10:00:00+09:00", "Asia/Seoul"
KNOWN, UNKNOWN, CONFIRM = "known", "unknown", "confirm"

AMOUNT = {"type": "number", "description": "Amount to send"}
HOW_MANY = {"type": "number", "description": "How many"}
ROOMS = {"type": "number", "description": "Number of rooms"}
NIGHTS = {"type": "number", "description": "Number of nights"}
GUESTS = {"type": "number", "description": "Number of guests"}
TICKETS = {"type": "number", "description": "Number of tickets"}
MINUTES = {"type": "number", "description": "Length in minutes"}
METERS = {"type": "number", "description": "Distance in meters"}
DATE = {"type": "string", "format": "date", "description": "Day of the booking"}
MOMENT = {"type": "string", "format": "date-time", "description": "Start"}
TIME = {"type": "string", "description": "Time of day, HH:MM"}
TO_ACCOUNT = {"type": "string", "description": "Account that receives the money"}
FROM_ACCOUNT = {"type": "string", "description": "Account that pays"}
EMAIL = {"type": "string", "description": "Recipient's e-mail address", "format": "email"}
PERSON = {"type": "string", "description": "Name of the person"}
MODE = {"type": "string", "description": "Heating mode", "enum": ["fan", "grill", "steam"]}
NOTIFY = {"type": "boolean", "description": "Send a notification"}
TAGS = {"type": "array", "items": {"type": "string"}, "description": "Tags"}
BODY = {"type": "string", "description": "Text of the message", "x-role": "content"}
PATH = {"type": "string", "description": "Path of the file"}
LINK = {"type": "string", "description": "Address", "format": "uri"}
ORDER = {"type": "string", "description": "Identifier of the order"}
PHONE = {"type": "string", "description": "Phone number", "format": "phone"}
COUNTRY = {"type": "string", "description": "ISO 3166 alpha-2 code of the country"}
CURRENCY = {"type": "string", "description": "ISO 4217 code"}
