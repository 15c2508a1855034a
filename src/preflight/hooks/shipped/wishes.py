"""What kind of act the user wishes: a read, or a change of some kind. A wish to read never meets a tool that acts."""

from __future__ import annotations

from preflight.model.rules import ToolRules

_READS = frozenset(
    "show list check read find search get look view see tell what which how who when where is are do does did has have "
    "display count summarize summarise compare explain describe".split()
)
_CHANGES = {
    "delete": "delete remove erase drop destroy purge wipe clear discard cancel revoke unsubscribe",
    "create": "create add make open book register schedule invite new upload write save",
    "send": "send pay transfer email mail message post forward reply wire share publish tweet refund",
    "update": "update change edit rename move modify reset replace correct archive file enable disable",
}
_CHANGE_OF = {verb: change for change, verbs in _CHANGES.items() for verb in verbs.split()}


def mismatch(act: tuple[str, ...], rules: ToolRules) -> str | None:
    """Say why a tool cannot do what the act begins with, or None where the words do not tell.

    `act` is the act's words, case folded. The tool's side comes from the adopter's rules alone (R-6).
    """
    verb = act[0] if act else ""
    acts = rules.effect == "irreversible" or bool(rules.changes)
    if verb in _READS and acts:
        return "a wish to read does not meet a tool that changes things"
    wanted = _CHANGE_OF.get(verb)
    made = {_CHANGE_OF.get(change, change) for change in rules.changes}
    if wanted is not None and made and wanted not in made:
        return f"the tool does not `{wanted}`"
    return None
