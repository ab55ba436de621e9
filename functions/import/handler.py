"""POST /v1/import: definitions and policies."""

from typing import Any

from workflow_engine.dal import Deadline
from workflow_engine.entry import container
from workflow_engine.entry.http import HttpApp
from workflow_engine.models.imports import ImportRequest, ImportResult

app = HttpApp("import")


@app.route(
    "POST",
    "/v1/import",
    summary="Import a definition, a policy or both, in one transaction; or only check them",
    request=ImportRequest,
    answer=ImportResult,
    # Lambda takes 6 MB, and base64 makes a third more of it.
    max_bytes=4 * 1024 * 1024,
    codes=("INVALID_DEFINITION", "INVALID_POLICY", "DEFINITION_NOT_FOUND", "VERSION_CONFLICT"),
)
def post_import(request: ImportRequest, deadline: Deadline) -> ImportResult:
    return container.engine().import_blueprint(request, deadline)


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return app.resolve(event, context)
