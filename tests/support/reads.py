"""The readers of instances on a real database, and how many rows the server read for them."""

from collections.abc import Callable, Generator
from typing import Any

import pytest

from tests.support.engine import Workbench
from tests.support.rows import Rows
from workflow_engine.dal import Deadline
from workflow_engine.dal.packet import Query
from workflow_engine.models.ack_view import AckEvent
from workflow_engine.models.instance import InstanceView
from workflow_engine.models.instances_api import InstancePage, ListInstancesRequest
from workflow_engine.models.runtime import RuntimeResult, RuntimeStatusRequest, UpsertRuntimeRequest
from workflow_engine.models.timeline import Timeline, TimelineRequest
from workflow_engine.models.why import Why


class Reads:
    """Short ways to ask, on top of the bench's engine."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench
        self.clock = bench.clock
        self._engine = bench.engine

    def instance(self, guid: str) -> InstanceView:
        return self._engine.get_instance(guid, self.deadline())

    def instances(self, **request: Any) -> InstancePage:
        return self._engine.list_instances(ListInstancesRequest(**request), self.deadline())

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
        return self._engine.get_timeline_json(guid, TimelineRequest(**request), self.deadline())

    def why(self, guid: str) -> Why:
        return self._engine.why(guid, self.deadline())

    def ack(self, ack_guid: str, consumer: str = "c1", principal: str = "local", env_code: int = 1) -> AckEvent:
        return self._engine.get_ack(ack_guid, env_code, consumer, principal, self.deadline())

    def report(self, instance_guid: str, activity: str = "Mail", status: str = "running", **more: Any) -> RuntimeResult:
        return self._engine.upsert_runtime(UpsertRuntimeRequest(instance_guid=instance_guid, activity=activity, status=status, **more), self.deadline())

    def set_status(self, runtime_id: int, status: str) -> RuntimeResult:
        return self._engine.set_runtime_status(runtime_id, RuntimeStatusRequest(status=status), self.deadline())

    def freeze(self, runtime_id: int) -> RuntimeResult:
        return self._engine.freeze_runtime(runtime_id, self.deadline())

    def unfreeze(self, runtime_id: int) -> RuntimeResult:
        return self._engine.unfreeze_runtime(runtime_id, self.deadline())

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
        return sum(int(row["Value"]) for row in self.bench.dal.read(self.bench.dal.reading(self.deadline()), counters)[0])


@pytest.fixture
def rows(clean_database: str) -> Generator[Rows]:
    made = Rows(clean_database)
    yield made
    made.close()


@pytest.fixture
def reads(bench: Workbench) -> Reads:
    return Reads(bench)
