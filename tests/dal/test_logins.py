"""Logging in to the database with a secret that rotates."""

import json
from collections.abc import Generator
from dataclasses import replace

import pytest

from tests.support.cloud import client, cloud
from tests.support.targets import rows_of, run_sql, target_of
from workflow_engine.adapters.database import secret_target
from workflow_engine.dal import DatabaseTarget
from workflow_engine.dal.migrator import RuntimeUser, ensure_runtime_user
from workflow_engine.errors import AccessDeniedError


@pytest.fixture
def owner(database_url: str) -> Generator[DatabaseTarget]:
    target = target_of(database_url)
    yield target
    run_sql(target, "DROP USER IF EXISTS 'wfe_rotating'@'%%'")


@pytest.fixture
def secret_arn(monkeypatch: pytest.MonkeyPatch) -> Generator[str]:
    with cloud(monkeypatch):
        yield client("secretsmanager").create_secret(Name="db", SecretString="{}")["ARN"]


def rotate(owner: DatabaseTarget, secret_arn: str, password: str) -> None:
    ensure_runtime_user(owner, RuntimeUser(name="wfe_rotating", password=password))
    write(secret_arn, password)


def write(secret_arn: str, password: str) -> None:
    client("secretsmanager").put_secret_value(SecretId=secret_arn, SecretString=json.dumps({"username": "wfe_rotating", "password": password}))


def login_of(owner: DatabaseTarget, secret_arn: str) -> DatabaseTarget:
    # The test's server need not speak TLS; that AWS logins do is shown elsewhere.
    return replace(secret_target(owner.host, owner.port, owner.database or "", secret_arn), ssl_context=None)


def test_a_rotated_password_is_read_again_and_the_connection_comes_about(owner, secret_arn):
    rotate(owner, secret_arn, "first")
    login = login_of(owner, secret_arn)
    assert rows_of(login, "SELECT 1 AS one") == [{"one": 1}]
    rotate(owner, secret_arn, "second")
    assert rows_of(login, "SELECT 1 AS one") == [{"one": 1}]


def test_a_secret_that_is_wrong_twice_is_refused(owner, secret_arn):
    rotate(owner, secret_arn, "right")
    login = login_of(owner, secret_arn)
    write(secret_arn, "wrong")
    with pytest.raises(AccessDeniedError):
        rows_of(login, "SELECT 1 AS one")
