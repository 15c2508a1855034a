"""What a role that writes records must be allowed in PostgreSQL, and what of it is missing.

An upgrade of the schema makes tables that no role but its owner may use before `roles.sql` was run again. That is found
when a store is opened: met in the middle of a call, it would be an unforeseen fault of that call.
"""

from __future__ import annotations

from importlib import resources
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

import psycopg

READ: Final = (
    "answer", "attachment", "buried", "deferral", "deferral_note", "meaning", "no_answer", "occurrence", "question",
    "record", "schema_version", "slot", "tombstone",
)  # fmt: skip
APPENDED: Final = tuple(name for name in READ if name not in ("buried", "schema_version", "tombstone"))
CHANGED: Final = ("deferral",)
CALLED: Final = ("flush", "store")

_WANTED: Final = [
    *(("SELECT", name) for name in READ),
    *(("INSERT", name) for name in APPENDED),
    *(("UPDATE", name) for name in CHANGED),
]
# A role that may append no record at all is somebody who looks: it needs what it looks at. Nobody may set `seq`.
_MISSING: Final = """
WITH place AS (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'preflight'),
wanted AS (
    SELECT w.privilege, c.relname AS name, c.oid FROM unnest(%s::text[], %s::text[]) AS w (privilege, name)
    JOIN pg_catalog.pg_class c ON c.relname = w.name AND c.relnamespace = (SELECT oid FROM place)
),
operator AS (
    SELECT oid FROM pg_catalog.pg_roles
    WHERE rolname = 'preflight_operator' AND pg_catalog.pg_has_role(oid, 'USAGE')
),
missing AS (
    SELECT privilege, name FROM wanted WHERE EXISTS (
        SELECT 1 FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = wanted.oid AND a.attnum > 0 AND NOT a.attisdropped
        AND (a.attname <> 'seq' OR privilege = 'SELECT')
        AND NOT pg_catalog.has_column_privilege(wanted.oid, a.attnum, privilege)
    )
    UNION ALL
    SELECT 'EXECUTE', f.proname FROM pg_catalog.pg_proc f
    WHERE f.pronamespace = (SELECT oid FROM place) AND f.proname = ANY(%s)
    AND NOT pg_catalog.has_function_privilege(f.oid, 'EXECUTE')
    UNION ALL
    SELECT 'a policy for every tenant', w.name FROM wanted w, operator
    WHERE w.privilege = 'SELECT' AND pg_catalog.row_security_active(w.oid) AND NOT EXISTS (
        SELECT 1 FROM pg_catalog.pg_policy p WHERE p.polrelid = w.oid AND operator.oid = ANY(p.polroles)
    )
)
SELECT privilege, name, current_user::text FROM missing WHERE EXISTS (
    SELECT 1 FROM wanted WHERE name = 'record' AND pg_catalog.has_any_column_privilege(oid, 'INSERT')
)
ORDER BY 1, 2
"""


def missing_grants(connection: psycopg.Connection[Any]) -> str:
    """Return what the session's role lacks and what to do about it, as a part of a sentence; empty where nothing is."""
    privileges, names = zip(*_WANTED, strict=True)
    found = connection.execute(_MISSING, (list(privileges), list(names), list(CALLED))).fetchall()
    if not found:
        return ""
    lacks = "; ".join(
        f"{privilege} on {', '.join(f'`{name}`' for _, name, _ in rows)}"
        for privilege, rows in groupby(found, key=itemgetter(0))
    )
    return f"the role `{found[0][2]}` lacks {lacks}; run `{_script()}` again, as the owner of the schema"


def _script() -> str:
    return str(resources.files("preflight.storage") / "sql" / "postgres" / "roles.sql")
