"""Logs and metrics by Powertools: correlation by reference, guids and request; never a payload."""

import logging
import os
import sys
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import Metrics, MetricUnit

from workflow_engine.dal.load import Deadline
from workflow_engine.engine.ports import Publisher, PublishFailure
from workflow_engine.models.events import WorkMessage
from workflow_engine.models.notice import LifeCycleNotice

CORRELATION_KEYS = ("external_ref", "instance_guid", "ack_guid", "request_id")
_PATH_ALIASES = {"guid": "instance_guid"}
_PACKAGE = "workflow_engine"
_NAMESPACE = "WorkFlowEngine"
_SERVER_ERROR = 500
# Powertools keeps one set of metrics a process; a local stack has several threads.
_metrics_lock = threading.Lock()


class _Stdout:
    """Whatever stands for standard output at the moment of writing."""

    def write(self, text: str) -> int:
        return sys.stdout.write(text)

    def flush(self) -> None:
        sys.stdout.flush()


@cache
def _handler_of(_service: str) -> "logging.StreamHandler[_Stdout]":
    """Powertools prepares the handler of a service once, whoever asks for it again."""
    return logging.StreamHandler(_Stdout())


@lru_cache(maxsize=1)
def logger() -> Logger:
    """The sandbox's logger; the package's own loggers write through its handler."""
    # One trace a line is enough.
    made = Logger(logger_handler=_handler_of(os.environ.get("POWERTOOLS_SERVICE_NAME", "")), serialize_stacktrace=False)
    # A second logger of one name would keep the first one's level.
    made.setLevel(os.environ.get("POWERTOOLS_LOG_LEVEL", "INFO"))
    package = logging.getLogger(_PACKAGE)
    package.handlers = [made.registered_handler]
    package.setLevel(made.log_level)
    # Lambda's own handler at the root would print every line a second time.
    package.propagate = "AWS_LAMBDA_FUNCTION_NAME" not in os.environ
    return made


@lru_cache(maxsize=1)
def metrics() -> Metrics:
    """The service, our only dimension, comes from the environment: it is the stack's name."""
    return Metrics(namespace=_NAMESPACE)


def reset() -> None:
    """Read the environment again at the next use, and leave the package's loggers as they were found."""
    logger.cache_clear()
    metrics.cache_clear()
    package = logging.getLogger(_PACKAGE)
    package.handlers = []
    package.setLevel(logging.NOTSET)
    package.propagate = True


@contextmanager
def invocation(function: str, context: Any) -> Generator[float]:
    """Start with clean keys, and send the metrics whatever happens; gives the moment it began."""
    logger().clear_state()
    add_keys(function=function, aws_request_id=getattr(context, "aws_request_id", None))
    try:
        yield time.perf_counter()
    finally:
        with _metrics_lock:
            if metrics().metric_set:
                metrics().flush_metrics()


def add_keys(**keys: Any) -> None:
    logger().append_keys(**keys)


def correlate(*sources: object) -> None:
    """Take over the references that a request or an answer names; nothing else of it."""
    for source in sources:
        for key in CORRELATION_KEYS:
            value = _named(source, key)
            if isinstance(value, str):
                add_keys(**{key: value})


def _named(source: object, key: str) -> object:
    if isinstance(source, Mapping):
        return next((value for name, value in source.items() if _PATH_ALIASES.get(str(name), name) == key), None)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return getattr(source, key, None)


def failed(error: BaseException, status: int) -> None:
    """A fault of ours with its trace; a refusal as a line."""
    if status >= _SERVER_ERROR:
        logger().error("request failed", exc_info=error)
    else:
        logger().info("request refused", extra={"code": getattr(error, "code", type(error).__name__)})


def answered(status: int, started: float) -> None:
    logger().info("answered", extra={"status": status, "seconds": round(time.perf_counter() - started, 4)})


def count(name: str, value: float = 1) -> None:
    with _metrics_lock:
        metrics().add_metric(name=name, unit=MetricUnit.Count, value=value)


def measure_seconds(name: str, value: float) -> None:
    with _metrics_lock:
        metrics().add_metric(name=name, unit=MetricUnit.Seconds, value=value)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPublisher:
    """Counts what the publisher did not take."""

    publisher: Publisher

    def publish(self, messages: Sequence[WorkMessage], deadline: Deadline) -> list[PublishFailure]:
        failures = self.publisher.publish(messages, deadline)
        if failures:
            count("PublishFailures", len(failures))
        return failures

    def publish_notices(self, notices: Sequence[LifeCycleNotice], deadline: Deadline) -> None:
        self.publisher.publish_notices(notices, deadline)
