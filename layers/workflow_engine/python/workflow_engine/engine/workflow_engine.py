"""WorkFlowEngine: the public surface (guidelines 4.8); every method delegates."""

import logging
from typing import TYPE_CHECKING

from workflow_engine.engine.components import EngineComponents
from workflow_engine.errors import StorageError, WorkFlowError
from workflow_engine.models.enums import NoticeCode
from workflow_engine.models.notice import LifeCycleNotice

if TYPE_CHECKING:
    from workflow_engine.dal import Deadline
    from workflow_engine.models.ack import AckAnswer, AckBatchAnswer, AckRequest
    from workflow_engine.models.ack_view import AckEvent
    from workflow_engine.models.admin import ActivateRequest, AdminRequest, OwnerRequest
    from workflow_engine.models.consumer import (
        ConsumerDeletion,
        ConsumerPage,
        ConsumerRegistration,
        ConsumerView,
        HeartbeatRequest,
        HeartbeatResult,
        ListConsumersRequest,
        RegisterConsumerRequest,
    )
    from workflow_engine.models.def_version import DefinitionDetail, DefinitionList, DefinitionVersionList, DefinitionVersionView
    from workflow_engine.models.health import HealthView
    from workflow_engine.models.imports import ImportRequest, ImportResult
    from workflow_engine.models.instance import InstanceView
    from workflow_engine.models.instances_api import InstancePage, ListInstancesRequest
    from workflow_engine.models.monitor import MonitorReport
    from workflow_engine.models.notices_api import ListNoticesRequest, NoticePage
    from workflow_engine.models.runtime import RuntimeResult, RuntimeStatusRequest, UpsertRuntimeRequest
    from workflow_engine.models.timeline import Timeline, TimelineRequest
    from workflow_engine.models.trigger import LifeCycleTriggerRequest, LifeCycleTriggerResult
    from workflow_engine.models.why import Why

_log = logging.getLogger(__name__)


