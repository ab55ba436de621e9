"""POST /v1/ack: a consumer's word on one event or many."""

from typing import Any

from workflow_engine.dal import Deadline
from workflow_engine.entry import container
from workflow_engine.entry.counting import count_acks
from workflow_engine.entry.http import HttpApp
from workflow_engine.models.ack import AckAnswer, AckBatchAnswer, AckRequest

app = HttpApp("ack")


@app.route(
    "POST",
    "/v1/ack",
    summary="Acknowledge one event, or up to a hundred; a bad one of many fails alone",
    request=AckRequest,
    answer=AckAnswer | AckBatchAnswer,
    max_bytes=200 * 1024,
    codes=("CONSUMER_NOT_FOUND", "ACK_NOT_FOUND"),
)
def post_ack(request: AckRequest, principal: str, deadline: Deadline) -> AckAnswer | AckBatchAnswer:
    return count_acks(request, container.engine().ack(request, principal, deadline))


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return app.resolve(event, context)
