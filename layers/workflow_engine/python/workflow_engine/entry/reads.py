"""All reads, and the answer to every route that no function serves."""

from workflow_engine.dal import Deadline
from workflow_engine.entry import container
from workflow_engine.entry.answer import HttpResponse
from workflow_engine.entry.http import HttpApp
from workflow_engine.entry.query_models import AckQuery, EnvQuery, ListDefinitionsQuery, ListVersionsQuery
from workflow_engine.entry.routes import document_text
from workflow_engine.models.ack_view import AckEvent
from workflow_engine.models.consumer import ConsumerPage, ListConsumersRequest
from workflow_engine.models.def_version import DefinitionDetail, DefinitionList, DefinitionVersionList
from workflow_engine.models.health import HealthView
from workflow_engine.models.instance import InstanceView
from workflow_engine.models.instances_api import InstancePage, ListInstancesRequest
from workflow_engine.models.notices_api import ListNoticesRequest, NoticePage
from workflow_engine.models.timeline import Timeline, TimelineRequest
from workflow_engine.models.why import Why

app = HttpApp("query")
_NO_DEFINITION = ("DEFINITION_NOT_FOUND",)
_NO_INSTANCE = ("INSTANCE_NOT_FOUND",)


@app.route("GET", "/v1/definitions", summary="List definitions with their active versions", query=ListDefinitionsQuery, answer=DefinitionList)
def get_definitions(query: ListDefinitionsQuery, deadline: Deadline) -> DefinitionList:
    return container.engine().list_definitions(query.env_code, query.limit, query.cursor, deadline)


@app.route(
    "GET", "/v1/definitions/{name}", summary="Read a definition and its policy as imported", query=EnvQuery, answer=DefinitionDetail, codes=_NO_DEFINITION
)
def get_definition(name: str, query: EnvQuery, deadline: Deadline) -> DefinitionDetail:
    return container.engine().get_definition(query.env_code, name, deadline)


@app.route(
    "GET",
    "/v1/definitions/{name}/versions",
    summary="List a definition's versions",
    query=ListVersionsQuery,
    answer=DefinitionVersionList,
    codes=_NO_DEFINITION,
)
def get_definition_versions(name: str, query: ListVersionsQuery, deadline: Deadline) -> DefinitionVersionList:
    return container.engine().list_definition_versions(query.env_code, name, query.limit, query.cursor, deadline)


@app.route("GET", "/v1/instances", summary="List instances, newest first", query=ListInstancesRequest, answer=InstancePage)
def get_instances(query: ListInstancesRequest, deadline: Deadline) -> InstancePage:
    return container.engine().list_instances(query, deadline)


@app.route("GET", "/v1/instances/{guid}", summary="Read an instance", answer=InstanceView, codes=_NO_INSTANCE)
def get_instance(guid: str, deadline: Deadline) -> InstanceView:
    return container.engine().get_instance(guid, deadline)


@app.route(
    "GET",
    "/v1/instances/{guid}/timeline",
    summary="What happened, who was told, what applications did",
    query=TimelineRequest,
    answer=Timeline,
    codes=_NO_INSTANCE,
)
def get_timeline(guid: str, query: TimelineRequest, deadline: Deadline) -> Timeline:
    return container.engine().get_timeline_json(guid, query, deadline)


@app.route("GET", "/v1/instances/{guid}/why", summary="Why the instance stands where it stands", answer=Why, codes=_NO_INSTANCE)
def get_why(guid: str, deadline: Deadline) -> Why:
    return container.engine().why(guid, deadline)


@app.route(
    "GET",
    "/v1/acks/{ack_guid}",
    summary="Read a stored event with its payload, as its consumer",
    query=AckQuery,
    answer=AckEvent,
    codes=("CONSUMER_NOT_FOUND", "ACK_NOT_FOUND"),
)
def get_ack(ack_guid: str, query: AckQuery, principal: str, deadline: Deadline) -> AckEvent:
    return container.engine().get_ack(ack_guid, query.env_code, query.consumer, principal, deadline)


@app.route("GET", "/v1/consumers", summary="List consumers with liveness and progress", query=ListConsumersRequest, answer=ConsumerPage)
def get_consumers(query: ListConsumersRequest, deadline: Deadline) -> ConsumerPage:
    return container.engine().list_consumers(query, deadline)


@app.route("GET", "/v1/notices", summary="List notices, newest first", query=ListNoticesRequest, answer=NoticePage)
def get_notices(query: ListNoticesRequest, deadline: Deadline) -> NoticePage:
    return container.engine().list_notices(query, deadline)


@app.route("GET", "/v1/health", summary="Counts and the monitor's age; 503 when unhealthy", answer=HealthView, may_be_unhealthy=True)
def get_health(deadline: Deadline) -> HttpResponse:
    view = container.engine().health(deadline)
    return HttpResponse(status=200 if view.healthy else 503, body=view.model_dump_json())


@app.route("GET", "/v1/openapi.json", summary="This document", is_public=True)
def get_openapi() -> str:
    return document_text()
