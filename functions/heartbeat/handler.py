"""Consumers register, beat and leave."""

from typing import Any

from workflow_engine.dal import Deadline
from workflow_engine.entry import container
from workflow_engine.entry.http import HttpApp
from workflow_engine.entry.query_models import EnvQuery
from workflow_engine.models.consumer import ConsumerDeletion, ConsumerRegistration, HeartbeatRequest, HeartbeatResult, RegisterConsumerRequest

app = HttpApp("heartbeat")
_UNKNOWN = ("CONSUMER_NOT_FOUND",)


@app.route(
    "POST",
    "/v1/consumers",
    summary="Register a consumer, or change its registration",
    request=RegisterConsumerRequest,
    answer=ConsumerRegistration,
    codes=("ENDPOINT_IN_USE",),
)
def post_consumer(request: RegisterConsumerRequest, principal: str, deadline: Deadline) -> ConsumerRegistration:
    return container.engine().register_consumer(request, principal, deadline)


@app.route("DELETE", "/v1/consumers/{consumer}", summary="End a consumer and its subscription", query=EnvQuery, answer=ConsumerDeletion, codes=_UNKNOWN)
def delete_consumer(consumer: str, query: EnvQuery, principal: str, deadline: Deadline) -> ConsumerDeletion:
    return container.engine().delete_consumer(query.env_code, consumer, principal, deadline)


@app.route("POST", "/v1/heartbeat", summary="Say that a consumer is alive, and how far it is", request=HeartbeatRequest, answer=HeartbeatResult, codes=_UNKNOWN)
def post_heartbeat(request: HeartbeatRequest, principal: str, deadline: Deadline) -> HeartbeatResult:
    return container.engine().beat_consumer(request, principal, deadline)


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return app.resolve(event, context)
