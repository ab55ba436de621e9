"""An event that SNS will never take: the consumer's choice for exhausted events comes to bear instead of trying for ever."""

from collections.abc import Sequence

import pytest

from tests.support.documents import definition_l
from tests.support.engine import RecordingPublisher, Workbench
from workflow_engine.dal import Deadline
from workflow_engine.engine.ports import PublishFailure
from workflow_engine.models.events import WorkMessage
from workflow_engine.options import WorkFlowEngineOptions


class DislikingPublisher(RecordingPublisher):
    def publish(self, messages: Sequence[WorkMessage], deadline: Deadline) -> list[PublishFailure]:  # noqa: ARG002  # the port's shape
        return [PublishFailure(message=message, reason="InvalidParameter", is_own_fault=True) for message in messages]


@pytest.mark.scenario(53)
def test_a_message_that_sns_dislikes_spends_its_attempts_until_its_consumer_is_given_up(clean_database: str):
    bench = Workbench(clean_database, WorkFlowEngineOptions(max_retry_count=2), publisher=DislikingPublisher())
    bench.import_(definition_l())
    bench.register("c1")
    bench.trigger("Submit")
    for _ in range(2):
        bench.clock.advance(100)
        bench.monitor()
    [row] = bench.sql("SELECT status, trigger_count, gave_up FROM ack_consumer")
    assert (row["trigger_count"], row["gave_up"], bench.count("instance", "suspended_by = 1")) == (2, 1, 1)
    assert [notice.code.value for notice in bench.noticed()] == ["DISPATCH_FAILURE", "ACK_RETRY", "DISPATCH_FAILURE", "ACK_SUSPEND"]
    bench.close()
