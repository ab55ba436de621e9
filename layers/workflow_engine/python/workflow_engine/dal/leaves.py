"""The leaves of WorkFlowDAL as attributes, loaded on first use: a function pays for the tables it touches."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workflow_engine.dal.leaf.ack import AckDAL
    from workflow_engine.dal.leaf.ack_consumer import AckConsumerDAL
    from workflow_engine.dal.leaf.ack_view import AckViewDAL
    from workflow_engine.dal.leaf.admin_audit import AdminAuditDAL
    from workflow_engine.dal.leaf.blueprint import BlueprintDAL
    from workflow_engine.dal.leaf.category import CategoryDAL
    from workflow_engine.dal.leaf.consumer import ConsumerDAL
    from workflow_engine.dal.leaf.def_version import DefVersionDAL, EventsDAL, StateDAL, TransitionDAL
    from workflow_engine.dal.leaf.definition import DefinitionDAL
    from workflow_engine.dal.leaf.dispatch import DispatchDAL
    from workflow_engine.dal.leaf.due import DueDAL
    from workflow_engine.dal.leaf.environment import EnvironmentDAL
    from workflow_engine.dal.leaf.health import HealthDAL
    from workflow_engine.dal.leaf.hook import HookDAL
    from workflow_engine.dal.leaf.id_block import IdBlockDAL
    from workflow_engine.dal.leaf.instance import InstanceDAL
    from workflow_engine.dal.leaf.instance_view import InstanceViewDAL
    from workflow_engine.dal.leaf.lc_timeout import LcTimeoutDAL
    from workflow_engine.dal.leaf.lifecycle import LifecycleDAL
    from workflow_engine.dal.leaf.monitor_lease import MonitorLeaseDAL
    from workflow_engine.dal.leaf.notice import NoticeDAL
    from workflow_engine.dal.leaf.policy import DefPolicyDAL, PolicyDAL, TimeoutsDAL
    from workflow_engine.dal.leaf.request_log import RequestLogDAL
    from workflow_engine.dal.leaf.runtime import RuntimeDAL
    from workflow_engine.dal.leaf.subscription import SubscriptionDAL
    from workflow_engine.dal.leaf.timeline import TimelineDAL
    from workflow_engine.dal.leaf.why import WhyDAL


class LeafDALs:
    @cached_property
    def ack(self) -> "AckDAL":
        from workflow_engine.dal.leaf.ack import AckDAL

        return AckDAL()

    @cached_property
    def ack_consumer(self) -> "AckConsumerDAL":
        from workflow_engine.dal.leaf.ack_consumer import AckConsumerDAL

        return AckConsumerDAL()

    @cached_property
    def ack_view(self) -> "AckViewDAL":
        from workflow_engine.dal.leaf.ack_view import AckViewDAL

        return AckViewDAL()

    @cached_property
    def admin_audit(self) -> "AdminAuditDAL":
        from workflow_engine.dal.leaf.admin_audit import AdminAuditDAL

        return AdminAuditDAL()

    @cached_property
    def blueprint(self) -> "BlueprintDAL":
        from workflow_engine.dal.leaf.blueprint import BlueprintDAL

        return BlueprintDAL()

    @cached_property
    def category(self) -> "CategoryDAL":
        from workflow_engine.dal.leaf.category import CategoryDAL

        return CategoryDAL()

    @cached_property
    def consumer(self) -> "ConsumerDAL":
        from workflow_engine.dal.leaf.consumer import ConsumerDAL

        return ConsumerDAL()

    @cached_property
    def def_policy(self) -> "DefPolicyDAL":
        from workflow_engine.dal.leaf.policy import DefPolicyDAL

        return DefPolicyDAL()

    @cached_property
    def def_version(self) -> "DefVersionDAL":
        from workflow_engine.dal.leaf.def_version import DefVersionDAL

        return DefVersionDAL()

    @cached_property
    def definition(self) -> "DefinitionDAL":
        from workflow_engine.dal.leaf.definition import DefinitionDAL

        return DefinitionDAL()

    @cached_property
    def dispatch(self) -> "DispatchDAL":
        from workflow_engine.dal.leaf.dispatch import DispatchDAL

        return DispatchDAL()

    @cached_property
    def due(self) -> "DueDAL":
        from workflow_engine.dal.leaf.due import DueDAL

        return DueDAL()

    @cached_property
    def environment(self) -> "EnvironmentDAL":
        from workflow_engine.dal.leaf.environment import EnvironmentDAL

        return EnvironmentDAL()

    @cached_property
    def events(self) -> "EventsDAL":
        from workflow_engine.dal.leaf.def_version import EventsDAL

        return EventsDAL()

    @cached_property
    def health(self) -> "HealthDAL":
        from workflow_engine.dal.leaf.health import HealthDAL

        return HealthDAL()

    @cached_property
    def hook(self) -> "HookDAL":
        from workflow_engine.dal.leaf.hook import HookDAL

        return HookDAL()

    @cached_property
    def id_block(self) -> "IdBlockDAL":
        from workflow_engine.dal.leaf.id_block import IdBlockDAL

        return IdBlockDAL()

    @cached_property
    def instance(self) -> "InstanceDAL":
        from workflow_engine.dal.leaf.instance import InstanceDAL

        return InstanceDAL()

    @cached_property
    def instance_view(self) -> "InstanceViewDAL":
        from workflow_engine.dal.leaf.instance_view import InstanceViewDAL

        return InstanceViewDAL()

    @cached_property
    def lc_timeout(self) -> "LcTimeoutDAL":
        from workflow_engine.dal.leaf.lc_timeout import LcTimeoutDAL

        return LcTimeoutDAL()

    @cached_property
    def lifecycle(self) -> "LifecycleDAL":
        from workflow_engine.dal.leaf.lifecycle import LifecycleDAL

        return LifecycleDAL()

    @cached_property
    def monitor_lease(self) -> "MonitorLeaseDAL":
        from workflow_engine.dal.leaf.monitor_lease import MonitorLeaseDAL

        return MonitorLeaseDAL()

    @cached_property
    def notice(self) -> "NoticeDAL":
        from workflow_engine.dal.leaf.notice import NoticeDAL

        return NoticeDAL()

    @cached_property
    def policy(self) -> "PolicyDAL":
        from workflow_engine.dal.leaf.policy import PolicyDAL

        return PolicyDAL()

    @cached_property
    def request_log(self) -> "RequestLogDAL":
        from workflow_engine.dal.leaf.request_log import RequestLogDAL

        return RequestLogDAL()

    @cached_property
    def runtime(self) -> "RuntimeDAL":
        from workflow_engine.dal.leaf.runtime import RuntimeDAL

        return RuntimeDAL()

    @cached_property
    def state(self) -> "StateDAL":
        from workflow_engine.dal.leaf.def_version import StateDAL

        return StateDAL()

    @cached_property
    def subscription(self) -> "SubscriptionDAL":
        from workflow_engine.dal.leaf.subscription import SubscriptionDAL

        return SubscriptionDAL()

    @cached_property
    def timeline(self) -> "TimelineDAL":
        from workflow_engine.dal.leaf.timeline import TimelineDAL

        return TimelineDAL()

    @cached_property
    def timeouts(self) -> "TimeoutsDAL":
        from workflow_engine.dal.leaf.policy import TimeoutsDAL

        return TimeoutsDAL()

    @cached_property
    def transition(self) -> "TransitionDAL":
        from workflow_engine.dal.leaf.def_version import TransitionDAL

        return TransitionDAL()

    @cached_property
    def why(self) -> "WhyDAL":
        from workflow_engine.dal.leaf.why import WhyDAL

        return WhyDAL()
