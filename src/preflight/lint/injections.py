"""Text that is written for the model that reads a tool list, not for the people who use the tool.

None of it changes a decision (R-6): descriptions are read by no gate. It is found so that the people who
choose a server see what it tries.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from preflight.lint.hidden import unseen


class Kind(NamedTuple):
    """One way of giving the model orders: what it does, and how it is recognised."""

    what: str
    pattern: re.Pattern[str]


def _kind(what: str, pattern: str) -> Kind:
    return Kind(what, re.compile(pattern, re.IGNORECASE | re.VERBOSE))


_KINDS = (
    _kind(
        "orders earlier instructions to be ignored",
        r"""\b(?:ignore|disregard|forget|override|overrule|bypass)\b [^.\n]{0,40}
        \b(?:previous|prior|above|earlier|preceding|system|all|any|other|your)\b [^.\n]{0,20}
        \b(?:instructions?|rules?|prompts?|messages?|guidelines?|polic(?:y|ies)|safeguards?)\b""",
    ),
    _kind(
        "poses as another voice in the conversation",
        r"""(?:^|[\n.!?>"'])\s{0,9}(?:system|assistant|developer|admin(?:istrator)?)\s*:\s
        | <\s?/?\s?(?:system|important|instructions?|critical|secret|admin|assistant|user)\s?>
        | <\|im_(?:start|end)\|> | \[/?inst\] | <</?sys>> | \#\#\#\s?(?:system|instruction)s?\s?:""",
    ),
    _kind(
        "says that no one needs to be asked",
        r"""\b(?:no|without|skip|bypass|needs?\ no|requires?\ no|no\ need\ for)\ (?:\w+\ ){0,3}
        (?:confirmation|approval|consent|permission)\b
        | \b(?:do\ not|don't|never)\ (?:\w+\ ){0,2}(?:ask|prompt|wait)\b [^.\n]{0,40}
        \b(?:confirm\w*|approv\w*|permission|consent)\b
        | \b(?:pre-?approved|already\ (?:approved|confirmed|authori[sz]ed|consented))\b
        | \balways\ (?:approve|allow|accept|confirm|permit)\b | \bauto-?(?:approve|confirm)\b""",
    ),
    _kind(
        "orders something to be kept from the user",
        r"""\b(?:do\ not|don't|never|without|avoid)\ (?:\w+\ ){0,2}
        (?:tell|inform|mention|notify|reveal|disclos|alert|show)(?:e|ing)?\b
        [^.\n]{0,40} \b(?:users?|humans?|anyone|person|people|customers?|operator)\b
        | \b(?:keep|hide|conceal)\b [^.\n]{0,40} \bfrom\ the\ (?:user|human|person|customer|operator)\b""",
    ),
    _kind(
        "tells the model who it is",
        r"""\byou\ are\ (?:now|no\ longer|an?\ (?:helpful|unrestricted|ai|assistant|language))\b
        | \bas\ an\ (?:ai|language\ model)\b""",
    ),
    _kind(
        "names a place where credentials lie",
        r"""(?:~|\$HOME)/\.(?:ssh|aws|config|netrc|gnupg|cursor|claude)\b | \bid_(?:rsa|ed25519)\b
        | /etc/(?:passwd|shadow)\b""",
    ),
    _kind(
        "orders data to be sent along",
        r"""\b(?:send|include|append|attach|forward|pass|copy)\b [^.\n]{0,60}
        \b(?:conversation|chat\ history|system\ prompt|previous\ messages|api\ keys?|credentials?|private\ key
        |environment\ variables)\b
        [^.\n]{0,60} \b(?:to|in|into|as|with)\b""",
    ),
    _kind("hides text in a comment", r"<!--"),
    _kind("holds a long encoded block", r"\b[A-Za-z0-9+/]{160,}={0,2}"),
)

_STEERING = _kind(
    "tells the model when to use which tool",
    r"""\b(?:call|use|run|invoke)\ (?:this|it)(?:\ \w+)?\ (?:first|always)\b
    | \b(?:always|must)\ (?:first\ )?(?:call|use|run|invoke)\ (?:this|it)\b
    | \bbefore\ (?:using|calling|running|invoking)\ (?:any|all|every|other|another)\b
    | \b(?:do\ not|don't|never)\ (?:use|call|run|invoke)\ (?:any|the)\ other\ tools?\b
    | \b(?:prefer|use)\ this\ (?:tool\ )?(?:over|instead\ of|rather\ than)\ (?:any|all|every|other)\b
    | \b(?:only|best)\ tool\ (?:you|that|to|for)\b""",
)


@lru_cache(maxsize=4096)
def injections(text: str) -> tuple[tuple[str, str], ...]:
    """Return `(what it does, the words)` for each way in which a text gives the model orders."""
    plain = _plain(text)
    found = ((kind.what, kind.pattern.search(plain)) for kind in _KINDS)
    return tuple((what, _around(plain, match)) for what, match in found if match)


@lru_cache(maxsize=4096)
def steering(text: str) -> str | None:
    """Return the words with which a text steers the choice of tools in general."""
    plain = _plain(text)
    match = _STEERING.pattern.search(plain)
    return _around(plain, match) if match else None


def _plain(text: str) -> str:
    """Return text as a model may read it: compatibility forms resolved, what is not seen left out."""
    if text.isascii():
        return text
    hidden = set(unseen(text))
    shown = "".join(char for char in text if char not in hidden)
    return unicodedata.normalize("NFKC", shown)


def _around(text: str, match: re.Match[str]) -> str:
    """The match with some whole words before and after it."""
    before, after = text[: match.start()], text[match.end() :]
    if len(before) > 20:
        before = before[-20:].partition(" ")[2]
    if len(after) > 40:
        after = after[:40].rpartition(" ")[0]
    return (before + match.group() + after).strip()


__all__ = ["injections", "steering"]
