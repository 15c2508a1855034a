"""What a tool's name says that it does. A hint for people, and never a reason to be less strict (R-65)."""

from __future__ import annotations

import re
from typing import Literal

Act = Literal["read", "change", "send", "destroy"]
ACTS: tuple[Act, ...] = ("read", "change", "send", "destroy")
"""From harmless to grave."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_JOINTS = frozenset(("or", "and"))

_VERBS: dict[Act, str] = {
    "read": (
        "get list read search find fetch show describe view count check lookup browse inspect status diff log logs "
        "preview explain ping echo verify validate parse convert calculate compute open retrieve snapshot trace help "
        "wait compare summarize analyze"
    ),
    "change": (
        "create add set update edit write modify patch put insert move rename copy save append apply replace "
        "scale start stop enable disable toggle mark archive import install upgrade run exec execute evaluate assign "
        "connect register login logout select manage fork commit checkout trigger schedule make change adjust sort "
        "merge click type press drag fill navigate handle label draft snooze restore rollback rollout"
    ),
    "send": (
        "send post publish reply forward share invite notify tweet pay transfer withdraw buy order book submit deploy "
        "push respond accept decline upload broadcast"
    ),
    "destroy": (
        "delete remove drop purge erase destroy wipe clear uninstall reset kill terminate revoke truncate unlink prune "
        "cleanup overwrite cancel empty ban"
    ),
}
_ACT_OF: dict[str, Act] = {verb: act for act in ACTS for verb in _VERBS[act].split()}


def words(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case: `getUserById`, `get_user-by id` alike."""
    return tuple(word.lower() for word in _WORD.findall(name))


def act_of(name: str) -> Act | None:
    """Return what the first verb of a name says; None when no word of it is a verb that is known.

    Verbs joined by `or` and `and` count together, the gravest wins: `get_or_create` changes. A name that ends
    in `to file` writes.
    """
    said = words(name)
    first = next((at for at, word in enumerate(said) if word in _ACT_OF), None)
    if said[-2:] == ("to", "file"):
        return "change"
    if first is None:
        return None
    acts = [_ACT_OF[said[first]]]
    for joint, verb in zip(said[first + 1 :: 2], said[first + 2 :: 2], strict=False):
        if joint not in _JOINTS or verb not in _ACT_OF:
            break
        acts.append(_ACT_OF[verb])
    return max(acts, key=ACTS.index)


def act_of_word(word: str) -> Act | None:
    """Return what one word says as a verb, as in an option named `delete`."""
    return _ACT_OF.get(word.lower())


__all__ = ["ACTS", "Act", "act_of", "act_of_word", "words"]
