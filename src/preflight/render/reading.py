"""How the user's words became a value: what was read, by which normaliser, under which rule, what else it may mean."""

from __future__ import annotations

from preflight.model.evidence import Evidence
from preflight.render.visible import code_points, quoted, visible
from preflight.render.words import leaves

_FLAGS = {
    "hedged": "said roughly",
    "negated": "beside a refusal",
    "ambiguous": "it has more than one reading",
    "also_untrusted": "also in text the user did not write",
    "perhaps_time": "it may be a time of day",
}


def readings(evidence: Evidence) -> list[str]:
    """Return one line for each place that a value was read from: its words, normaliser, result, grade (R-51)."""
    return [_where(leaf) + _reading(leaf) + _remarks(leaf) for leaf in leaves(evidence)]


def near(evidence: Evidence) -> str:
    """Return how words were read that do not count: never as what, since that would show a candidate (R-9).

    Where they have several readings all of them are named, in order, so that none is marked.
    """
    found = evidence.alternatives
    both = f": may be {_listed(sorted({evidence.canonical, *found}))}" if found and evidence.canonical else ""
    return f"{quoted(evidence.matched_text)} read as {_name(evidence)}, {evidence.grade}{both}{_remarks(evidence)}"


def _where(leaf: Evidence) -> str:
    return f"{visible(leaf.pointer)}: " if leaf.pointer and not leaf.pointer.startswith("#") else ""


def _reading(leaf: Evidence) -> str:
    same = not leaf.canonical or leaf.canonical == leaf.matched_text
    value = "" if same else f": {visible(leaf.canonical)}"
    rule = f" by {leaf.rule.replace('_', ' ')}" if leaf.rule else ""
    others = f"; may also be {_listed(leaf.alternatives)}" if leaf.alternatives else ""
    return f"{quoted(leaf.matched_text)} read as {_name(leaf)}{value} ({leaf.grade}{rule}{_bases(leaf)}){others}"


def _bases(leaf: Evidence) -> str:
    """Return the words that a derivation starts from, where they stand apart."""
    texts = [quoted(part.matched_text) for part in leaf.parts if part.pointer != "#anchor"]
    return f" from {' and '.join(texts)}" if texts else ""


def _remarks(leaf: Evidence) -> str:
    flags = [flag for flag in leaf.flags if flag != "ambiguous" or not leaf.alternatives]
    told = [_FLAGS.get(flag, flag.replace("_", " ")) for flag in flags]
    if "confusable" in flags and (points := code_points(leaf.matched_text)):
        told.append(points)
    return "".join(f"; {text}" for text in told)


def _name(leaf: Evidence) -> str:
    return leaf.normaliser.replace("_", " ")


def _listed(values: tuple[str, ...] | list[str]) -> str:
    return " or ".join(map(visible, values))