class WorkFlowEngine(EngineComponents):
    def trigger(self, request: "LifeCycleTriggerRequest", deadline: "Deadline") -> "LifeCycleTriggerResult":
        """Raise an event (guidelines 3.1); whatever breaks is said, also with the database down."""
        try:
            return self._trigger.trigger(request, deadline)
        except Exception as error:
            if not isinstance(error, WorkFlowError) or isinstance(error, StorageError) or error.code == WorkFlowError.code:
                self._say_trigger_error(request, error, deadline)
            raise

    def ack(self, request: "AckRequest", principal: str, deadline: "Deadline") -> "AckAnswer | AckBatchAnswer":
        return self._acks.ack(request, principal, deadline)

    def import_blueprint(self, request: "ImportRequest", deadline: "Deadline") -> "ImportResult":
        return self.blueprint_importer.import_blueprint(request, deadline)

    def invalidate(self) -> None:
        """Forget cached blueprints; nothing needs it, because what is cached cannot change."""
        self.blueprint_manager.invalidate()

    def register_consumer(self, request: "RegisterConsumerRequest", principal: str, deadline: "Deadline") -> "ConsumerRegistration":
        return self._consumers.register_consumer(request, principal, deadline)

    def beat_consumer(self, request: "HeartbeatRequest", principal: str, deadline: "Deadline") -> "HeartbeatResult":
        return self._consumers.beat_consumer(request, principal, deadline)

    def delete_consumer(self, env_code: int, consumer: str, principal: str, deadline: "Deadline") -> "ConsumerDeletion":
        from workflow_engine.models.consumer import ConsumerKey

        return self._consumers.delete_consumer(ConsumerKey(env_code=env_code, consumer=consumer), principal, deadline)

    def run_monitor_once(self, deadline: "Deadline") -> "MonitorReport":
        """One pass, whatever the lease."""
        return self.life_cycle_monitor.run_once(deadline)

    def run_monitor(self, deadline: "Deadline") -> "MonitorReport":
        """Passes at their interval until the minute is over, if the lease is to be had."""
        return self.life_cycle_monitor.run(deadline)

    def list_definitions(self, env_code: int | None, limit: int, cursor: str | None, deadline: "Deadline") -> "DefinitionList":
        return self._definitions.list_definitions(env_code, limit, cursor, deadline)

    def get_definition(self, env_code: int, def_name: str, deadline: "Deadline") -> "DefinitionDetail":
        return self._definitions.get_definition(env_code, def_name, deadline)

    def list_definition_versions(self, env_code: int, def_name: str, limit: int, cursor: str | None, deadline: "Deadline") -> "DefinitionVersionList":
        return self._definitions.list_versions(env_code, def_name, limit, cursor, deadline)

    def list_instances(self, request: "ListInstancesRequest", deadline: "Deadline") -> "InstancePage":
        return self._instances.list_instances(request, deadline)

    def get_instance(self, instance_guid: str, deadline: "Deadline") -> "InstanceView":
        return self._instances.get_instance(instance_guid, deadline)

    def get_timeline_json(self, instance_guid: str, request: "TimelineRequest", deadline: "Deadline") -> "Timeline":
        return self._timeline.get_timeline_json(instance_guid, request, deadline)

    def why(self, instance_guid: str, deadline: "Deadline") -> "Why":
        return self._why.why(instance_guid, deadline)

    def get_ack(self, ack_guid: str, env_code: int, consumer: str, principal: str, deadline: "Deadline") -> "AckEvent":
        return self._ack_reads.get_ack(ack_guid, env_code, consumer, principal, deadline)

    def list_consumers(self, request: "ListConsumersRequest", deadline: "Deadline") -> "ConsumerPage":
        return self._consumers.list_consumers(request, deadline)

    def list_notices(self, request: "ListNoticesRequest", deadline: "Deadline") -> "NoticePage":
        return self._notices.list_notices(request, deadline)

    def health(self, deadline: "Deadline") -> "HealthView":
        return self._health.get_health(deadline)

    def upsert_runtime(self, request: "UpsertRuntimeRequest", deadline: "Deadline") -> "RuntimeResult":
        return self.runtime_engine.upsert(request, deadline)

    def set_runtime_status(self, runtime_id: int, request: "RuntimeStatusRequest", deadline: "Deadline") -> "RuntimeResult":
        return self.runtime_engine.set_status(runtime_id, request, deadline)

    def freeze_runtime(self, runtime_id: int, deadline: "Deadline") -> "RuntimeResult":
        return self.runtime_engine.set_frozen(runtime_id, deadline, is_frozen=True)

    def unfreeze_runtime(self, runtime_id: int, deadline: "Deadline") -> "RuntimeResult":
        return self.runtime_engine.set_frozen(runtime_id, deadline, is_frozen=False)

    def suspend_instance(self, instance_guid: str, request: "AdminRequest", principal: str, deadline: "Deadline") -> "InstanceView":
        return self._admin.suspend_instance(instance_guid, principal, request.reason, deadline)

    def resume_instance(self, instance_guid: str, request: "AdminRequest", principal: str, deadline: "Deadline") -> "InstanceView":
        return self._admin.resume_instance(instance_guid, principal, request.reason, deadline)

    def fail_instance(self, instance_guid: str, request: "AdminRequest", principal: str, deadline: "Deadline") -> "InstanceView":
        return self._admin.fail_instance(instance_guid, principal, request.reason, deadline)

    def set_consumer_owner(self, consumer: str, request: "OwnerRequest", principal: str, deadline: "Deadline") -> "ConsumerView":
        return self._admin.set_consumer_owner(consumer, request, principal, deadline)

    def activate_version(self, def_name: str, request: "ActivateRequest", principal: str, deadline: "Deadline") -> "DefinitionVersionView":
        return self._admin.activate_version(def_name, request, principal, deadline)

    def close(self) -> None:
        self._dal.close()

    def _say_trigger_error(self, request: "LifeCycleTriggerRequest", error: Exception, deadline: "Deadline") -> None:
        keys = {"external_ref": request.external_ref, "instance_guid": request.instance_guid, "request_id": request.request_id}
        _log.error("trigger failed", extra={**keys, "error": type(error).__name__})
        notice = LifeCycleNotice(
            code=NoticeCode.TRIGGER_ERROR,
            occurred_at=self._clock.now(),
            env_code=request.env_code,
            instance_guid=request.instance_guid,
            external_ref=request.external_ref,
            data={"error": type(error).__name__, "definition": request.def_name, "event": str(request.event), "request_id": request.request_id},
        )
        if isinstance(error, StorageError):
            # Storing it would wait for the same database.
            self._publisher.publish_notices([notice], deadline)
        else:
            self._outbox.raise_notices([notice], deadline)
