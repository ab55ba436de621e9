"""The engine's components, made on first use: a function loads only what its work needs."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from workflow_engine.engine.tools import EngineTools

if TYPE_CHECKING:
    from workflow_engine.dal import WorkFlowDAL
    from workflow_engine.engine.ack_manager import AckManager
    from workflow_engine.engine.ack_outcome import AckOutcomeOrchestrator
    from workflow_engine.engine.ack_reads import AckReader
    from workflow_engine.engine.admin import AdminOrchestrator
    from workflow_engine.engine.blueprint_importer import BlueprintImporter
    from workflow_engine.engine.blueprint_manager import BlueprintManager
    from workflow_engine.engine.consumers import ConsumerManager
    from workflow_engine.engine.definitions import DefinitionReader
    from workflow_engine.engine.health import HealthReader
    from workflow_engine.engine.instances import InstanceReader
    from workflow_engine.engine.lifecycle_monitor import LifeCycleMonitor
    from workflow_engine.engine.monitor import MonitorOrchestrator
    from workflow_engine.engine.notices import NoticeReader
    from workflow_engine.engine.outbox import Outbox
    from workflow_engine.engine.policy_enforcer import PolicyEnforcer
    from workflow_engine.engine.ports import Clock, Publisher, SigningKeys, Subscriptions
    from workflow_engine.engine.runtime_engine import RuntimeEngine
    from workflow_engine.engine.state_machine import StateMachine
    from workflow_engine.engine.suspension import Suspension
    from workflow_engine.engine.timeline import TimelineReader
    from workflow_engine.engine.transition import TransitionPipeline
    from workflow_engine.engine.trigger import TriggerOrchestrator
    from workflow_engine.engine.why import WhyReader
    from workflow_engine.options import WorkFlowEngineOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class EnginePorts:
    """Everything outside the engine and its database; tests replace the first two."""

    publisher: "Publisher"
    clock: "Clock"
    subscriptions: "Subscriptions"
    signing_keys: "SigningKeys"


class EngineComponents:
    def __init__(self, dal: "WorkFlowDAL", ports: EnginePorts, options: "WorkFlowEngineOptions") -> None:
        self._dal = dal
        self._ports = ports
        self._publisher = ports.publisher
        self._clock = ports.clock
        self._options = options

    @cached_property
    def _tools(self) -> EngineTools:
        return EngineTools(dal=self._dal, blueprints=self.blueprint_manager, outbox=self._outbox, clock=self._clock, options=self._options)

    @cached_property
    def blueprint_manager(self) -> "BlueprintManager":
        from workflow_engine.engine.blueprint_manager import BlueprintManager

        return BlueprintManager(self._dal)

    @cached_property
    def blueprint_importer(self) -> "BlueprintImporter":
        from workflow_engine.engine.blueprint_importer import BlueprintImporter

        return BlueprintImporter(self._dal, self._clock)

    @cached_property
    def state_machine(self) -> "StateMachine":
        from workflow_engine.engine.state_machine import StateMachine

        return StateMachine(self._dal, self._options)

    @cached_property
    def policy_enforcer(self) -> "PolicyEnforcer":
        from workflow_engine.engine.policy_enforcer import PolicyEnforcer

        return PolicyEnforcer(self._dal, self.blueprint_manager)

    @cached_property
    def ack_manager(self) -> "AckManager":
        from workflow_engine.engine.ack_manager import AckManager

        return AckManager(self._dal, self._options)

    @cached_property
    def runtime_engine(self) -> "RuntimeEngine":
        from workflow_engine.engine.runtime_engine import RuntimeEngine

        return RuntimeEngine(self._dal, self._clock)

    @cached_property
    def life_cycle_monitor(self) -> "LifeCycleMonitor":
        from workflow_engine.engine.lifecycle_monitor import LifeCycleMonitor

        return LifeCycleMonitor(self._tools, self._monitor)

    @cached_property
    def _outbox(self) -> "Outbox":
        from workflow_engine.engine.outbox import Outbox

        return Outbox(self._dal, self._publisher, self._clock, self._options)

    @cached_property
    def _pipeline(self) -> "TransitionPipeline":
        from workflow_engine.engine.transition import TransitionPipeline

        return TransitionPipeline(self._tools, self.state_machine, self.policy_enforcer, self.ack_manager)

    @cached_property
    def _suspension(self) -> "Suspension":
        from workflow_engine.engine.suspension import Suspension

        return Suspension(self._dal, self.blueprint_manager, self._options)

    @cached_property
    def _trigger(self) -> "TriggerOrchestrator":
        from workflow_engine.engine.trigger import TriggerOrchestrator

        return TriggerOrchestrator(self._tools, self.state_machine, self.policy_enforcer, self._pipeline)

    @cached_property
    def _acks(self) -> "AckOutcomeOrchestrator":
        from workflow_engine.engine.ack_outcome import AckOutcomeOrchestrator

        return AckOutcomeOrchestrator(self._tools, self._suspension)

    @cached_property
    def _definitions(self) -> "DefinitionReader":
        from workflow_engine.engine.definitions import DefinitionReader

        return DefinitionReader(self._dal)

    @cached_property
    def _instances(self) -> "InstanceReader":
        from workflow_engine.engine.instances import InstanceReader

        return InstanceReader(self._dal, self._clock)

    @cached_property
    def _timeline(self) -> "TimelineReader":
        from workflow_engine.engine.timeline import TimelineReader

        return TimelineReader(self._dal)

    @cached_property
    def _why(self) -> "WhyReader":
        from workflow_engine.engine.why import WhyReader

        return WhyReader(self._dal, self.blueprint_manager, self._clock, self._options)

    @cached_property
    def _ack_reads(self) -> "AckReader":
        from workflow_engine.engine.ack_reads import AckReader

        return AckReader(self._dal)

    @cached_property
    def _notices(self) -> "NoticeReader":
        from workflow_engine.engine.notices import NoticeReader

        return NoticeReader(self._dal)

    @cached_property
    def _health(self) -> "HealthReader":
        from workflow_engine.engine.health import HealthReader

        return HealthReader(self._dal, self._clock, self._options, is_monitor_enabled=self._options.monitor_state == "ENABLED")

    @cached_property
    def _consumers(self) -> "ConsumerManager":
        from workflow_engine.engine.consumers import ConsumerManager, ConsumerPorts
        from workflow_engine.engine.rules.registration import EndpointLimits

        limits = EndpointLimits(accounts=self._options.endpoint_accounts, hosts=self._options.endpoint_hosts)
        ports = ConsumerPorts(subscriptions=self._ports.subscriptions, signing_keys=self._ports.signing_keys, limits=limits)
        return ConsumerManager(self._dal, self._clock, self._options, ports)

    @cached_property
    def _admin(self) -> "AdminOrchestrator":
        from workflow_engine.engine.admin import AdminOrchestrator, AdminParts

        parts = AdminParts(suspension=self._suspension, instances=self._instances, consumers=self._consumers, importer=self.blueprint_importer)
        return AdminOrchestrator(self._tools, parts)

    @cached_property
    def _monitor(self) -> "MonitorOrchestrator":
        from workflow_engine.engine.closing import Closing
        from workflow_engine.engine.monitor import MonitorJobs, MonitorOrchestrator
        from workflow_engine.engine.overdue import OverDueWatch
        from workflow_engine.engine.redispatch import Redispatch
        from workflow_engine.engine.timeouts import TimeoutWatch

        tools = self._tools
        jobs = MonitorJobs(
            overdue=OverDueWatch(tools),
            redispatch=Redispatch(tools, self._suspension, self.ack_manager),
            timeouts=TimeoutWatch(tools, self.state_machine, self._pipeline),
            closing=Closing(tools, self._suspension),
        )
        return MonitorOrchestrator(tools, jobs)
