"""The engine on this machine: database, SNS and its kin, the API with the real handlers, and the monitor on a timer."""

import http.client
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from pydantic import ValidationError

from local.database.ports import BIND, LOOPBACK, reached_at
from local.database.programs import Kind
from local.database.ways import default_kind
from local.lambdas.calls import ACCOUNT, SCHEDULED, LocalContext, handler_of
from local.machine import LOCAL, LocalSetupError, say
from local.stack.api import StackApi
from local.stack.cloud import NOTICE_TOPIC, REGION, WORK_TOPIC, LocalCloud
from local.stack.database import prepared_database
from local.stack.deliveries import is_loopback
from local.stack.log import logging_to
from local.stack.sandboxes import Sandboxes
from local.stack.web_server import listening, served
from workflow_engine.adapters import aws
from workflow_engine.entry import container
from workflow_engine.entry.settings import PREFIX, Settings

DEFAULT_PORT = 8787
SERVICE = "workflow-engine-local"
HIGHEST_PORT = 65_535
# A context with this much more than the interval is enough for one pass and too short for a second (see LifeCycleMonitor).
_ONE_PASS_SECONDS = 11.5
_HEALTH_SECONDS = 30.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StackSettings:
    """`port` 0 takes any free one; `keep` keeps the database from start to start; `address` is where everything listens."""

    port: int = DEFAULT_PORT
    kind: Kind = "mariadb"
    keep: bool = False
    address: str = LOOPBACK

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "StackSettings":
        port, kind = environment.get("WFE_PORT") or str(DEFAULT_PORT), environment.get("DB") or default_kind()
        if not port.isdecimal() or len(port) > len(str(HIGHEST_PORT)) or int(port) > HIGHEST_PORT:
            raise LocalSetupError(f"WFE_PORT={port} is no port: take a number up to {HIGHEST_PORT}, or leave it out for {DEFAULT_PORT}")
        if kind not in {"mariadb", "mysql"}:
            raise LocalSetupError(f"DB={kind} is not known: take mariadb or mysql")
        check_options(environment)
        keep = environment.get("WFE_KEEP", "").lower() not in {"", "0", "no", "false"}
        return cls(port=int(port), kind=cast("Kind", kind), keep=keep, address=environment.get(BIND) or LOOPBACK)


