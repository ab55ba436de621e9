"""AWS for a test: moto in this process, made-up credentials, and clients that nobody used before."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest
from moto import mock_aws

from workflow_engine.adapters import aws

REGION = "eu-central-1"
_ENVIRONMENT = {"AWS_DEFAULT_REGION": REGION, "AWS_REGION": REGION, "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}


@contextmanager
def cloud(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    for name, value in _ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    aws.client.cache_clear()
    try:
        with mock_aws():
            yield
    finally:
        aws.client.cache_clear()
