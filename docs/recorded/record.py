"""Records what happens in the programs that people work in, as the pages beside it: `python docs/recorded/record.py`.

The programs are real, and so are the hooks, the proxy and the bank. Only the model is a script
(`tests.integration.scripted`): it proposes one call, whatever it is told. What differs from run to run stands there as
a name.
"""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from preflight.storage import open_storage  # noqa: E402
from tests.integration.scripted import Script, served  # noqa: E402
from tests.integration.test_real_hosts import HOSTS, RENT, Place  # noqa: E402
from tests.integration.upstreams.real import HOSTS as PACKAGES  # noqa: E402
from tests.integration.upstreams.real import host_program  # noqa: E402
from tests.integration.wire import BANK_RULES  # noqa: E402

SECONDS = 120
WHOLE = "transfer 500,000 won from 1102534471 to 3520198845 now"
LACKING = "pay the rent of 500,000 won from 1102534471 now"
INVENTED = {**RENT, "to_account": "4410077123"}
INTRODUCTION = """Made by `python docs/recorded/record.py`: the program, the hooks, the proxy and the bank of
`examples/` are real, the model is a script. [How to set this up](../howto/{}). The program runs without a window here,
so that nobody can be asked in it."""
PAGES = {"claude-code": "claude-code.md", "codex": "codex.md", "gemini": "cursor.md#gemini-cli-and-visual-studio-code"}
_NAMES = {
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}": "ID",
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?: UTC|Z|\+00:00)?": "TIME",
    r"http://127\.0\.0\.1:\d+": "http://127.0.0.1:PORT",
}


class Recording:
    """The page of one program, as it is written."""

    def __init__(self, host: str, folder: Path) -> None:
        """Record `host` in a folder of its own."""
        self._host = host
        self._folder = folder
        self.page: list[str] = []

    def command(self, shown: str, *arguments: str) -> None:
        """Run a command of preflight's at a terminal, and write down what it says."""
        place, (ours, its) = Place(self._folder, ""), pty.openpty()
        ran = subprocess.run(
            [sys.executable, "-m", "preflight", *arguments], env=self._own(place), cwd=place.work,
            stdin=its, capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        for end in (ours, its):
            os.close(end)
        said = self._named(ran.stdout + ran.stderr)
        self.page += ["```console", f"$ {shown}", *said.rstrip().splitlines(), "```", ""]

    def prompt(self, words: str, proposed: dict[str, object], *, goes_on: bool = False) -> None:
        """Have the program run with what a person types, and write down what its model proposed and got back."""
        script = Script("transfer", proposed)
        with served(script) as url:
            place = Place(self._folder, url, goes_on)
            given, environment = HOSTS[self._host](place, words)
            subprocess.run(
                [host_program(self._host), *given], env={**self._own(place), **environment}, cwd=place.work,
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=True,
            )  # fmt: skip
        (result,) = script.results
        told = self._named(_told(json.loads(result)))
        self.page += [
            f"**You type:** {words}",
            "",
            f"**The model proposes:** `transfer` with `{json.dumps(proposed)}`",
            "",
        ]
        self.page += ["**It gets back:**", "", "```text", *told.splitlines(), "```", ""]

    def question(self) -> str:
        """Return the id of the question that is open."""
        with closing(open_storage(self._folder / "records.db")) as storage:
            return next(each.record.question_id for each in storage.scan() if each.record.question_id) or ""

    def executed(self) -> str:
        """Return the id of the decision that was executed last."""
        with closing(open_storage(self._folder / "records.db")) as storage:
            return [each.record.decision_id for each in storage.scan() if each.record.execution_decision == "executed"][
                -1
            ]

    def _own(self, place: Place) -> dict[str, str]:
        return {"HOME": str(place.home), "PATH": os.environ["PATH"], "TERM": "xterm-256color", **place.state}

    def _named(self, text: str) -> str:
        text = (
            text.replace(str(self._folder / "home"), "~")
            .replace(str(self._folder), "FOLDER")
            .replace(str(ROOT), "PREFLIGHT")
        )
        text = text.replace(f"{sys.executable} -I -S", "python -I -S")
        for pattern, name in _NAMES.items():
            text = re.sub(pattern, name, text)
        return text


def _told(result: Any) -> str:
    """Return the text that a model reads of a result."""
    if isinstance(result, str):
        return result
    if isinstance(result, list):
        return "\n".join(part["text"] for part in result)
    return "\n".join(str(value) for value in result["response"].values())


def record(host: str) -> str:
    """Return the page of one program."""
    package, _ = PACKAGES[host]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for part in ("home", "work"):
            (folder / part).mkdir()
        recording = Recording(host, folder)
        db, rules = str(folder / "records.db"), str(BANK_RULES)
        recording.page += [f"# Recorded: {package}", "", INTRODUCTION.format(PAGES[host]), ""]
        recording.command(f"preflight host install {host} --yes", "host", "install", host, "--yes")
        recording.page += ["## Everything was said", ""]
        recording.prompt(WHOLE, RENT)
        recording.command("preflight explain ID --db records.db", "explain", recording.executed(), "--db", db)
        recording.page += ["## The model made an account up", ""]
        recording.prompt(LACKING, INVENTED)
        shown = "preflight --rules rules/bank answer ID to_account=3520198845 --db records.db"
        answer = ("answer", recording.question(), "to_account=3520198845", "--db", db)
        recording.command(shown, "--rules", rules, *answer)
        recording.prompt("go on", INVENTED, goes_on=True)
    return "\n".join(recording.page).rstrip() + "\n"


def main() -> None:
    """Write a page for each program."""
    for host in HOSTS:
        path = Path(__file__).with_name(f"{host}.md")
        path.write_text(record(host), encoding="utf-8")
        sys.stdout.write(f"written: {path.name}\n")


if __name__ == "__main__":
    main()
