"""The user's sentence with the evidence marked, in plain text, for `explain` and for questions."""

from __future__ import annotations

from preflight.grounding.text import deceives
from preflight.model.evidence import Evidence

_REACH = 60
_OPEN, _CLOSE = "[", "]"


def render(text: str, evidence: Evidence) -> str:
    """One line: the words round the span with the span in brackets, then how it was read.

    Characters that deceive or control a terminal are shown as code points (R-56). The text is that of
    the segment that the evidence names; a span outside it is said to be missing, never guessed.
    """
    if not 0 <= evidence.start < evidence.end <= len(text):
        return f"(the span {evidence.start}-{evidence.end} is not in the text)"
    return f"{sentence(text, evidence)}  {reading(evidence)}"


def sentence(text: str, evidence: Evidence) -> str:
    """The sentence that holds the span, cut to what is near, with each stretch of evidence in brackets."""
    start = _sentence_start(text, evidence.start)
    end = _sentence_end(text, evidence.end)
    pieces: list[str] = []
    at = start
    for begin, stop in _stretches(evidence):
        if begin >= at:
            pieces += [visible(text[at:begin]), _OPEN, visible(text[begin:stop]), _CLOSE]
            at = stop
    pieces.append(visible(text[at:end]))
    return "".join(
        (
            "… " if start and not _ends_sentence(text, start) else "",
            *pieces,
            " …" if end < len(text) and not _ends_sentence(text, end) else "",
        )
    )


def reading(evidence: Evidence) -> str:
    """How the words became the value: grade, normaliser, rule, canonical form, other readings, flags."""
    said = [f"{evidence.grade} by {evidence.normaliser}"]
    if evidence.rule and evidence.rule != evidence.normaliser:
        said.append(f"rule {evidence.rule}")
    if evidence.canonical:
        said.append(f"read as `{visible(evidence.canonical)}`")
    if evidence.alternatives:
        said.append("or " + ", ".join(f"`{visible(other)}`" for other in evidence.alternatives))
    said.extend(evidence.flags)
    return f"({'; '.join(said)})"


def visible(text: str) -> str:
    """The text with every character that deceives or controls written as its code point."""
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    if char in "\n\t\r":
        return " "
    return f"<U+{ord(char):04X}>" if deceives(char) or not char.isprintable() else char


def _stretches(evidence: Evidence) -> list[tuple[int, int]]:
    parts = [part for part in evidence.parts if part.segment_index == evidence.segment_index]
    if not parts or any(part.pointer == "#anchor" for part in parts):
        return [(evidence.start, evidence.end)]
    return sorted(stretch for part in parts for stretch in _stretches(part))


def _sentence_start(text: str, at: int) -> int:
    lowest = max(0, at - _REACH)
    for index in range(at - 1, lowest, -1):
        if _ends_sentence(text, index):
            return index
    return lowest


def _sentence_end(text: str, at: int) -> int:
    highest = min(len(text), at + _REACH)
    for index in range(at, highest):
        if index > at and _ends_sentence(text, index):
            return index
    return highest


def _ends_sentence(text: str, at: int) -> bool:
    """Whether a sentence ends just before this offset."""
    return at > 0 and (
        text[at - 1] == "\n" or (text[at - 1] in ".!?。！？" and (at == len(text) or text[at].isspace()))
    )
