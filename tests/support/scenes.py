"""Ready-made beginnings for flows: what is imported, who listens."""

from typing import Any

from tests.support.documents import definition_l, policy_l
from tests.support.engine import PRINCIPAL, Workbench
from workflow_engine.models.admin import AdminRequest
from workflow_engine.models.consumer import RegisterConsumerRequest
from workflow_engine.models.instance import InstanceView

Json = dict[str, Any]


def leave(bench: Workbench, *consumers: str, policy: Json | None = None) -> None:
    """L of the acceptance list with consumers that are always live; without a policy unless one is given."""
    bench.import_(definition_l(), policy)
    for consumer in consumers or ("c1",):
        bench.register(consumer)


def leave_with_hook(bench: Workbench, *consumers: str) -> None:
    """The same with L's policy: Submitted has a hook."""
    leave(bench, *consumers, policy=policy_l())


def definition_lamp() -> Json:
    """Goes on and off for as long as a test likes, and has a self-loop: Off -1-> On -2-> Off, On -3-> On, On -4-> Broken."""
    return {
        "name": "Lamp",
        "states": [{"name": "Off", "is_initial": True}, {"name": "On"}, {"name": "Broken", "is_final": True}],
        "events": [{"code": 1, "name": "Switch on"}, {"code": 2, "name": "Switch off"}, {"code": 3, "name": "Flicker"}, {"code": 4, "name": "Break"}],
        "transitions": [
            {"from": "Off", "event": 1, "to": "On"},
            {"from": "On", "event": 2, "to": "Off"},
            {"from": "On", "event": 3, "to": "On"},
            {"from": "On", "event": 4, "to": "Broken"},
        ],
    }


def policy_lamp(rules: list[Json], params: list[Json] | None = None, **more: Any) -> Json:
    return {"policy_name": "lamp.policy", "defName": "Lamp", "params": params or [], "rules": rules, **more}


def lamp(bench: Workbench, *consumers: str, policy: Json | None = None) -> None:
    bench.import_(definition_lamp(), policy)
    for consumer in consumers or ("c1",):
        bench.register(consumer)


def register_beating(bench: Workbench, consumer: str, **beat: int) -> int:
    """A consumer that has to beat: every `beat_seconds`, or within the engine's time to live where none are given."""
    request = RegisterConsumerRequest(env_code=1, consumer=consumer, definitions=["*"], kinds=["transition", "hook"], **beat)
    return bench.engine.register_consumer(request, PRINCIPAL, bench.deadline()).consumer_id


def suspend(bench: Workbench, instance_guid: str) -> InstanceView:
    return bench.engine.suspend_instance(instance_guid, AdminRequest(reason="looking into it"), PRINCIPAL, bench.deadline())


def resume(bench: Workbench, instance_guid: str) -> InstanceView:
    return bench.engine.resume_instance(instance_guid, AdminRequest(reason="all is well"), PRINCIPAL, bench.deadline())


def fail(bench: Workbench, instance_guid: str) -> InstanceView:
    return bench.engine.fail_instance(instance_guid, AdminRequest(reason="beyond repair"), PRINCIPAL, bench.deadline())
