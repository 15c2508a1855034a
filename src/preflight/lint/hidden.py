"""Characters that nobody sees, and names that pass for others (R-56)."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

# Letters of other scripts, and marks, that most typefaces draw like an ASCII character.
_LOOK_ALIKES = str.maketrans(
    dict(
        zip(
            "аеорсухіјѕԁһӏвмткαορνιυκⅼⅰⅴⅹɡɑı‐‑‒–—−·․АВЕКМНОРСТХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
            "aeopcyxijsdhlbmtkaopviuklivxgai------..ABEKMHOPCTXIJSABEZHIKMNOPTYX",
            strict=True,
        )
    )
)
_DRAWN_ALIKE = str.maketrans({"I": "l", "1": "l", "|": "l", "0": "O"})
_JOINERS = frozenset("\u200c\u200d")
_FLAG = "\U0001f3f4"
_PLAIN_CONTROLS = frozenset("\n\r\t")


@lru_cache(maxsize=4096)
def unseen(text: str) -> str:
    """Return the characters of a text that draw nothing or move others, each once, in order.

    Control characters (escape sequences for terminals begin with one), bidirectional controls, zero-width and
    tag characters, soft hyphens, Hangul fillers. Joiners where scripts and emoji need them are not among them.
    """
    if text.isascii() and text.isprintable():
        return ""
    found = (char for at, char in enumerate(text) if _draws_nothing(char) and not _has_use(text, at))
    return "".join(dict.fromkeys(found))


def _draws_nothing(char: str) -> bool:
    if char in _PLAIN_CONTROLS:
        return False
    return (
        unicodedata.category(char) in ("Cc", "Cf", "Co", "Zl", "Zp") or char in "\u115f\u1160\u3164\uffa0\u2800\u034f"
    )


def _has_use(text: str, at: int) -> bool:
    """Whether writing needs the character here: a joiner between letters outside ASCII, a tag in a flag."""
    char = text[at]
    if char in _JOINERS:
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        return bool(before and after) and not before.isascii() and not after.isascii()
    return "\U000e0020" <= char <= "\U000e007f" and _FLAG in text[max(0, at - 8) : at]


def code_points(characters: str) -> str:
    """Return characters as their code points."""
    return ", ".join(f"U+{ord(char):04X}" for char in characters)


def looks(name: str) -> str:
    """Return what a name looks like: two names that read the same have the same look."""
    shown = "".join(char for char in name if not _draws_nothing(char))
    return unicodedata.normalize("NFKC", shown).translate(_LOOK_ALIKES).translate(_DRAWN_ALIKE)


def sounds(name: str) -> str:
    """Return a name without case and separators: two names that a reader takes for one have the same."""
    return "".join(char for char in looks(name).casefold() if char.isalnum())


def deceives(name: str) -> str:
    """Return why a name can pass for another one, or an empty string."""
    if name.isascii():
        return ""
    if unicodedata.normalize("NFKC", name) != unicodedata.normalize("NFC", name):
        return "it has characters that are another form of plain ones"
    scripts = sorted({_script(char) for char in name if char.isalpha()})
    if len(scripts) > 1:
        return f"it mixes letters of {' and '.join(scripts)}"
    return "it is spelt with letters that look like others" if name.translate(_LOOK_ALIKES).isascii() else ""


def _script(char: str) -> str:
    if char.isascii():
        return "Latin"
    script = unicodedata.name(char, "UNNAMED").split()[0].title()
    return "Han, Kana or Hangul" if script in ("Cjk", "Hiragana", "Katakana", "Hangul") else script


__all__ = ["code_points", "deceives", "looks", "sounds", "unseen"]
