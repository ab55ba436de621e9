"""What applications say of their own work; never affects a trigger."""

from typing import Any

from workflow_engine.dal import Deadline
from workflow_engine.entry import container
from workflow_engine.entry.http import HttpApp
from workflow_engine.entry.path_values import runtime_id
from workflow_engine.models.runtime import RuntimeResult, RuntimeStatusRequest, UpsertRuntimeRequest

app = HttpApp("runtime")
_UNKNOWN = ("RUNTIME_NOT_FOUND",)


@app.route("PUT", "/v1/runtime", summary="Report an activity, or its news", request=UpsertRuntimeRequest, answer=RuntimeResult, codes=("INSTANCE_NOT_FOUND",))
def put_runtime(request: UpsertRuntimeRequest, deadline: Deadline) -> RuntimeResult:
    return container.engine().upsert_runtime(request, deadline)


@app.route("POST", "/v1/runtime/{id}/status", summary="Set an activity's status", request=RuntimeStatusRequest, answer=RuntimeResult, codes=_UNKNOWN)
def post_runtime_status(id: str, request: RuntimeStatusRequest, deadline: Deadline) -> RuntimeResult:  # noqa: A002  # the name in the path
    return container.engine().set_runtime_status(runtime_id(id), request, deadline)


@app.route("POST", "/v1/runtime/{id}/freeze", summary="Keep an activity's status as it is", answer=RuntimeResult, codes=_UNKNOWN)
def post_runtime_freeze(id: str, deadline: Deadline) -> RuntimeResult:  # noqa: A002
    return container.engine().freeze_runtime(runtime_id(id), deadline)


@app.route("POST", "/v1/runtime/{id}/unfreeze", summary="Let an activity's status change again", answer=RuntimeResult, codes=_UNKNOWN)
def post_runtime_unfreeze(id: str, deadline: Deadline) -> RuntimeResult:  # noqa: A002
    return container.engine().unfreeze_runtime(runtime_id(id), deadline)


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return app.resolve(event, context)
