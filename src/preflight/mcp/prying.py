"""Servers that ask for secrets in a form: the protocol forbids it, since what is typed there passes through the client.

Found by the names of the fields and what is said of them, and by what the form itself says. Such a form is not shown; a
link to a page of the server's is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from preflight.grounding.absence import skeleton

_WORDS: Final = (
    r"pass ?(?:word|wort|phrase|code|wd)|\bpwd\b|\bsecrets?\b|\bcredentials?\b|api ?key|private ?key|\bssn\b"
    r"|(?<!page )(?<!next )(?<!cursor )(?<!continuation )\btoken\b|social security|(?:seed|recovery) ?phrase"
    r"|\bmnemonic\b|\bcv[vc]2?\b|\bpin\b|security ?code|\bt?otp\b|one ?time ?(?:code|pass)|mot de passe"
    r"|contrase[nñ]a|\bsenha\b|kennwort|비밀번호|パスワード|密码|密碼"
)
_SECRET: Final = re.compile(_WORDS)
_ASKED_FOR: Final = re.compile(
    r"\b(?:enter|type|provide|give|supply|input|paste|tell|what(?: is|['’]s))\b[^.!?\n]{0,60}?" + rf"(?:{_WORDS})"
)
"""In a sentence a secret may be spoken of and not asked for: "your password was changed; to which address ..."."""
_SAID: Final = ("title", "format", "description")


def pries(method: str, params: Mapping[str, Any]) -> str | None:
    """Return the field of a form that asks for a secret, or `message` where only that does; else None."""
    if method != "elicitation/create" or str(params.get("mode", "form")).lower() == "url":
        return None
    for name, texts in _fields(params.get("requestedSchema")):
        if any(_SECRET.search(_plain(text)) for text in texts):
            return name
    return "message" if _ASKED_FOR.search(_plain(str(params.get("message", "")))) else None


def _fields(schema: object, name: str = "the form") -> Iterator[tuple[str, list[str]]]:
    """Yield each field of a schema, wherever it stands in it, with all that is said of it."""
    if isinstance(schema, list):
        for part in schema:
            yield from _fields(part, name)
    if not isinstance(schema, Mapping):
        return
    yield name, [name, *(str(schema[word]) for word in _SAID if isinstance(schema.get(word), str))]
    for word, part in schema.items():
        if word in ("properties", "$defs", "definitions") and isinstance(part, Mapping):
            for inner, field in part.items():
                yield from _fields(field if isinstance(field, Mapping) else {}, str(inner))
        elif isinstance(part, Mapping | list):
            yield from _fields(part, name)


def _plain(text: str) -> str:
    """Write `apiKey` and `api_key` as words, in the letters that they look like."""
    return skeleton(re.sub(r"[_\-./]+", " ", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)))
