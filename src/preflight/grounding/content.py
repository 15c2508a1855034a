"""Text that the model may write: every address, link, account and phone number in it is grounded (R-57)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from preflight.grounding.field import compile_field
from preflight.grounding.findings import Context, Finding
from preflight.grounding.lookup import look_up
from preflight.grounding.place import Place
from preflight.grounding.text import has_deceiving
from preflight.model.evidence import Evidence

# The full stops that name servers take for one: ideographic, full-width, half-width.
_DOT = r"[.\u3002\uff0e\uff61]"
_EMAIL = re.compile(rf"[\w.+-]{{1,64}}@[\w-]{{1,63}}(?:{_DOT}[\w-]{{1,63}}){{1,8}}")
_LINK = re.compile(
    r"(?:(?<![\w+.-])[a-z][a-z0-9+.-]{1,15}://|www\.|\b(?:javascript|data|mailto|tel|sms):(?=\S))[^\s<>\"']{1,2000}",
    re.IGNORECASE,
)
_MARKED_LINK = re.compile(r"(?<=\]\()[^\s()<>\"']{1,2000}(?=[\s)])")
_ENDINGS = (
    "com org net io co ru cn info biz app dev ai me xyz top site online shop example test link zip mov page click live"
    " cloud store ly gg cc tv tk ml pw sh uk de fr jp kr рф"
).replace(" ", "|")
# A host with an ending that is known, or any host with a path behind it.
_HOST = re.compile(
    rf"(?<![\w@.-])(?:[\w-]{{1,63}}{_DOT}){{1,4}}(?:(?:{_ENDINGS})(?![\w-])(?:/[^\s<>\"']{{0,2000}})?"
    r"|[^\W\d_]{2,24}/[^\s<>\"']{1,2000})",
    re.IGNORECASE,
)
_PHONE = re.compile(r"(?<![\w.])\+?\(?\d[\d ().\-]{6,20}\d(?!\w)")
_ACCOUNT = re.compile(
    r"\b(?=[A-Z0-9\- ]{0,40}\d)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){2,8}\b|\b"
    r"(?=[\w-]{0,40}\d)[A-Z]{1,6}-[A-Z0-9]{1,12}(?:-[A-Z0-9]{1,12}){0,4}\b|\b0x[0-9a-fA-F]{16,64}\b"
    r"|\b[a-km-zA-HJ-NP-Z1-9]{26,62}\b|\b(?:bc|tb|ltc)1[a-z0-9]{20,80}\b"
)
_SORTS = (
    ("email", _EMAIL), ("uri", _LINK), ("uri", _MARKED_LINK), ("uri", _HOST), ("account", _ACCOUNT), ("phone", _PHONE),
)  # fmt: skip
_SCHEMAS: dict[str, dict[str, object]] = {
    "email": {"type": "string", "format": "email"},
    "uri": {"type": "string", "format": "uri"},
    "account": {"type": "string", "format": "iban"},
    "phone": {"type": "string", "format": "phone"},
}


def scan(text: str, places: Sequence[Place]) -> Finding:
    """`confirm` when every address in the text is the user's own, else `unknown`."""
    if has_deceiving(text) and any(
        deceiving in text for deceiving in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b"
    ):
        return Finding("unknown", None, "confusable")
    found: list[Evidence] = []
    for sort, value in addresses(text):
        evidence = _grounded(sort, value, places)
        if evidence is None:
            return Finding("unknown", None, "ungrounded_content")
        found.append(evidence)
    return Finding("confirm", None, "model_written", tuple(found))


def addresses(text: str) -> Iterator[tuple[str, str]]:
    """Every address, link, account and phone number in the text, each with its sort."""
    taken = bytearray(len(text))
    for sort, pattern in _SORTS:
        for match in pattern.finditer(text):
            if not any(taken[match.start() : match.end()]):
                taken[match.start() : match.end()] = b"\x01" * len(match[0])
                yield sort, match[0].rstrip(".,;:!?)]}'\"")


def _grounded(sort: str, value: str, places: Sequence[Place]) -> Evidence | None:
    field = compile_field(sort, _SCHEMAS[sort], "target", {})
    for candidate in (
        (value, "".join(char for char in value if char.isalnum() or char == "+"))
        if sort in ("phone", "account")
        else (value,)
    ):
        for found in look_up(field, candidate, [place for place in places if not place.carried], Context()):
            if found.grade == "stated":
                return found
    return None
