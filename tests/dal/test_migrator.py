"""Migrations: in order, once, by one at a time, and again after a failure."""

import threading
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.server import create_database, drop_database
from tests.support.targets import rows_of, run_sql, target_of
from workflow_engine.dal import DatabaseTarget, Db, DbExecutionLoad, Deadline
from workflow_engine.dal.load import Transaction
from workflow_engine.dal.migration_files import MigrationError, read_migrations, split_statements
from workflow_engine.dal.migrator import RuntimeUser, apply_migrations, ensure_runtime_user
from workflow_engine.dal.packet import query
from workflow_engine.errors import AccessDeniedError, DeadlineExceededError, WorkFlowError
from workflow_engine.queries.schema_version import QRY_SCHEMA_VERSION

SQL = Path(__file__).parents[2] / "sql"
FIRST = (SQL / "0000_schema_version.sql").read_text()


@pytest.fixture
def empty(database_url: str) -> Generator[DatabaseTarget]:
    """An empty database of the test's own, on the run's server."""
    url = create_database(database_url)
    yield target_of(url)
    drop_database(url)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "0000_schema_version.sql").write_text(FIRST)
    (tmp_path / "0001_first.sql").write_text("CREATE TABLE a (\n  id INT NOT NULL, -- 100 % sure\n  PRIMARY KEY (id)\n);\nINSERT INTO a (id) VALUES (1);\n")
    return tmp_path


def versions(target: DatabaseTarget) -> list[tuple[object, object, object]]:
    rows = rows_of(target, "SELECT version, statements_done, applied_at FROM schema_version ORDER BY version")
    return [(row["version"], row["statements_done"], row["applied_at"] is not None) for row in rows]


def tables(target: DatabaseTarget) -> set[object]:
    return {row["name"] for row in rows_of(target, "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()")}


def test_the_schema_is_built_from_nothing_and_the_second_run_does_nothing(empty):
    first, second = apply_migrations(empty, SQL), apply_migrations(empty, SQL)
    newest = read_migrations(SQL)[-1].version
    assert (first.version, second.version) == (newest, newest)
    assert (len(first.applied), second.applied) == (newest, ())
    assert {"schema_version", "instance", "ack_consumer", "id_block"} <= tables(empty)
    assert all(is_done for _, _, is_done in versions(empty))


def test_four_at_once_apply_every_file_once(empty, folder):
    reports, errors = [], []

    def migrate() -> None:
        try:
            reports.append(apply_migrations(empty, folder))
        except WorkFlowError as error:
            errors.append(error)

    threads = [threading.Thread(target=migrate) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sorted(report.applied for report in reports) == [(), (), (), ("0001_first.sql",)]
    assert rows_of(empty, "SELECT id FROM a") == [{"id": 1}]


def test_who_finds_the_lock_taken_waits_and_says_so_when_its_time_is_up(empty, folder):
    apply_migrations(empty, folder)
    holder, load = Db(empty), DbExecutionLoad(deadline=Deadline.after(20), transaction=Transaction())
    holder.read(load, [query(QRY_SCHEMA_VERSION.GET_FOR_UPDATE, dict, SCHEMA_VERSION=0)])
    try:
        with pytest.raises(DeadlineExceededError):
            apply_migrations(empty, folder, deadline=Deadline.after(1.5))
    finally:
        holder.roll_back(load)
        holder.close()
    assert apply_migrations(empty, folder).applied == ()


def test_a_failure_names_file_and_statement_and_the_corrected_file_goes_on_where_it_stopped(empty, folder):
    second = folder / "0002_second.sql"
    second.write_text("CREATE TABLE b (id INT);\nCREATE TABLE a (id INT);\nCREATE TABLE c (id INT);\n")
    with pytest.raises(MigrationError, match=r"0002_second\.sql, statement 2 \(CREATE TABLE a"):
        apply_migrations(empty, folder)
    assert versions(empty)[2] == (2, 1, False)
    second.write_text("CREATE TABLE b (id INT);\nCREATE TABLE d (id INT);\nCREATE TABLE c (id INT);\n")
    assert apply_migrations(empty, folder).applied == ("0002_second.sql",)
    assert {"a", "b", "c", "d"} <= tables(empty)
    assert versions(empty)[2] == (2, 3, True)


def test_a_failed_change_of_rows_leaves_nothing_behind(empty, folder):
    (folder / "0002_rows.sql").write_text("INSERT INTO a (id) VALUES (2), (1);\n")
    with pytest.raises(MigrationError, match="statement 1"):
        apply_migrations(empty, folder)
    assert rows_of(empty, "SELECT id FROM a") == [{"id": 1}]
    assert versions(empty)[2] == (2, 0, False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("CREATE TABLE a (\n  id INT NOT NULL,\n  PRIMARY KEY (id)\n);\nINSERT INTO a (id) VALUES (7);\n", "was changed after"),
        ("CREATE TABLE a (\n  id INT NOT NULL, -- 100 % sure\n  PRIMARY KEY (id)\n);\nINSERT INTO a (id) VALUES (1);\nDROP TABLE a;\n", "grew after"),
    ],
)
def test_a_file_that_was_applied_may_not_change(empty, folder, text, words):
    apply_migrations(empty, folder)
    (folder / "0001_first.sql").write_text(text)
    with pytest.raises(MigrationError, match=words):
        apply_migrations(empty, folder)
    assert rows_of(empty, "SELECT id FROM a") == [{"id": 1}]


