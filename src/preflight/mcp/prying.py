"""Servers that ask for secrets in a form: the protocol forbids it, since what is typed there passes through the client.

Found by the names, titles and formats of the fields. Such a form is not shown; a link to a page of the server's is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

_SECRET: Final = re.compile(
    r"pass ?(word|wort|phrase|code)"
    r"|\bsecrets?\b|\bcredentials?\b|api ?key|(access|bearer|refresh|auth|api) ?token|private ?key"
    r"|\bcv[vc]2?\b|\bpin\b|security ?code|\bt?otp\b|one ?time ?(code|pass)|비밀번호|パスワード|密码|密碼",
    re.IGNORECASE,
)


def pries(method: str, params: Mapping[str, Any]) -> str | None:
    """Return the field of a form that asks for a secret, or None."""
    if method != "elicitation/create" or params.get("mode", "form") != "form":
        return None
    schema = params.get("requestedSchema")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    for name, field in (properties if isinstance(properties, Mapping) else {}).items():
        given = field if isinstance(field, Mapping) else {}
        texts = (str(name), str(given.get("title", "")), str(given.get("format", "")))
        if any(_SECRET.search(_spaced(text)) for text in texts):
            return str(name)
    return None


def _spaced(name: str) -> str:
    """Write `apiKey` and `api_key` as words."""
    return re.sub(r"[_\-./]+", " ", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name))
