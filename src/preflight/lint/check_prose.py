"""Rules about descriptions: conditions and harm that no program can see."""

from __future__ import annotations

import re
from collections.abc import Iterator

from preflight.lint.finding import Finding
from preflight.lint.quoting import quote
from preflight.lint.subject import Subject

_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.) (?=[^a-z])")
_CONDITION = re.compile(
    r"""(?:^|\b(?:use|call|run|set|can|may|should|works?|allowed|available|valid|possible|permitted)\b [^.]{0,40})
        \bonly\ (?:if|when|after|once)\b
    | \b(?:not|never|fails?|refused|rejected|disabled|blocked)\b [^.]{0,60} \bunless\b
    | \bprovided\ that\b | \bas\ long\ as\b
    | \bmust\ (?:not\ )?(?:be|have|exist|first|already|only|never|come|belong|run|own)\b
    | (?<!not\ )(?<!to\ )\brequires?\ (?!no\b) | \brequired\ (?:before|for|to)\b
    | \bneeds?\ (?:to\ be\b | (?:\w+\ ){0,3}(?:permission|role|scope|approval|consent|access|licen[cs]e)\b)
    | \b(?:make\ sure|ensure|verify|check)\ (?:that|whether|you)\b
    | ^(?:please\ )?(?:make\ sure|ensure)\ (?:the|this|your|no|there)\b
    | \bcan(?:not|'t)\ be\ (?:deleted|renamed|changed|updated|moved|removed|modified|re-?created|cancell?ed|shared
        |sent)\b
    | \b(?:is|are)\ (?:rejected|refused)\b | \bnot\ (?:allowed|permitted)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_HARM = re.compile(
    r"""\bcan(?:not|'t)\ be\ (?:undone|reversed|recovered|restored)\b | \birreversibl[ey]\b | \bpermanent(?:ly)?\b
    | \b(?:overwrit\w+|replac\w+|delet\w+|remov\w+)\b.{0,40}\bwithout\ (?:warning|asking|notice)\b
    | \bno\ (?:way\ to\ )?undo\b | \bunrecoverabl[ey]\b | \bdata\ loss\b""",
    re.IGNORECASE | re.VERBOSE,
)
# What only the world can tell, whatever else the sentence speaks of.
_ABOUT_THE_WORLD = re.compile(
    r"\b(?:permissions?|enabled?|scopes?|consent|approval|approved|confirm(?:ed|ation)|roles?|authori[sz]ed|unique|licen[cs]e)\b",
    re.IGNORECASE,
)
# A sentence about how an argument is written, rather than about the world.
_ABOUT_FORM = re.compile(
    r"""\b(?:param(?:eter)?s?|arguments?|bod(?:y|ies)|fields?|header|format(?:ted)?|array|strings?|quotes|properties|property|optional
    |list\ of|one\ of|either|elements?|columns?|values?|number\ of|base64|json|html|iso|path|syntax|pattern|prefix)\b
    | \bmust\ be\ (?:(?:an?|in|at|between|one)\b|'|"|`|\d)""",
    re.IGNORECASE | re.VERBOSE,
)
# What a label says is declared: a program reads it.
_LABELLED = re.compile(r"^[ \t]*\[(?:Required|Verify|Notice)(?::[^\]\n]*)?\][^\n]*", re.MULTILINE)
_LEAST = 12  # code points: below it a piece of text is a heading, not a sentence


def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences and lines of a text, each once."""
    pieces = (piece.strip(" -*•") for line in _unwrapped(text) for piece in _END.split(line))
    return tuple(dict.fromkeys(piece for piece in pieces if len(piece) >= _LEAST))


def _unwrapped(text: str) -> list[str]:
    """The lines of a text; one that goes on in lower case belongs to the line before it."""
    lines = [[""]]
    for line in text.splitlines():
        words = line.split()
        if words and words[0][0].islower():
            lines[-1] += words
        else:
            lines.append(words)
    return [" ".join(words) for words in lines]


def conditions(subject: Subject) -> tuple[str, ...]:
    """Return the sentences of the description that tell a condition for the call."""
    return tuple(s for s in _prose(subject) if _CONDITION.search(s) and not _is_about_form(subject, s))


def _is_about_form(subject: Subject, sentence: str) -> bool:
    if _ABOUT_THE_WORLD.search(sentence):
        return False
    if _ABOUT_FORM.search(sentence):
        return True
    said = set(re.findall(r"[\w.$-]+", sentence))
    return any(value.name in said for value in subject.values if value.depth == 0 and len(value.name) > 3)


def condition_in_prose(subject: Subject) -> Iterator[Finding]:
    """PF030: what must hold before the call, told to readers only."""
    for sentence in conditions(subject) if subject.acts else ():
        yield subject.find(
            "PF030",
            "/description",
            f"a condition stands only in prose: {quote(sentence)}",
            "declare it in `_meta` under `preflight/checklist`, or as a `[Required]` or `[Verify]` line",
        )


def harm_in_prose(subject: Subject) -> Iterator[Finding]:
    """PF031: lasting harm that the hints do not tell; a note where they do."""
    if not subject.acts:
        return
    for sentence in harms(subject):
        told = subject.hint("destructiveHint") is True
        yield subject.find(
            "PF031",
            "/description",
            f"lasting harm is told in prose: {quote(sentence)}",
            "say it as a `[Notice]` line" + ("" if told else " and set `destructiveHint` to true"),
            "note" if told else "warning",
        )


def harms(subject: Subject) -> tuple[str, ...]:
    """Return the sentences of the description that tell of lasting harm."""
    return tuple(s for s in _prose(subject) if _HARM.search(s))


def _prose(subject: Subject) -> tuple[str, ...]:
    return sentences(_LABELLED.sub("", subject.tool.description))


def argument_rule_in_prose(subject: Subject) -> Iterator[Finding]:
    """PF032: rules for the arguments that the schema could hold. One finding a tool."""
    said = _prose(subject) if subject.acts else ()
    rules = [s for s in said if _CONDITION.search(s) and _is_about_form(subject, s)]
    if rules:
        more = f" ({len(rules)} such sentences)" if len(rules) > 1 else ""
        yield subject.find(
            "PF032",
            "/description",
            f"a rule for the arguments stands only in prose: {quote(rules[0])}{more}",
            "declare it in the input schema (`required`, `enum`, `pattern`, `format`, `minItems`)",
        )


CHECKS = (condition_in_prose, harm_in_prose, argument_rule_in_prose)

__all__ = ["CHECKS", "conditions", "harms", "sentences"]
