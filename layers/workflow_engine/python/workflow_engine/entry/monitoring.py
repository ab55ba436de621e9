"""The monitor function: checks that the schedule called, runs passes, reports them as metrics."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from workflow_engine.entry import container, observability
from workflow_engine.entry.counting import count_monitor


class ScheduledEvent(BaseModel):
    """What EventBridge Scheduler sends by itself; anything else is a mistake that must be seen."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    source: Literal["aws.scheduler"]
    detail_type: Annotated[Literal["Scheduled Event"], Field(alias="detail-type")]


def run(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    with observability.invocation("monitor", context):
        ScheduledEvent.model_validate(event)
        report = container.engine().run_monitor(container.deadline_of(context))
        count_monitor(report)
        return report.as_dict()
