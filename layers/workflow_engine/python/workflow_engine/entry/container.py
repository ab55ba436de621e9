"""The composition root: everything real is plugged together here, on first use, once a sandbox."""

import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from workflow_engine.adapters.clock import SystemClock
from workflow_engine.adapters.database import iam_target, secret_target, url_target
from workflow_engine.adapters.secrets import secret_cache
from workflow_engine.adapters.signing import Signer, masters_of
from workflow_engine.adapters.sns import SnsPublisher
from workflow_engine.adapters.subscriptions import SnsSubscriptions
from workflow_engine.dal import DatabaseTarget, Db, Deadline, WorkFlowDAL
from workflow_engine.entry import observability
from workflow_engine.entry.settings import Settings

if TYPE_CHECKING:
    from workflow_engine.engine.workflow_engine import WorkFlowEngine

# What is left of Lambda's time after the deadline is for the answer.
_ANSWER_SECONDS = 2.0
# A sandbox has one thread; where there are more (a local stack), each gets an engine and a connection of its own.
_sandbox = threading.local()


def engine() -> "WorkFlowEngine":
    if not hasattr(_sandbox, "engine"):
        _sandbox.engine = _make_engine(settings())
    made: WorkFlowEngine = _sandbox.engine
    return made


@lru_cache(maxsize=1)
def settings() -> Settings:
    return Settings.from_environment()


@lru_cache(maxsize=1)
def clock() -> SystemClock:
    return SystemClock()


def deadline_of(context: Any) -> Deadline:
    """Lambda's remaining time less what the answer needs."""
    return Deadline.after(float(context.get_remaining_time_in_millis()) / 1000 - _ANSWER_SECONDS)


def database_target(given: Settings) -> DatabaseTarget:
    """A URL (local only) wins; otherwise IAM or a secret."""
    if given.database_url:
        return url_target(given.database_url)
    host = _needed(given.db_host, "WFE_DB_HOST")
    if given.db_auth == "secret":
        return secret_target(host, given.db_port, given.db_name, _needed(given.db_secret_arn, "WFE_DB_SECRET_ARN"))
    return iam_target(host, given.db_port, given.db_name, _needed(given.db_user, "WFE_DB_USER"))


def reset() -> None:
    """Forget everything, as a new sandbox would have it; for tests and the local stack."""
    if hasattr(_sandbox, "engine"):
        _sandbox.engine.close()
        del _sandbox.engine
    settings.cache_clear()
    clock.cache_clear()
    observability.reset()


def _make_engine(given: Settings) -> "WorkFlowEngine":
    from workflow_engine.engine.components import EnginePorts  # noqa: PLC0415
    from workflow_engine.engine.workflow_engine import WorkFlowEngine  # noqa: PLC0415

    work_topic_arn = _needed(given.work_topic_arn, "WFE_WORK_TOPIC_ARN")
    signer = _signer(given)
    publisher = SnsPublisher(
        work_topic_arn=work_topic_arn, notice_topic_arn=_needed(given.notice_topic_arn, "WFE_NOTICE_TOPIC_ARN"), signer=signer, clock=clock()
    )
    ports = EnginePorts(
        publisher=observability.MeasuredPublisher(publisher=publisher),
        clock=clock(),
        subscriptions=SnsSubscriptions(topic_arn=work_topic_arn),
        signing_keys=signer,
    )
    return WorkFlowEngine(WorkFlowDAL(Db(database_target(given))), ports, given.options())


def _signer(given: Settings) -> Signer:
    secret = secret_cache(_needed(given.signing_secret_arn, "WFE_SIGNING_SECRET_ARN"))
    return Signer(lambda: masters_of(secret.get()))


def _needed(value: str | None, name: str) -> str:
    if not value:
        raise RuntimeError(f"the environment variable {name} is missing")
    return value
