"""The schema `preflight_wake`: the job engine's tables, apart from the records, and what fills them."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from procrastinate.schema import SchemaManager
from psycopg import errors

from preflight.errors import StorageError
from preflight.storage.postgres_pool import Connection, PostgresPool, escape, has_table

SCHEMA = "preflight_wake"
_OURS = 1
"""Raised by whoever changes `wake.sql`."""
_SETTING_UP = 8097401  # the advisory lock under which one worker at a time makes the schema
_BATCH = 1_000


def set_up(pool: PostgresPool) -> None:
    """Make the schema where it is missing, or anew where it is an older one's; several may do it at once.

    Making it anew loses nothing: wake-ups are scheduled again from the rows. Raises StorageError where the role may
    not, and where a newer program made it.
    """
    pool.run("set the engine up in", lambda db: _set_up(db, pool.name))


def catch_up(pool: PostgresPool) -> None:
    """Schedule the wake-ups that are missing: of rows from before the engine, of rows that have come near."""
    while pool.run("schedule wake-ups in", _catch_up) == _BATCH:
        pass


def again(pool: PostgresPool, deferral_id: str) -> None:
    """Schedule the next wake-up of a row that was looked at, if it still waits."""
    pool.run("schedule a wake-up in", lambda db: db.execute(f"SELECT {SCHEMA}.again(%s)", (escape(deferral_id),)))


def _catch_up(db: Connection) -> int:
    row = db.execute(f"SELECT {SCHEMA}.catch_up(%s)", (_BATCH,)).fetchone()
    return 0 if row is None else int(row[0])


def _set_up(db: Connection, name: str) -> None:
    wanted = _wanted()
    if _present(db, name) == wanted:
        return
    try:
        with db.transaction():
            db.execute("SELECT pg_advisory_xact_lock(%s)", (_SETTING_UP,))
            present = _present(db, name)  # another worker may have done it meanwhile
            if present != wanted:
                _check_older(present, wanted, name)
                _make(db, wanted)
    except errors.InsufficientPrivilege as fault:
        raise StorageError(
            f"`{name}` needs the schema `{SCHEMA}`; run `preflight worker --engine procrastinate --set-up` once as the "
            f"owner of the schema `preflight`, then run `roles.sql` again: {fault}"
        ) from fault


def _make(db: Connection, wanted: tuple[int, str]) -> None:
    db.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    db.execute(f"CREATE SCHEMA {SCHEMA}")
    db.execute(f"SET LOCAL search_path = {SCHEMA}")
    db.execute(SchemaManager.get_schema())
    db.execute((resources.files("preflight.deferral.engines") / "wake.sql").read_text("utf-8"))
    db.execute("INSERT INTO made (ours, engine) VALUES (%s, %s)", wanted)


def _wanted() -> tuple[int, str]:
    """Return by what the schema is made now: ours, and the newest step of the engine's, which are named by version."""
    return _OURS, max(path.name for path in Path(SchemaManager.get_migrations_path()).glob("*.sql"))


def _present(db: Connection, name: str) -> tuple[int, str] | None:
    """Return by what the schema was made, None where it is missing; refuse one that is not ours."""
    if db.execute("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = %s", (SCHEMA,)).fetchone() is None:
        return None
    if not has_table(db, SCHEMA, "made"):
        raise StorageError(f"`{name}` has a schema `{SCHEMA}` that this program did not make; rename or drop it")
    ours, engine = db.execute(f"SELECT ours, engine FROM {SCHEMA}.made").fetchall()[0]  # noqa: S608  a fixed name
    return int(ours), str(engine)


def _check_older(present: tuple[int, str] | None, wanted: tuple[int, str], name: str) -> None:
    if present is not None and (present[0] > wanted[0] or present[1] > wanted[1]):
        raise StorageError(
            f"a newer program made the schema `{SCHEMA}` of `{name}` (`{present[1]}`, this one knows `{wanted[1]}`); "
            "use the newer version here too"
        )
