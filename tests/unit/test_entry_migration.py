"""Whom `migrate` logs in as, and which user it keeps for the functions."""

import json
from collections.abc import Generator

import pytest

from tests.support.cloud import client, cloud
from workflow_engine.dal.migrator import RuntimeUser
from workflow_engine.entry.migration import _owner_target, _runtime_user, sql_folder
from workflow_engine.entry.settings import Settings


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch) -> Generator[dict[str, str]]:
    with cloud(monkeypatch):
        names = {"master": {"username": "admin", "password": "m"}, "runtime": {"username": "engine", "password": "r"}}
        yield {name: client("secretsmanager").create_secret(Name=name, SecretString=json.dumps(value))["ARN"] for name, value in names.items()}


NOT_FRESH = False


def user(**values: str) -> RuntimeUser | None:
    given = Settings(db_host="db.example.org", db_user="engine", **values)
    return _runtime_user(given, _owner_target(given))


def test_the_owner_logs_in_with_the_masters_secret_where_there_is_one(secrets):
    with_master = _owner_target(Settings(db_host="db.example.org", db_user="engine", db_master_secret_arn=secrets["master"]))
    without = _owner_target(Settings(db_host="db.example.org", db_user="engine"))
    local = _owner_target(Settings(database_url="mysql://u:p@127.0.0.1/x", db_master_secret_arn=secrets["master"]))
    assert [target.user(NOT_FRESH) for target in (with_master, without, local)] == ["admin", "engine", "u"]


def test_the_functions_user_logs_in_by_iam_or_by_its_own_secret(secrets):
    master = {"db_master_secret_arn": secrets["master"], "db_runtime_user": "engine"}
    assert user(**master) == RuntimeUser(name="engine")
    assert user(**master, db_auth="secret", db_secret_arn=secrets["runtime"]) == RuntimeUser(name="engine", password="r")


def test_no_user_is_made_without_a_master_and_the_master_itself_is_left_alone(secrets):
    assert user(db_runtime_user="engine") is None
    assert user(db_master_secret_arn=secrets["master"]) is None
    assert user(db_master_secret_arn=secrets["master"], db_runtime_user="admin") is None


def test_the_migrations_lie_beside_the_handler_or_at_the_top(tmp_path):
    handler = tmp_path / "functions" / "migrate" / "handler.py"
    handler.parent.mkdir(parents=True)
    assert sql_folder(str(handler)) == tmp_path / "sql"
    (handler.parent / "sql").mkdir()
    assert sql_folder(str(handler)) == handler.parent / "sql"
