"""An engine on a real database with a moved clock and a recording publisher, and short ways to use it."""

import json
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from local.database.url import DatabaseUrl
from tests.support.outside import OutsideTransactions
from workflow_engine.adapters.database import url_target
from workflow_engine.dal import Db, Deadline, WorkFlowDAL
from workflow_engine.dal.migrator import apply_migrations
from workflow_engine.engine.components import EnginePorts
from workflow_engine.engine.ports import PublishFailure
from workflow_engine.engine.workflow_engine import WorkFlowEngine
from workflow_engine.models.ack import AckAnswer, AckBatchAnswer, AckRequest
from workflow_engine.models.consumer import HeartbeatRequest, RegisterConsumerRequest
from workflow_engine.models.enums import NoticeCode
from workflow_engine.models.events import WorkMessage
from workflow_engine.models.imports import ImportRequest
from workflow_engine.models.notice import LifeCycleNotice
from workflow_engine.models.trigger import LifeCycleTriggerRequest, LifeCycleTriggerResult
from workflow_engine.options import WorkFlowEngineOptions

Options = WorkFlowEngineOptions
START = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
PRINCIPAL = "local"
SQL_FOLDER = Path(__file__).parents[2] / "sql"
# Filled by the migration, not by the engine.
_KEPT = frozenset({"schema_version", "id_block"})


class FakeClock:
    """Stands still unless moved; sleeping moves it."""

    def __init__(self, now: datetime = START) -> None:
        self.at = now

    def now(self) -> datetime:
        return self.at

    def real_now(self) -> datetime:
        return self.at

    def sleep(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)

    def advance(self, seconds: float = 0, **units: float) -> None:
        self.at += timedelta(seconds=seconds, **units)


@dataclass
class RecordingPublisher:
    """Keeps what was sent; `refuse` says which messages SNS does not take, `breaks` makes the publisher itself fail."""

    messages: list[WorkMessage] = field(default_factory=list)
    notices: list[LifeCycleNotice] = field(default_factory=list)
    refuse: Callable[[WorkMessage], bool] = lambda _message: False
    breaks: Exception | None = None

    def publish(self, messages: Sequence[WorkMessage], deadline: Deadline) -> list[PublishFailure]:  # noqa: ARG002  # the port's shape
        if self.breaks:
            raise self.breaks
        refused = [message for message in messages if self.refuse(message)]
        self.messages += [message for message in messages if message not in refused]
        return [PublishFailure(message=message, reason="Throttling") for message in refused]

    def publish_notices(self, notices: Sequence[LifeCycleNotice], deadline: Deadline) -> None:  # noqa: ARG002  # the port's shape
        self.notices += notices


class NoSubscriptions:
    """Consumers without endpoint need no SNS."""

    def subscribe(self, endpoint_protocol: str, endpoint_address: str, env_code: int, consumer: str) -> str:
        return f"arn:aws:sns:eu-central-1:000000000000:work:{env_code}-{consumer}-{endpoint_protocol}-{len(endpoint_address)}"

    def unsubscribe(self, subscription_arn: str) -> None:
        """Nothing to end."""

    def state(self, subscription_arn: str | None) -> str:
        return "confirmed" if subscription_arn else "none"


class PlainKeys:
    def signing_key(self, consumer_id: int) -> str:
        return f"whsec_{consumer_id}"


