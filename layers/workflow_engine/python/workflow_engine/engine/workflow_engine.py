"""WorkFlowEngine: the public surface; every method delegates. Components are made on first use, so a function loads only what it needs."""

import logging
from functools import cached_property
from typing import TYPE_CHECKING

from workflow_engine.errors import StorageError
from workflow_engine.models.enums import NoticeCode
from workflow_engine.models.notice import LifeCycleNotice

if TYPE_CHECKING:
    from workflow_engine.dal import Deadline, WorkFlowDAL
    from workflow_engine.engine.ack_manager import AckManager
    from workflow_engine.engine.ack_outcome import AckOutcomeOrchestrator
    from workflow_engine.engine.blueprint_importer import BlueprintImporter
    from workflow_engine.engine.blueprint_manager import BlueprintManager
    from workflow_engine.engine.consumers import ConsumerManager
    from workflow_engine.engine.lifecycle_monitor import LifeCycleMonitor
    from workflow_engine.engine.monitor import MonitorOrchestrator
    from workflow_engine.engine.outbox import Outbox
    from workflow_engine.engine.policy_enforcer import PolicyEnforcer
    from workflow_engine.engine.ports import Clock, Publisher, SigningKeys, Subscriptions
    from workflow_engine.engine.state_machine import StateMachine
    from workflow_engine.engine.suspension import Suspension
    from workflow_engine.engine.transition import TransitionPipeline
    from workflow_engine.engine.trigger import TriggerOrchestrator
    from workflow_engine.models.ack import AckAnswer, AckBatchAnswer, AckRequest
    from workflow_engine.models.consumer import ConsumerDeletion, ConsumerRegistration, HeartbeatRequest, HeartbeatResult, RegisterConsumerRequest
    from workflow_engine.models.monitor import MonitorReport
    from workflow_engine.models.imports import ImportRequest, ImportResult
    from workflow_engine.models.trigger import LifeCycleTriggerRequest, LifeCycleTriggerResult
    from workflow_engine.options import WorkFlowEngineOptions

_log = logging.getLogger(__name__)


