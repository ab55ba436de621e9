"""AWS for a test: moto in this process, with made-up credentials."""

from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Any

import boto3
import pytest
from moto import mock_aws

REGION = "eu-central-1"
_ENVIRONMENT = {"AWS_DEFAULT_REGION": REGION, "AWS_REGION": REGION, "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}


@contextmanager
def cloud(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    for name, value in _ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    with mock_aws():
        yield


@cache
def client(service: str) -> Any:
    """A test's own client; made once, for that is what takes the time."""
    return boto3.client(service, region_name=REGION, aws_access_key_id="x", aws_secret_access_key="x")