class Workbench:
    """One engine with its clock and publisher; `another()` is a second sandbox on the same database."""

    # A test that counts or cuts on the wire has a connection of its own kind.
    db_type: type[Db] = Db

    def __init__(self, database_url: str, options: Options | None = None, clock: FakeClock | None = None, publisher: RecordingPublisher | None = None) -> None:
        self.database_url = database_url
        self.options = options or WorkFlowEngineOptions()
        self.clock = clock or FakeClock()
        self.publisher = publisher or RecordingPublisher()
        self._others: list[Workbench] = []
        self.use(self.db_type(url_target(database_url)))

    def use(self, db: Db) -> None:
        """Put an engine on this connection."""
        self.db = db
        self.dal = WorkFlowDAL(db)
        ports = EnginePorts(publisher=OutsideTransactions(self.publisher, db), clock=self.clock, subscriptions=NoSubscriptions(), signing_keys=PlainKeys())
        self.engine = WorkFlowEngine(self.dal, ports, self.options)

    def another(self, options: WorkFlowEngineOptions | None = None, publisher: RecordingPublisher | None = None) -> "Workbench":
        other = Workbench(self.database_url, options or self.options, self.clock, publisher or self.publisher)
        self._others.append(other)
        return other

    def close(self) -> None:
        for other in self._others:
            other.close()
        self.engine.close()

    @staticmethod
    def deadline(seconds: float = 20) -> Deadline:
        return Deadline.after(seconds)

    def import_(self, definition: Any = None, policy: Any = None, env_code: int = 1, **more: Any) -> Any:
        return self.engine.import_blueprint(ImportRequest(env_code=env_code, definition=definition, policy=policy, **more), self.deadline())

    def register(self, consumer: str = "c1", env_code: int = 1, **more: Any) -> int:
        """Listen to everything unless told otherwise; always live unless `beat_seconds` is given."""
        fields = {"definitions": ["*"], "kinds": ["transition", "hook"], "beat_seconds": None} | more
        return self.engine.register_consumer(RegisterConsumerRequest(env_code=env_code, consumer=consumer, **fields), PRINCIPAL, self.deadline()).consumer_id

    def beat(self, consumer: str = "c1", env_code: int = 1) -> Any:
        return self.engine.beat_consumer(HeartbeatRequest(env_code=env_code, consumer=consumer), PRINCIPAL, self.deadline())

    def trigger(self, event: int | str, external_ref: str = "R-1", def_name: str = "Leave", env_code: int = 1, **more: Any) -> LifeCycleTriggerResult:
        place = {} if "instance_guid" in more else {"env_code": env_code, "def_name": def_name, "external_ref": external_ref}
        return self.engine.trigger(LifeCycleTriggerRequest(event=event, **place, **more), self.deadline())

    def ack(self, ack_guid: str | None, outcome: str, consumer: str = "c1", env_code: int = 1, **more: Any) -> AckAnswer:
        request = AckRequest.model_validate({"env_code": env_code, "consumer": consumer, "ack_guid": ack_guid, "outcome": outcome, **more})
        answer = self.engine.ack(request, PRINCIPAL, self.deadline())
        assert isinstance(answer, AckAnswer)
        return answer

    def ack_batch(self, items: Sequence[dict[str, Any]], consumer: str = "c1", env_code: int = 1) -> list[AckAnswer]:
        answer = self.engine.ack(AckRequest.model_validate({"env_code": env_code, "consumer": consumer, "acks": list(items)}), PRINCIPAL, self.deadline())
        assert isinstance(answer, AckBatchAnswer)
        return answer.items

    def process_all(self, *consumers: str, outcome: str = "Processed") -> int:
        """Let consumers acknowledge what they were sent until nothing new comes; returns how many events that were."""
        done: set[tuple[str, str]] = set()
        while True:
            kept = [message for message in self.publisher.messages if message.consumer in consumers and message.ack_id]
            todo = [message for message in kept if (message.webhook_id, message.consumer) not in done]
            if not todo:
                return len(done)
            for message in todo:
                self.ack(message.webhook_id, outcome, message.consumer, message.env_code)
                done.add((message.webhook_id, message.consumer))

    def monitor(self, passes: int = 1) -> Any:
        """Run whole passes; the report of the last one."""
        report = None
        for _ in range(passes):
            report = self.engine.run_monitor_once(self.deadline())
        return report

    def sql(self, text: str) -> list[dict[str, Any]]:
        """Look into the tables as an operator would."""
        connection = DatabaseUrl.parse(self.database_url).connect()
        try:
            connection.autocommit(True)  # noqa: FBT003  # the driver's own signature
            with connection.cursor() as cursor:
                cursor.execute(text)
                names = [column[0] for column in cursor.description or ()]
                return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        finally:
            connection.close()

    def count(self, table: str, where: str = "1 = 1") -> int:
        return int(self.sql(f"SELECT COUNT(*) AS n FROM {table} WHERE {where}")[0]["n"])

    def sent(self, consumer: str | None = None) -> list[tuple[str, int, str, int]]:
        """What was sent, as (consumer, seq, kind, attempt)."""
        messages = [message for message in self.publisher.messages if consumer in {None, message.consumer}]
        return [(message.consumer, message.seq, message.kind.label, message.attempt) for message in messages]

    def bodies(self, consumer: str | None = None) -> list[dict[str, Any]]:
        return [json.loads(message.body) for message in self.publisher.messages if consumer in {None, message.consumer}]

    def noticed(self, code: str | None = None) -> list[LifeCycleNotice]:
        return [notice for notice in self.publisher.notices if code is None or notice.code is NoticeCode(code)]


@pytest.fixture(scope="session")
def migrated_url(database_url: str) -> str:
    """This worker's database with the schema in it."""
    apply_migrations(url_target(database_url), SQL_FOLDER)
    return database_url


@pytest.fixture
def clean_database(migrated_url: str) -> str:
    """The worker's database without rows; ids go on, as they do in production."""
    wipe(migrated_url)
    return migrated_url


@pytest.fixture
def bench(clean_database: str) -> Generator[Workbench]:
    made = Workbench(clean_database)
    yield made
    made.close()


@pytest.fixture
def make_bench(clean_database: str) -> Generator[Callable[..., Workbench]]:
    """Engines with options of their own, all on the same clean database."""
    made: list[Workbench] = []

    def make(**options: Any) -> Workbench:
        made.append(Workbench(clean_database, WorkFlowEngineOptions(**options)))
        return made[-1]

    yield make
    for one in made:
        one.close()


def wipe(url: str) -> None:
    connection = DatabaseUrl.parse(url).connect()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'")
            tables = [row[0] for row in cursor.fetchall() if row[0] not in _KEPT and not row[0].startswith("schema_")]
            cursor.execute("SET foreign_key_checks = 0")
            for table in tables:
                if table == "monitor_lease":
                    cursor.execute("UPDATE monitor_lease SET owner = NULL, expires_at = '2000-01-01', last_pass_at = NULL")
                else:
                    cursor.execute(f"DELETE FROM {table}")
        connection.commit()
    finally:
        connection.close()
