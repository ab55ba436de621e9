"""A desk for consumers: registration, beats, lists, health and notices on a real database, with SNS in moto."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError

from tests.support.cloud import REGION, cloud
from tests.support.engine import FakeClock
from tests.support.rows import Rows
from workflow_engine.adapters.database import url_target
from workflow_engine.adapters.signing import Signer
from workflow_engine.adapters.subscriptions import SnsSubscriptions
from workflow_engine.dal import Db, DbExecutionLoad, Deadline, Query, Statement, WorkFlowDAL
from workflow_engine.engine.consumers import ConsumerManager, ConsumerPorts
from workflow_engine.engine.health import HealthReader
from workflow_engine.engine.notices import NoticeReader
from workflow_engine.engine.rules.registration import EndpointLimits
from workflow_engine.errors import ConnectionLostError
from workflow_engine.models.consumer import (
    ConsumerDeletion,
    ConsumerKey,
    ConsumerPage,
    ConsumerRegistration,
    ConsumerView,
    HeartbeatRequest,
    HeartbeatResult,
    ListConsumersRequest,
    OwnerMove,
    RegisterConsumerRequest,
)
from workflow_engine.models.health import HealthView
from workflow_engine.models.notices_api import ListNoticesRequest, NoticePage
from workflow_engine.options import WorkFlowEngineOptions

ROLE = "iam:123456789012:role/billing"
OTHER_ROLE = "iam:123456789012:role/shipping"
TOPIC = f"arn:aws:sns:{REGION}:123456789012:work"
OPTIONS = WorkFlowEngineOptions()


class ForgetfulDb(Db):
    """Loses the connection, when told to, after a COMMIT has run and before its answer arrives."""

    is_answer_lost = False

    def send(self, load: DbExecutionLoad, packet: Sequence[Statement | Query[Any]]) -> list[Any]:
        results = super().send(load, packet)
        if self.is_answer_lost and packet[-1].sql == "COMMIT":
            self.is_answer_lost = False
            self.close()
            raise ConnectionLostError("connection lost (2013)")
        return results


class ConsumerDesk:
    """Every call takes what matters to a test and fills in the rest; `another()` is a second sandbox on the same database."""

    def __init__(self, database_url: str, clock: FakeClock | None = None, limits: EndpointLimits | None = None) -> None:
        self.database_url = database_url
        self.clock = clock or FakeClock()
        self._is_sns_there = True
        self.db = ForgetfulDb(url_target(database_url))
        self.dal = WorkFlowDAL(self.db)
        ports = ConsumerPorts(
            subscriptions=SnsSubscriptions(topic_arn=TOPIC, client=self._sns),
            signing_keys=Signer(lambda: ["master"]),
            limits=limits or EndpointLimits(),
        )
        self.manager = ConsumerManager(self.dal, self.clock, OPTIONS, ports)
        self.rows = Rows(database_url)
        self._others: list[ConsumerDesk] = []

    def another(self, limits: EndpointLimits | None = None) -> "ConsumerDesk":
        self._others.append(ConsumerDesk(self.database_url, self.clock, limits))
        return self._others[-1]

    @contextmanager
    def without_sns(self) -> Generator[None]:
        """Nobody answers at SNS's address."""
        self._is_sns_there = False
        yield
        self._is_sns_there = True

    def close(self) -> None:
        for other in self._others:
            other.close()
        self.rows.close()
        self.dal.close()

    def register(self, consumer: str = "c1", principal: str = ROLE, env_code: int = 1, **more: Any) -> ConsumerRegistration:
        body = {"env_code": env_code, "consumer": consumer, "definitions": ["*"], "kinds": ["transition", "hook"], **more}
        return self.manager.register_consumer(RegisterConsumerRequest.model_validate(body), principal, deadline())

    def beat(self, consumer: str = "c1", principal: str = ROLE, env_code: int = 1, **more: Any) -> HeartbeatResult:
        body = {"env_code": env_code, "consumer": consumer, **more}
        return self.manager.beat_consumer(HeartbeatRequest.model_validate(body), principal, deadline())

    def delete(self, consumer: str = "c1", principal: str = ROLE, env_code: int = 1) -> ConsumerDeletion:
        return self.manager.delete_consumer(ConsumerKey(env_code=env_code, consumer=consumer), principal, deadline())

    def move(self, principal: str, consumer: str = "c1", env_code: int = 1) -> ConsumerView:
        return self.manager.set_owner(OwnerMove(env_code=env_code, consumer=consumer, principal=principal), lambda _row: [], deadline())

    def page(self, **query: Any) -> ConsumerPage:
        return self.manager.list_consumers(ListConsumersRequest.model_validate(query), deadline())

    def one(self, consumer: str = "c1") -> ConsumerView:
        return next(item for item in self.page().items if item.consumer == consumer)

    def notices(self, **query: Any) -> NoticePage:
        return NoticeReader(self.dal).list_notices(ListNoticesRequest.model_validate(query), deadline())

    def health(self, *, is_monitor_enabled: bool = True) -> HealthView:
        return HealthReader(self.dal, self.clock, OPTIONS, is_monitor_enabled=is_monitor_enabled).get_health(deadline())

    def _sns(self) -> Any:
        if not self._is_sns_there:
            raise EndpointConnectionError(endpoint_url="https://sns")
        return boto3.client("sns")

    def column(self, sql: str) -> list[Any]:
        return [row[0] for row in self.rows.run(sql)]


def deadline() -> Deadline:
    return Deadline.after(20)


def queue_arn(name: str = "billing", account: str = "123456789012") -> str:
    return f"arn:aws:sqs:{REGION}:{account}:{name}"


def rows_read(dal: WorkFlowDAL, query: Query[Any]) -> int:
    """The rows that the server touched for one query, by its own count; what the counting itself touches is taken off."""
    before = _handler_reads(dal)
    after_nothing = _handler_reads(dal)
    dal.read(dal.reading(deadline()), query)
    return _handler_reads(dal) - after_nothing - (after_nothing - before)


def _handler_reads(dal: WorkFlowDAL) -> int:
    rows = dal.read(dal.reading(deadline()), Query(sql="SHOW SESSION STATUS LIKE 'Handler_read%%'", values={}, row_type=dict))[0]
    return sum(int(row["Value"]) for row in rows)


@pytest.fixture
def desk(clean_database: str) -> Generator[ConsumerDesk]:
    made = ConsumerDesk(clean_database)
    yield made
    made.close()


@pytest.fixture
def sns_desk(clean_database: str, monkeypatch: pytest.MonkeyPatch) -> Generator[ConsumerDesk]:
    """The same, with the topic of work events in moto."""
    with cloud(monkeypatch):
        boto3.client("sns").create_topic(Name="work")
        made = ConsumerDesk(clean_database)
        yield made
        made.close()
