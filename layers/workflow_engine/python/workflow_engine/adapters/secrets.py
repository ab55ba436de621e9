"""Secrets and database tokens, cached for ten minutes and read anew on demand."""

import json
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from workflow_engine.adapters import aws
from workflow_engine.errors import StorageError

_log = logging.getLogger(__name__)
CACHE_SECONDS = 600.0
Value = TypeVar("Value")


@dataclass(slots=True)
class TimedCache(Generic[Value]):
    """One value, kept for ten minutes of real time; an old one is better than none while the source is away."""

    load: Callable[[], Value]
    timer: Callable[[], float] = time.monotonic
    _value: Value | None = None
    _read_at: float = 0.0

    def get(self, *, fresh: bool = False) -> Value:
        value = self._value
        if value is not None and not fresh and self.timer() - self._read_at < CACHE_SECONDS:
            return value
        try:
            value = self.load()
        except StorageError:
            if value is None or fresh:
                raise
            _log.warning("a secret could not be read again; the last one is used")
            return value
        self._value, self._read_at = value, self.timer()
        return value


def read_secret(secret_arn: str) -> dict[str, Any]:
    """Read a secret whose text is a JSON object."""
    try:
        text = aws.client("secretsmanager").get_secret_value(SecretId=secret_arn)["SecretString"]
    except aws.errors() as error:
        raise StorageError(f"the secret cannot be read ({aws.error_code(error)})") from error
    return _object_in(text)


def _object_in(text: str) -> dict[str, Any]:
    try:
        value: Any = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        # Without the cause: its message would quote the secret.
        raise StorageError("the secret is not a JSON object") from None
    return value  # pyright: ignore[reportUnknownVariableType]


def secret_cache(secret_arn: str) -> TimedCache[dict[str, Any]]:
    return TimedCache(lambda: read_secret(secret_arn))


def database_token(host: str, port: int, user: str) -> str:
    """Return an IAM login for the database; valid for fifteen minutes, signed here without a call."""
    try:
        return str(aws.client("rds").generate_db_auth_token(DBHostname=host, Port=port, DBUsername=user))
    except aws.errors() as error:
        raise StorageError(f"no database token ({aws.error_code(error)})") from error