def check_options(environment: Mapping[str, str]) -> None:
    """Options of the engine are the functions' business; here they are only looked at before anything is started."""
    try:
        Settings.from_environment(environment)
    except ValidationError as error:
        wrong = "\n".join(f"  {PREFIX}{str(item['loc'][0]).upper()}: {item['msg']}" for item in error.errors())
        raise LocalSetupError(f"these variables cannot be used, see docs/operations.md for what they take:\n{wrong}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A running stack; `environment` is what a function needs to work against it."""

    url: str
    aws_url: str
    database_url: str
    log: Path
    topics: dict[str, str]
    environment: dict[str, str] = field(repr=False)

    def is_healthy(self) -> bool:
        """Ask as anybody would."""
        place = urlsplit(self.url)
        connection = http.client.HTTPConnection(place.hostname or LOOPBACK, place.port, timeout=_HEALTH_SECONDS)
        try:
            connection.request("GET", "/v1/health")
            return connection.getresponse().status == HTTPStatus.OK
        except OSError:
            return False
        finally:
            connection.close()

    def about(self) -> dict[str, Any]:
        """What `GET /_local` tells."""
        place = {"api": self.url, "aws": self.aws_url, "region": REGION, "account": ACCOUNT, "database": self.database_url, "log": str(self.log)}
        return {**place, "topics": self.topics, "environment": self.environment}


@contextmanager
def running_stack(settings: StackSettings) -> Generator[Stack]:
    """Run the stack for the time of the block; afterwards nothing of it is left but a kept database."""
    with ExitStack() as cleanup:
        cleanup.enter_context(_own_environment(settings.address))
        listener = cleanup.enter_context(listening(settings.address, settings.port))
        port = int(listener.getsockname()[1])
        if not is_loopback(settings.address):
            say(f"{BIND}={settings.address}: whoever reaches this address reaches the engine, its database and what GET /_local tells")
        database_url = cleanup.enter_context(prepared_database(settings.kind, f"serve-{port}" if settings.keep else None))
        say("SNS, SQS and Secrets Manager: starting (moto)")
        cloud = LocalCloud()
        cleanup.callback(cloud.close)
        cloud.open_at(cleanup.enter_context(served(cloud, cleanup.enter_context(listening(settings.address, 0)))))
        log = LOCAL / "logs" / f"serve-{port}.log"
        environment = _environment(cloud, database_url)
        stack = Stack(
            url=f"http://{reached_at(settings.address)}:{port}",
            aws_url=cloud.url,
            database_url=database_url,
            log=log,
            topics={"work": cloud.topics[WORK_TOPIC], "notices": cloud.topics[NOTICE_TOPIC]},
            environment=environment,
        )
        cleanup.enter_context(_sandbox_environment(environment))
        cleanup.enter_context(logging_to(log, keep=settings.keep))
        _run_api(stack, cloud, listener, cleanup)
        yield stack


def _run_api(stack: Stack, cloud: LocalCloud, listener: socket.socket, cleanup: ExitStack) -> None:
    say("functions: loading the handlers")
    sandboxes = Sandboxes()
    cleanup.callback(sandboxes.close)
    api = StackApi(sandboxes=sandboxes, published=cloud.published, about=stack.about(), is_loopback_only=is_loopback(str(listener.getsockname()[0])))
    for function in sorted({route.function for route in api.gateway.routes} | {"monitor"}):
        handler_of(function)
    health = sandboxes.run(lambda: container.engine().health(container.deadline_of(LocalContext())))
    if not health.healthy:
        raise LocalSetupError(f"the engine does not become healthy: {health.model_dump_json()}\nIts log is {stack.log}")
    cleanup.enter_context(_monitor_on_a_timer(api, sandboxes))
    cleanup.enter_context(served(api, listener))


def _environment(cloud: LocalCloud, database_url: str) -> dict[str, str]:
    aws_settings = {"AWS_REGION": REGION, "AWS_DEFAULT_REGION": REGION, "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
    powertools = {
        "POWERTOOLS_SERVICE_NAME": SERVICE,
        "POWERTOOLS_METRICS_NAMESPACE": "WorkFlowEngine",
        "POWERTOOLS_LOG_LEVEL": os.environ.get("POWERTOOLS_LOG_LEVEL", "INFO"),
    }
    engine = {
        "WFE_DATABASE_URL": database_url,
        "WFE_AWS_ENDPOINT_URL": cloud.url,
        "WFE_WORK_TOPIC_ARN": cloud.topics[WORK_TOPIC],
        "WFE_NOTICE_TOPIC_ARN": cloud.topics[NOTICE_TOPIC],
        "WFE_SIGNING_SECRET_ARN": cloud.secret_arn,
    }
    return aws_settings | powertools | engine


@contextmanager
def _own_environment(address: str) -> Generator[None]:
    """Nothing of the user's AWS is used here, and nothing that stays on this machine goes through a proxy."""
    before = dict(os.environ)
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        del os.environ[name]
    os.environ |= {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull, "AWS_EC2_METADATA_DISABLED": "true"}
    direct = ",".join(filter(None, [os.environ.get("no_proxy") or os.environ.get("NO_PROXY"), LOOPBACK, "localhost", reached_at(address)]))
    os.environ |= {"no_proxy": direct, "NO_PROXY": direct}
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _sandbox_environment(environment: dict[str, str]) -> Generator[None]:
    """Variables of the engine's options (WFE_MAX_RETRY_COUNT and the like) stay as the user set them."""
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        _forget()
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        _forget()


def _forget() -> None:
    container.reset()
    aws.client.cache_clear()


@contextmanager
def _monitor_on_a_timer(api: StackApi, sandboxes: Sandboxes) -> Generator[None]:
    """One pass an interval, through the real handler; the lease keeps two stacks on one database apart."""
    ended = threading.Event()
    interval = container.settings().monitor_interval_seconds

    def one_pass() -> None:
        with api.passing:
            handler_of("monitor")(SCHEDULED, LocalContext(_ONE_PASS_SECONDS + interval))

    def tick() -> None:
        due = time.monotonic() + interval
        while not ended.wait(max(0.0, due - time.monotonic())):
            due += interval
            _attempt(lambda: sandboxes.run(one_pass))

    thread = threading.Thread(target=tick, name="monitor", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _attempt(call: Callable[[], object]) -> None:
    try:
        call()
    except Exception:  # noqa: BLE001  # the timer outlives whatever happens in a pass
        _log.exception("a pass of the monitor failed; the next one comes by itself")
