"""`preflight rules` and `preflight replay`: rules tried on examples, and on what was decided before."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from preflight.cli.codes import DONE, ERROR
from preflight.cli.opening import RULES, AsJson, Db, opened_to_read
from preflight.cli.screen import Screen
from preflight.errors import InvalidInput
from preflight.render.styled import line
from preflight.render.visible import visible

if TYPE_CHECKING:
    from preflight.replaying import Replay
    from preflight.rules import Case

Paths = Annotated[list[str], typer.Argument(metavar="PATH...", help="Rules files, or folders of them.")]
rules = typer.Typer(name="rules", help="Check rules files, and try them on examples.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands of this file."""
    rules.command("check")(check_rules)
    rules.command("test")(test_rules)
    app.add_typer(rules)
    app.command()(replay)


def check_rules(paths: Paths) -> None:
    """Load rules; every fault is shown with its file, line and column.

    \b
    Example:
      preflight rules check examples/rules/bank

    Exit code: 0 when they load, 2 when they do not.
    """
    from preflight.rules import load_rules

    loaded = load_rules(*paths)
    Screen().show([line(f"{len(loaded.tools)} tools; digest {loaded.digest}", "good")])


def test_rules(paths: Paths) -> None:
    """Run the example requests kept in `tests/*.json` beside the rules.

    Each is decided under the rules, with what it says was measured; nothing is recorded or called.

    \b
    Example:
      preflight rules test examples/rules/bank

    Exit code: 0 when all came out as expected, 1 when one did not, 2 when there is nothing to run.
    """
    from preflight.rules import load_cases, load_rules

    loaded, cases = load_rules(*paths), load_cases(*_places_of_cases(paths))
    if not cases:
        raise InvalidInput(paths[0], "no example requests", "put them in `tests/*.json` beside the rules")
    screen, failed = Screen(), 0
    for case in cases:
        wrong = _differences(case, loaded)
        failed += bool(wrong)
        texts = [f"{case.place.file}:{case.place.line} {case.name}", *(f"  {text}" for text in wrong)]
        screen.show([line(visible(text), "bad") for text in texts if wrong])
    screen.show([line(f"{len(cases) - failed} passed, {failed} failed")])
    raise typer.Exit(ERROR if failed else DONE)


def _places_of_cases(paths: list[str]) -> list[Path]:
    """Return the folders in which the example requests of some rules lie; those of a file lie beside it."""
    places = [path if path.is_dir() else path.parent / "tests" for path in map(Path, paths)]
    return [place for place in places if place.is_dir()]


def _differences(case: Case, loaded: object) -> list[str]:
    from preflight.api import create_preflight
    from preflight.storage.memory import MemoryStorage

    record = create_preflight(storage=MemoryStorage(), rules=loaded).check(case.request).record  # type: ignore[arg-type]
    gate = record.gate
    came = {
        "decision": record.execution_decision,
        "kind": gate.kind if gate else None,
        "unknown": {field.name for field in (gate.unknown_fields if gate else ()) or ()},
        "unmet": {condition.id for condition in gate.unmet} if gate else set(),
    }
    expected = {
        "decision": case.expect.decision,
        "kind": case.expect.kind,
        "unknown": None if case.expect.unknown is None else set(case.expect.unknown),
        "unmet": None if case.expect.unmet is None else set(case.expect.unmet),
    }
    found = [(key, value, came[key]) for key, value in expected.items() if value is not None and value != came[key]]
    wrong = [f"{key}: expected {_said(value)}, came {_said(other)}" for key, value, other in found]
    return [*wrong, f"because {record.reason}"] if wrong else []


def _said(value: object) -> str:
    return ", ".join(sorted(map(str, value))) or "none" if isinstance(value, set) else str(value)


def replay(
    records: Annotated[list[str] | None, typer.Argument(metavar="ID...", help="Decisions; all when left out.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many decisions at the most, newest first.")] = 1000,
    as_json: AsJson = False,
    db: Db = None,
) -> None:
    """Make stored decisions again, and show what changes.

    They are made under the rules given with `--rules`.

    The stored request, clock and measurements are used, with the answers that were given before; nothing is
    asked, measured, recorded or called. What users mean by their words is taken as it is now. Where the request
    was not stored, the evidence is read again instead.

    \b
    Examples:
      preflight replay
      preflight --rules stricter/ replay --limit 200

    Exit code: 0 when everything comes out as before, 1 when something changes.
    """
    from preflight.model.decision import DECISIONS
    from preflight.ports import Query
    from preflight.replaying import replay as replayed

    with opened_to_read(db) as gate:
        given = gate.rules if os.environ.get(RULES) else None
        found = [gate.storage.get(name) for name in records or ()]
        if missing := [name for name, stored in zip(records or (), found, strict=True) if stored is None]:
            raise InvalidInput(missing[0], "no record has this id", "`preflight audit` lists them")
        stored = found or list(gate.storage.find(Query(limit=limit)))
        results = [
            replayed(each.record, gate.storage, given)
            for each in stored
            if each is not None and each.record.execution_decision in DECISIONS
        ]
    _show(results, as_json=as_json)
    raise typer.Exit(ERROR if any(result.changes for result in results) else DONE)


def _show(results: list[Replay], *, as_json: bool) -> None:
    screen = Screen()
    if as_json:
        import msgspec

        screen.json(msgspec.to_builtins(results))
        return
    for result in results:
        texts = [result.record_id, *(f"  {c.what}: {c.before} -> {c.after}" for c in result.changes)]
        screen.show([line(visible(text), "ask") for text in texts if result.changes])
    whole = sum(result.whole for result in results)
    changed = sum(bool(result.changes) for result in results)
    rest = len(results) - whole
    partly = f", {rest} by their evidence alone" if rest else ""
    screen.show([line(f"{whole} decided again{partly}; {changed} come out otherwise")])
