"""The migrate function: schema and runtime user at deploy, as a custom resource or called directly."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from workflow_engine.adapters.database import secret_target
from workflow_engine.adapters.secrets import read_secret
from workflow_engine.dal import DatabaseTarget, Deadline
from workflow_engine.dal.migrator import RuntimeUser, apply_migrations, ensure_runtime_user
from workflow_engine.entry import container, observability
from workflow_engine.entry.custom_resource import CustomResourceEvent, answer
from workflow_engine.entry.settings import Settings
from workflow_engine.errors import StorageError, WorkFlowError
from workflow_engine.models.schema_version import MigrationReport

# `sam local invoke` and operators: migrate and return the report.
DIRECT = {"action": "migrate"}
# CloudFormation must hear of a failure before the function's time is up.
_ANSWER_SECONDS = 20.0
_PATIENCE_SECONDS = 60.0
_PAUSE_SECONDS = 2.0


class SchemaProperties(BaseModel):
    """CloudFormation sends every value as text."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: Annotated[int, Field(alias="SchemaVersion", ge=0, le=9999)]


def sql_folder(handler_file: str) -> Path:
    """`sql/` lies beside the handler in the artifact, and at the top of the repository."""
    beside = Path(handler_file).parent / "sql"
    return beside if beside.is_dir() else Path(handler_file).parents[2] / "sql"


def handle(event: Mapping[str, Any], context: Any, folder: Path) -> dict[str, Any]:
    """Migrate and answer; an event of another shape fails loudly and touches nothing."""
    with observability.invocation("migrate", context):
        if event == DIRECT:
            return asdict(migrate(container.settings(), folder, None, _deadline(context)))
        request = CustomResourceEvent.model_validate(event)
        return _handle_resource(request, folder, _deadline(context))


def migrate(given: Settings, folder: Path, newest: int | None, deadline: Deadline) -> MigrationReport:
    target = _owner_target(given)
    report = _patiently(deadline, lambda: apply_migrations(target, folder, newest=newest, deadline=deadline))
    user = _runtime_user(given, target)
    if user is not None:
        ensure_runtime_user(target, user, deadline)
    return report


def _patiently(deadline: Deadline, work: Callable[[], MigrationReport]) -> MigrationReport:
    """A cluster that has just been made, or sleeps, may take a minute to answer; a failed deployment takes longer."""
    clock = container.clock()
    patient_until = clock.real_now() + timedelta(seconds=_PATIENCE_SECONDS)
    while True:
        try:
            return work()
        except StorageError:
            if clock.real_now() >= patient_until or deadline.remaining() < _PATIENCE_SECONDS:
                raise
            clock.sleep(_PAUSE_SECONDS)


def _handle_resource(request: CustomResourceEvent, folder: Path, deadline: Deadline) -> dict[str, Any]:
    if request.request_type == "Delete":
        return answer(request)
    try:
        wanted = SchemaProperties.model_validate(request.properties).schema_version
        if wanted < _old_version(request):
            # A rollback: the schema of the newer release also serves the older code.
            return answer(request)
        report = migrate(container.settings(), folder, wanted, deadline)
    except Exception as error:  # noqa: BLE001  # CloudFormation waits: it has to hear of every failure
        observability.failed(error, 500)
        return answer(request, reason=_reason(error))
    return answer(request, data={"SchemaVersion": str(report.version)})


def _old_version(request: CustomResourceEvent) -> int:
    try:
        return SchemaProperties.model_validate(request.old_properties).schema_version
    except ValidationError:
        return 0


def _reason(error: Exception) -> str:
    """Our own errors name file and statement; of others only the kind, for their text may hold anything."""
    return str(error) if isinstance(error, WorkFlowError) else f"{type(error).__name__}: see the function's log"


def _owner_target(given: Settings) -> DatabaseTarget:
    """The master's login where there is one; an existing database may have been prepared for the runtime user."""
    if given.database_url or not (given.db_master_secret_arn and given.db_host):
        return container.database_target(given)
    return secret_target(given.db_host, given.db_port, given.db_name, given.db_master_secret_arn)


def _runtime_user(given: Settings, owner: DatabaseTarget) -> RuntimeUser | None:
    if not (given.db_master_secret_arn and given.db_runtime_user):
        return None
    if given.db_auth == "iam":
        user = RuntimeUser(name=given.db_runtime_user)
    else:
        secret = read_secret(given.db_secret_arn or "")
        user = RuntimeUser(name=str(secret["username"]), password=str(secret["password"]))
    # The owner's own rights are not ours to change.
    return None if user.name == owner.user(False) else user  # noqa: FBT003


def _deadline(context: Any) -> Deadline:
    return Deadline.after(float(context.get_remaining_time_in_millis()) / 1000 - _ANSWER_SECONDS)
