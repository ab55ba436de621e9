"""POST /v1/trigger: move an instance by one event."""

from typing import Any

from workflow_engine.dal import Deadline
from workflow_engine.entry import container
from workflow_engine.entry.counting import count_trigger
from workflow_engine.entry.http import HttpApp
from workflow_engine.models.trigger import LifeCycleTriggerRequest, LifeCycleTriggerResult

app = HttpApp("trigger")


@app.route(
    "POST",
    "/v1/trigger",
    summary="Raise an event: move the instance, or learn why it does not move",
    request=LifeCycleTriggerRequest,
    answer=LifeCycleTriggerResult,
    max_bytes=200 * 1024,
    takes_idempotency_key=True,
    codes=("DEFINITION_NOT_FOUND", "INSTANCE_NOT_FOUND", "NO_TRANSITION_CONSUMER", "REQUEST_ID_REUSED"),
)
def post_trigger(request: LifeCycleTriggerRequest, deadline: Deadline) -> LifeCycleTriggerResult:
    return count_trigger(container.engine().trigger(request, deadline))


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return app.resolve(event, context)
