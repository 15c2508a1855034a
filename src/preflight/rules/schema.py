"""The published JSON Schemas of the formats, made of the tables that the loader reads by.

`python -m preflight.rules.schema FOLDER` writes them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from preflight.rules import cases, layout, provider
from preflight.rules.kinds import Record, Schema

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FILES: dict[str, tuple[str, str, Record]] = {
    "rules.schema.json": ("Rules", "What tools need, who may answer, and when they must not run.", layout.ROOT),
    "checklist.schema.json": (
        'What stands under `_meta["preflight/checklist"]` of an MCP tool',
        "What must hold, be confirmed or be shown before a call of the tool. It can require, never permit.",
        provider.CHECKLIST,
    ),
    "cases.schema.json": ("Example requests", "What rules are expected to decide.", cases.FILE),
}


def schema_of(name: str) -> Schema:
    """Return one of the schemas by its file's name."""
    title, about, record = FILES[name]
    parts: dict[str, object] = {}
    whole = {key: _shared(value, parts) for key, value in record.schema().items()}
    schema = {"$schema": DIALECT, **whole, "title": title, "description": about}
    return schema | ({"$defs": parts} if parts else {})


def _shared(value: object, parts: dict[str, object]) -> object:
    """Put the schemas of sections into `parts`, each once, and references in their places."""
    if isinstance(value, list):
        return [_shared(item, parts) for item in value]
    if not isinstance(value, dict):
        return value
    title = value.get("title")
    if not isinstance(title, str):
        return {key: _shared(item, parts) for key, item in value.items()}
    made = {key: _shared(item, parts) for key, item in value.items() if key != "description"}
    name = title.partition(" ")[2].replace(" ", "_")
    parts[name] = made
    about = value.get("description")
    return {"$ref": f"#/$defs/{name}"} | ({} if about is None else {"description": about})


def text_of(name: str) -> str:
    """Return the text of one of the files."""
    return json.dumps(schema_of(name), indent=2, ensure_ascii=False) + "\n"


def write(folder: Path) -> None:
    """Write all of them into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (folder / name).write_text(text_of(name), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
