"""Prompts that only say to go on: "ok", "continue", "done, I answered it". They ask for nothing by themselves."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

LONGEST: Final = 60
"""Code points of a prompt that is looked at: who only says to go on says it shortly."""
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# Each of these alone says to go on. "Again" is none of them: that is to do it once more, and "no" and "stop" are not.
_HEADS: Final = frozenset(
    """
    ok okay yes yeah yep sure fine continue proceed done answered go confirmed approved thanks
    ja gut weiter fortfahren erledigt fertig danke
    oui continue continuez poursuis poursuivez fait merci
    sí si vale continúa continua sigue adelante hecho listo gracias
    네 예 응 그래 좋아 좋아요 계속 계속해 계속해줘 계속해주세요 진행해 진행해줘 진행해주세요
    답했어 답했어요 확인했어 확인했어요
    はい うん 続けて 続けてください 進めて 進めてください
    """.split()
)
_BESIDE: Final = frozenset(
    """
    i i've ive have just now please on ahead with it that the this question form page and so good great thank you
    bitte jetzt mach nur das es ich habe alles klar
    s'il te vous plaît je l'ai j'ai d'accord maintenant allez vas y
    por favor ya lo he ahora todo bien
    이제 좋습니다 どうぞ お願いします
    """.split()
)


def goes_on(text: str) -> bool:
    """Whether a prompt only says to go on with what was asked before it."""
    if len(text) > LONGEST or "?" in text:
        return False
    words = [word.replace("’", "'") for word in _WORD.findall(unicodedata.normalize("NFC", text).lower())]
    return any(word in _HEADS for word in words) and all(word in _HEADS or word in _BESIDE for word in words)