class WorkFlowEngine:
    def __init__(self, dal: "WorkFlowDAL", publisher: "Publisher", clock: "Clock", options: "WorkFlowEngineOptions", subscriptions: "Subscriptions", signing_keys: "SigningKeys") -> None:  # noqa: PLR0917
        self._dal = dal
        self._publisher = publisher
        self._clock = clock
        self._options = options
        self._subscriptions = subscriptions
        self._signing_keys = signing_keys

    def trigger(self, request: "LifeCycleTriggerRequest", deadline: "Deadline") -> "LifeCycleTriggerResult":
        """Raise an event (guidelines 3.1); whatever breaks is said, also with the database down."""
        try:
            return self._trigger.trigger(request, deadline)
        except StorageError as error:
            self._say_trigger_error(request, error, deadline)
            raise
        except Exception as error:
            if not hasattr(error, "code") or getattr(error, "code", None) == "INTERNAL":
                self._say_trigger_error(request, error, deadline)
            raise

    def ack(self, request: "AckRequest", principal: str, deadline: "Deadline") -> "AckAnswer | AckBatchAnswer":
        return self._acks.ack(request, principal, deadline)

    def run_monitor_once(self, deadline: "Deadline") -> "MonitorReport":
        """One pass, whatever the lease."""
        return self._monitor.run_monitor_once(deadline)

    def run_monitor(self, deadline: "Deadline") -> "MonitorReport":
        """Passes at their interval until the minute is over, if the lease is to be had."""
        return self.life_cycle_monitor.run(deadline)

    def import_blueprint(self, request: "ImportRequest", deadline: "Deadline") -> "ImportResult":
        result = self.blueprint_importer.import_blueprint(request, deadline)
        self.invalidate()
        return result

    def register_consumer(self, request: "RegisterConsumerRequest", principal: str, deadline: "Deadline") -> "ConsumerRegistration":
        return self._consumers.register_consumer(request, principal, deadline)

    def beat_consumer(self, request: "HeartbeatRequest", principal: str, deadline: "Deadline") -> "HeartbeatResult":
        return self._consumers.beat_consumer(request, principal, deadline)

    def delete_consumer(self, env_code: int, consumer: str, principal: str, deadline: "Deadline") -> "ConsumerDeletion":
        from workflow_engine.models.consumer import ConsumerKey

        return self._consumers.delete_consumer(ConsumerKey(env_code=env_code, consumer=consumer), principal, deadline)

    def invalidate(self) -> None:
        """Forget cached blueprints."""
        self.blueprint_manager.invalidate()

    def close(self) -> None:
        self._dal.close()

    def _say_trigger_error(self, request: "LifeCycleTriggerRequest", error: Exception, deadline: "Deadline") -> None:
        _log.error("trigger failed", extra={"external_ref": request.external_ref, "instance_guid": request.instance_guid, "request_id": request.request_id, "error": type(error).__name__})
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
            self._publisher.publish_notices([notice])
        else:
            self._outbox.raise_notices([notice], deadline)

    @cached_property
    def blueprint_manager(self) -> "BlueprintManager":
        from workflow_engine.engine.blueprint_manager import BlueprintManager

        return BlueprintManager(self._dal)

    @cached_property
    def state_machine(self) -> "StateMachine":
        from workflow_engine.engine.state_machine import StateMachine

        return StateMachine(self._dal, self._options)

    @cached_property
    def policy_enforcer(self) -> "PolicyEnforcer":
        from workflow_engine.engine.policy_enforcer import PolicyEnforcer

        return PolicyEnforcer(self.blueprint_manager)

    @cached_property
    def ack_manager(self) -> "AckManager":
        from workflow_engine.engine.ack_manager import AckManager

        return AckManager(self._dal, self._options)

    @cached_property
    def blueprint_importer(self) -> "BlueprintImporter":
        from workflow_engine.engine.blueprint_importer import BlueprintImporter

        return BlueprintImporter(self._dal, self._clock)

    @cached_property
    def _consumers(self) -> "ConsumerManager":
        from workflow_engine.engine.consumers import ConsumerManager, ConsumerPorts
        from workflow_engine.engine.rules.registration import EndpointLimits

        limits = EndpointLimits(accounts=self._options.endpoint_accounts, hosts=self._options.endpoint_hosts)
        return ConsumerManager(self._dal, self._clock, self._options, ConsumerPorts(subscriptions=self._subscriptions, signing_keys=self._signing_keys, limits=limits))

    @cached_property
    def _outbox(self) -> "Outbox":
        from workflow_engine.engine.outbox import Outbox

        return Outbox(self._dal, self._publisher, self._clock, self._options)

    @cached_property
    def _pipeline(self) -> "TransitionPipeline":
        from workflow_engine.engine.transition import TransitionPipeline

        return TransitionPipeline(self._dal, self.state_machine, self.policy_enforcer, self.ack_manager, self._options)

    @cached_property
    def _suspension(self) -> "Suspension":
        from workflow_engine.engine.suspension import Suspension

        return Suspension(self._dal, self.blueprint_manager, self._options)

    @cached_property
    def _trigger(self) -> "TriggerOrchestrator":
        from workflow_engine.engine.trigger import TriggerOrchestrator

        return TriggerOrchestrator(self._dal, self.blueprint_manager, self.state_machine, self.policy_enforcer, self._pipeline, self._outbox, self._clock)

    @cached_property
    def _monitor(self) -> "MonitorOrchestrator":
        from workflow_engine.engine.closing import Closing
        from workflow_engine.engine.monitor import MonitorOrchestrator
        from workflow_engine.engine.overdue import OverDueWatch
        from workflow_engine.engine.redispatch import Redispatch
        from workflow_engine.engine.timeouts import TimeoutWatch

        dal, blueprints, outbox, clock, options = self._dal, self.blueprint_manager, self._outbox, self._clock, self._options
        jobs = (
            OverDueWatch(dal, blueprints, outbox, clock, options),
            Redispatch(dal, self._suspension, outbox, clock, options),
            TimeoutWatch(dal, blueprints, self.state_machine, self._pipeline, outbox, clock, options),
            Closing(dal, self._suspension, clock, options),
        )
        return MonitorOrchestrator(dal, jobs, outbox, clock, options)

    @cached_property
    def life_cycle_monitor(self) -> "LifeCycleMonitor":
        from workflow_engine.engine.lifecycle_monitor import LifeCycleMonitor

        return LifeCycleMonitor(self._dal, self._monitor, self._clock, self._options)

    @cached_property
    def _acks(self) -> "AckOutcomeOrchestrator":
        from workflow_engine.engine.ack_outcome import AckOutcomeOrchestrator

        return AckOutcomeOrchestrator(self._dal, self._suspension, self._outbox, self._clock, self._options)
