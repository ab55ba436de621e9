"""The readers of instances on a real database, and how many rows the server read for them."""

from collections.abc import Callable, Generator
from typing import Any

import pytest

from tests.support.engine import Workbench
from tests.support.rows import Rows
from workflow_engine.dal import Deadline
from workflow_engine.dal.packet import Query
from workflow_engine.engine.ack_reads import AckReader
from workflow_engine.engine.blueprint_manager import BlueprintManager
from workflow_engine.engine.instances import InstanceReader
from workflow_engine.engine.runtime_engine import RuntimeEngine
from workflow_engine.engine.timeline import TimelineReader
from workflow_engine.engine.why import WhyReader
from workflow_engine.models.ack_view import AckEvent
from workflow_engine.models.instance import InstanceView
from workflow_engine.models.instances_api import InstancePage, ListInstancesRequest
from workflow_engine.models.runtime import RuntimeResult, UpsertRuntimeRequest
from workflow_engine.models.timeline import Timeline, TimelineRequest
from workflow_engine.models.why import Why


class Reads:
    def __init__(self, bench: Workbench) -> None:
        self.dal = bench.dal
        self.clock = bench.clock
        self.runtime = RuntimeEngine(bench.dal, bench.clock)
        self._instances = InstanceReader(bench.dal, bench.clock)
        self._timeline = TimelineReader(bench.dal)
        self._why = WhyReader(bench.dal, BlueprintManager(bench.dal), bench.clock, bench.options)
        self._acks = AckReader(bench.dal)

    def instance(self, guid: str) -> InstanceView:
        return self._instances.get_instance(guid, self.deadline())

    def instances(self, **request: Any) -> InstancePage:
        return self._instances.list_instances(ListInstancesRequest(**request), self.deadline())

    def all_instances(self, **request: Any) -> list[int]:
        """Follow the cursors to the end."""
        ids: list[int] = []
        page = self.instances(**request)
        ids += [item.instance_id for item in page.items]
        while page.cursor:
            page = self.instances(cursor=page.cursor, **request)
            ids += [item.instance_id for item in page.items]
        return ids

    def timeline(self, guid: str, **request: Any) -> Timeline:
        return self._timeline.get_timeline_json(guid, TimelineRequest(**request), self.deadline())

    def why(self, guid: str) -> Why:
        return self._why.why(guid, self.deadline())

    def ack(self, ack_guid: str, consumer: str = "c1", principal: str = "local", env_code: int = 1) -> AckEvent:
        return self._acks.get_ack(ack_guid, env_code, consumer, principal, self.deadline())

    def report(self, instance_guid: str, activity: str = "Mail", status: str = "running", **more: Any) -> RuntimeResult:
        return self.runtime.upsert_runtime(UpsertRuntimeRequest(instance_guid=instance_guid, activity=activity, status=status, **more), self.deadline())

    def rows_read(self, call: Callable[[], object]) -> int:
        """Count the rows that the server's storage handed out for the call."""
        before = self._handler_reads()
        call()
        return self._handler_reads() - before

    @staticmethod
    def deadline() -> Deadline:
        return Deadline.after(20)

    def _handler_reads(self) -> int:
        counters = Query(sql="SHOW SESSION STATUS LIKE 'Handler_read%%'", values={}, row_type=dict)
        return sum(int(row["Value"]) for row in self.dal.read(self.dal.reading(self.deadline()), counters)[0])


@pytest.fixture
def rows(clean_database: str) -> Generator[Rows]:
    made = Rows(clean_database)
    yield made
    made.close()


@pytest.fixture
def reads(bench: Workbench) -> Reads:
    return Reads(bench)