def test_comments_and_empty_lines_of_an_applied_file_may_change(empty, folder):
    apply_migrations(empty, folder)
    file = folder / "0001_first.sql"
    file.write_text("-- Why it is there.\n\n" + file.read_text())
    assert apply_migrations(empty, folder).applied == ()


def test_older_code_leaves_a_newer_schema_alone(empty, folder):
    (folder / "0002_newer.sql").write_text("CREATE TABLE b (id INT);\n")
    apply_migrations(empty, folder)
    (folder / "0002_newer.sql").unlink()
    report = apply_migrations(empty, folder)
    assert (report.version, report.applied) == (2, ())
    assert "b" in tables(empty)


def test_only_files_up_to_the_asked_version_run(empty, folder):
    (folder / "0002_newer.sql").write_text("CREATE TABLE b (id INT);\n")
    assert apply_migrations(empty, folder, newest=1).applied == ("0001_first.sql",)
    assert "b" not in tables(empty)


@pytest.mark.parametrize("name", ["0003_gap.sql", "0001_twice.sql", "first.sql", "1_short.sql"])
def test_files_are_numbered_without_gaps_or_nothing_runs(empty, folder, name):
    (folder / name).write_text("CREATE TABLE b (id INT);\n")
    with pytest.raises(MigrationError):
        apply_migrations(empty, folder)
    assert tables(empty) == set()


def test_a_statement_without_an_end_is_refused():
    with pytest.raises(MigrationError, match="no semicolon"):
        split_statements("CREATE TABLE a (id INT);\nDROP TABLE a", "0001_a.sql")


def test_the_runtime_user_reads_and_writes_rows_and_changes_no_tables(empty, folder):
    apply_migrations(empty, folder)
    name = f"wfe_{empty.database[-12:]}" if empty.database else "wfe"
    runtime = replace(empty, user=lambda _fresh: name, password=lambda _fresh: "second % 'secret'")
    try:
        ensure_runtime_user(empty, RuntimeUser(name=name, password="first"))
        ensure_runtime_user(empty, RuntimeUser(name=name, password="second % 'secret'"))
        run_sql(runtime, "INSERT INTO a (id) VALUES (5)", "UPDATE a SET id = 6 WHERE id = 5", "DELETE FROM a WHERE id = 6")
        assert rows_of(runtime, "SELECT id FROM a") == [{"id": 1}]
        for change in ("CREATE TABLE z (id INT)", "ALTER TABLE a ADD COLUMN x INT", "DROP TABLE a"):
            with pytest.raises(WorkFlowError):
                run_sql(runtime, change)
        with pytest.raises(AccessDeniedError):
            run_sql(replace(runtime, password=lambda _fresh: "first"), "SELECT 1")
    finally:
        run_sql(empty, f"DROP USER IF EXISTS '{name}'@'%%'")
    assert "z" not in tables(empty)


def test_a_login_by_iam_is_only_known_to_aurora_and_its_absence_is_said_loudly(empty, folder):
    apply_migrations(empty, folder)
    with pytest.raises(WorkFlowError):
        ensure_runtime_user(empty, RuntimeUser(name="wfe_iam"))
    assert rows_of(empty, "SELECT user FROM mysql.user WHERE user = 'wfe_iam'") == []
