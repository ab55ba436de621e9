"""Operators: each act leaves an audit row with who and why."""

from workflow_engine.dal import Deadline
from workflow_engine.entry import container
from workflow_engine.entry.http import HttpApp
from workflow_engine.models.admin import ActivateRequest, AdminRequest, OwnerRequest
from workflow_engine.models.consumer import ConsumerView
from workflow_engine.models.def_version import DefinitionVersionView
from workflow_engine.models.instance import InstanceView

app = HttpApp("admin")
_CODES = ("INSTANCE_NOT_FOUND", "STATUS_CONFLICT")


@app.route("POST", "/v1/instances/{guid}/suspend", summary="Hold an instance back", request=AdminRequest, answer=InstanceView, codes=_CODES)
def post_suspend(guid: str, request: AdminRequest, principal: str, deadline: Deadline) -> InstanceView:
    return container.engine().suspend_instance(guid, request, principal, deadline)


@app.route("POST", "/v1/instances/{guid}/resume", summary="Let an instance and its parked lanes go on", request=AdminRequest, answer=InstanceView, codes=_CODES)
def post_resume(guid: str, request: AdminRequest, principal: str, deadline: Deadline) -> InstanceView:
    return container.engine().resume_instance(guid, request, principal, deadline)


@app.route("POST", "/v1/instances/{guid}/fail", summary="End an instance as failed", request=AdminRequest, answer=InstanceView, codes=_CODES)
def post_fail(guid: str, request: AdminRequest, principal: str, deadline: Deadline) -> InstanceView:
    return container.engine().fail_instance(guid, request, principal, deadline)


@app.route(
    "POST", "/v1/consumers/{consumer}/owner", summary="Give a consumer another owner", request=OwnerRequest, answer=ConsumerView, codes=("CONSUMER_NOT_FOUND",)
)
def post_owner(consumer: str, request: OwnerRequest, principal: str, deadline: Deadline) -> ConsumerView:
    return container.engine().set_consumer_owner(consumer, request, principal, deadline)


@app.route(
    "POST",
    "/v1/definitions/{name}/activate",
    summary="Pin new instances to a version",
    request=ActivateRequest,
    answer=DefinitionVersionView,
    codes=("DEFINITION_NOT_FOUND",),
)
def post_activate(name: str, request: ActivateRequest, principal: str, deadline: Deadline) -> DefinitionVersionView:
    return container.engine().activate_version(name, request, principal, deadline)
