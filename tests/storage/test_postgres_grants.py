"""Roles after an upgrade of the schema: what one of them lacks is told when a store is opened, with what to run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from preflight.errors import StorageError
from preflight.ports import Query
from preflight.storage import postgres_pool
from preflight.storage.postgres import PostgresStorage
from preflight.storage.postgres_grants import APPENDED, CALLED, CHANGED, READ
from preflight.testing import sample_decision
from tests.storage.postgres_server import Server, name_of

GRANTED = """
SELECT DISTINCT privilege_type, table_name FROM information_schema.column_privileges
WHERE table_schema = 'preflight' AND grantee = %s
UNION SELECT privilege_type, routine_name FROM information_schema.routine_privileges
WHERE routine_schema = 'preflight' AND grantee = %s
"""


@pytest.mark.parametrize("role", ["preflight_app", "preflight_operator"])
def test_what_is_looked_for_is_what_the_script_grants(postgres: Server, role: str) -> None:
    url = postgres.database()
    postgres.roles(url)
    granted = set(postgres.run(GRANTED.replace("%s", f"'{role}'"), url=url))
    assert granted == {
        *(("SELECT", name) for name in READ),
        *(("INSERT", name) for name in APPENDED),
        *(("UPDATE", name) for name in CHANGED),
        *(("EXECUTE", name) for name in CALLED),
    }


def upgraded(server: Server, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str, str]:
    """A database that its owner upgraded without running `roles.sql` again: its address, and those of the roles."""
    url, scripts = server.database(template=None), postgres_pool.migrations()
    with monkeypatch.context() as then:
        then.setattr(postgres_pool, "migrations", lambda: scripts[:3])
        then.setattr(postgres_pool, "missing_grants", lambda _: "")
        PostgresStorage(url).close()
    tables = ("attachment", "no_answer")
    there = {name for (name,) in server.run("SELECT tablename FROM pg_tables WHERE schemaname = 'preflight'", url=url)}
    assert there.isdisjoint(tables)
    old = [line for line in script_of().splitlines(keepends=True) if not line.startswith("--")]
    text = "".join(old).replace(", 'attachment', 'no_answer'", "").replace("instructed_by, ", "")
    parts = [part for part in text.split(";\n") if not any(f"preflight.{table}" in part for table in tables)]
    server.run(";\n".join(parts), url=url)
    server.roles(server.database())  # the logins
    PostgresStorage(url).close()
    name = name_of(url)
    return url, server.address(name, "preflight_test_app"), server.address(name, "preflight_test_operator")


def script_of() -> str:
    return (Path(postgres_pool.__file__).parent / "sql" / "postgres" / "roles.sql").read_text("utf-8")


def test_a_role_from_before_an_upgrade_is_told_what_it_lacks(postgres: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    url, app, operator = upgraded(postgres, monkeypatch)
    lacks = "lacks INSERT on `attachment`, `no_answer`; SELECT on `attachment`, `no_answer`"
    with pytest.raises(StorageError) as raised:
        PostgresStorage(app, tenant="acme")
    told = str(raised.value)
    assert f"and the role `preflight_test_app` {lacks}; run `" in told
    assert told.endswith("/sql/postgres/roles.sql` again, as the owner of the schema")
    with pytest.raises(StorageError, match="a policy for every tenant on `attachment`, `no_answer`"):
        PostgresStorage(operator)
    postgres.run(script_of(), url=url)
    for address, tenant in ((app, "tenant"), (operator, None)):
        store = PostgresStorage(address, tenant=tenant)
        store.append(sample_decision(f"by {tenant}"))
        store.close()


@pytest.mark.parametrize(
    ("taken", "lacks"),
    [
        ("REVOKE INSERT (call_id) ON preflight.question FROM preflight_app", "lacks INSERT on `question`; run"),
        ("REVOKE UPDATE ON preflight.deferral FROM preflight_app", "lacks UPDATE on `deferral`; run"),
        ("REVOKE EXECUTE ON FUNCTION preflight.flush FROM preflight_app", "lacks EXECUTE on `flush`; run"),
        ("REVOKE SELECT ON preflight.tombstone FROM preflight_app", "lacks SELECT on `tombstone`; run"),
        ("DROP POLICY every_tenant ON preflight.slot", ""),
    ],
)
def test_each_grant_is_looked_for(postgres: Server, taken: str, lacks: str) -> None:
    url = postgres.database()
    app, operator = postgres.roles(url)
    postgres.run(taken, url=url)
    if lacks:
        with pytest.raises(StorageError, match=lacks):
            PostgresStorage(app, tenant="acme")
        PostgresStorage(operator).close()
    else:
        PostgresStorage(app, tenant="acme").close()
        with pytest.raises(StorageError, match="lacks a policy for every tenant on `slot`"):
            PostgresStorage(operator)
    PostgresStorage(url).close()


def test_a_role_that_appends_nothing_needs_what_it_looks_at(postgres: Server) -> None:
    url = postgres.database()
    app, _ = postgres.roles(url)
    PostgresStorage(url).append(sample_decision("d1"))
    postgres.run(
        "REVOKE INSERT ON ALL TABLES IN SCHEMA preflight FROM preflight_app",
        "REVOKE SELECT ON preflight.meaning FROM preflight_app",
        url=url,
    )
    store = PostgresStorage(app, tenant="tenant")
    assert [stored.record.record_id for stored in store.find(Query())] == ["d1"]
    store.close()


def test_the_command_line_tells_it(postgres: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _, _, operator = upgraded(postgres, monkeypatch)
    for command, code in (("pending", 3), ("doctor", 1)):
        ran = subprocess.run(
            [sys.executable, "-m", "preflight", command, "--db", operator],
            env=os.environ | {"XDG_STATE_HOME": str(tmp_path)}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ran.returncode == code, ran
        assert "the role `preflight_test_operator` lacks INSERT on `attachment`, `no_answer`" in ran.stdout + ran.stderr
