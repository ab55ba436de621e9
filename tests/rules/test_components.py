"""Guidelines 4: the components and their methods, under their snake_case names."""

import importlib
import re
from dataclasses import dataclass

import pytest

from tests.rules.source import PACKAGE, ROOT, Violation, classes_of, in_package, obey

PLACES = {
    "WorkFlowDAL": "dal.workflow_dal",
    "DbExecutionLoad": "dal.load",
    "BlueprintImporter": "engine.blueprint_importer",
    "BlueprintManager": "engine.blueprint_manager",
    "StateMachine": "engine.state_machine",
    "PolicyEnforcer": "engine.policy_enforcer",
    "AckManager": "engine.ack_manager",
    "AckOutcomeOrchestrator": "engine.ack_outcome",
    "ConsumerManager": "engine.consumers",
    "HealthReader": "engine.health",
    "LifeCycleMonitor": "engine.lifecycle_monitor",
    "RuntimeEngine": "engine.runtime_engine",
    "WorkFlowEngine": "engine.workflow_engine",
    "WorkFlowEngineOptions": "options",
    "LifeCycleTriggerRequest": "models.trigger",
    "LifeCycleNotice": "models.notice",
    "ApplyTransitionResult": "engine.state_machine",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """What the guidelines call it, where it is, and what stands in its place where a decision replaced it."""

    component: str
    guideline: str
    name: str
    why: str = ""


def method(component, guideline, name, why=""):
    return Method(component=component, guideline=guideline, name=name, why=why)


METHODS = (
    method("WorkFlowDAL", "4.1 CreateNewTransaction", "begin", "opening and beginning are one, and leaving the block rolls back"),
    method("WorkFlowDAL", "1.3 Commit", "write", "the write packet carries its COMMIT"),
    method("BlueprintImporter", "4.2 import in one transaction", "import_blueprint"),
    method("BlueprintManager", "4.3 latest by (env_code, def_name)", "get_blueprint_latest"),
    method("BlueprintManager", "4.3 by def_version_id", "get_blueprint_by_version_id"),
    method("BlueprintManager", "4.3 invalidation", "invalidate"),
    method("ConsumerManager", "4.3 EnsureConsumerIdAsync", "ensure_consumer_id", "consumers have a manager of their own (ADR 0020)"),
    method("ConsumerManager", "4.3 BeatConsumerAsync", "beat_consumer", "consumers have a manager of their own (ADR 0020)"),
    method("StateMachine", "3.2 EnsureInstanceAsync", "ensure_instance"),
    method("StateMachine", "3.2 ApplyTransitionAsync", "apply_transition"),
    method("PolicyEnforcer", "4.5 ResolvePolicyAsync", "resolve_policy"),
    method("PolicyEnforcer", "4.5 ResolvePolicyByIdAsync", "resolve_policy_by_id"),
    method("PolicyEnforcer", "4.5 ResolveRuleContextFromJson", "resolve_rule_context_from_json"),
    method("PolicyEnforcer", "4.5 ResolveHookContextFromJson", "resolve_hook_context_from_json"),
    method("PolicyEnforcer", "4.5 EmitHooksAsync", "emit_hooks"),
    method("AckManager", "3.2 CreateLifecycleAckAsync", "create_lifecycle_ack"),
    method("AckManager", "3.2 CreateHookAckAsync", "create_hook_ack"),
    method("AckManager", "4.6 EnsureConsumersInsertOnlyAsync", "ensure_consumers_insert_only"),
    method("AckManager", "4.6 ListDueLifecycleDispatchAsync, ListDueHookDispatchAsync", "list_due_dispatch", "a seq goes out whole (ADR 0020)"),
    method("HealthReader", "4.6 CountDueLifecycleDispatchAsync, CountDueHookDispatchAsync", "get_health", "health counts what is due (ADR 0020)"),
    method("AckOutcomeOrchestrator", "4.6 MarkRetryAsync", "ack", "the outcome Retry goes the way of every other (ADR 0020)"),
    method("LifeCycleMonitor", "4.7 periodic timer", "run", "EventBridge is the timer; a run makes the passes of a minute"),
    method("LifeCycleMonitor", "4.7 RunOnceAsync", "run_once"),
    method("WorkFlowEngine", "4.8 TriggerAsync", "trigger"),
    method("WorkFlowEngine", "4.8 AckAsync", "ack"),
    method("WorkFlowEngine", "4.8 RegisterConsumerAsync", "register_consumer"),
    method("WorkFlowEngine", "4.8 BeatConsumerAsync", "beat_consumer"),
    method("WorkFlowEngine", "4.8 InvalidateAsync", "invalidate"),
    method("WorkFlowEngine", "4.7 RunMonitorOnceInternalAsync", "run_monitor_once"),
    method("WorkFlowEngine", "4.8 StartMonitorAsync, StopMonitorAsync", "run_monitor", "the schedule is switched on and off (template parameter MonitorState)"),
    method("WorkFlowEngine", "4.8 GetTimelineJsonAsync", "get_timeline_json"),
    method("WorkFlowEngine", "4.8 UpsertRuntimeAsync", "upsert_runtime"),
    method("WorkFlowEngine", "4.8 SetRuntimeStatusAsync", "set_runtime_status"),
    method("WorkFlowEngine", "4.8 FreezeRuntimeAsync", "freeze_runtime"),
    method("WorkFlowEngine", "4.8 UnfreezeRuntimeAsync", "unfreeze_runtime"),
    method("WorkFlowEngine", "4.8 DisposeAsync", "close", "what is awaited in C# is closed here"),
    method("RuntimeEngine", "4.9 UpsertAsync", "upsert"),
    method("RuntimeEngine", "4.9 SetStatusAsync", "set_status"),
    method("RuntimeEngine", "4.9 SetFrozenAsync", "set_frozen"),
    *(
        method("WorkFlowEngine", "4.8 owns its components", name)
        for name in ("blueprint_manager", "blueprint_importer", "state_machine", "policy_enforcer", "ack_manager", "runtime_engine", "life_cycle_monitor")
    ),
)


def component(name):
    return getattr(importlib.import_module(f"workflow_engine.{PLACES[name]}"), name)


def missing(methods):
    for one in methods:
        if not hasattr(component(one.component), one.name):
            path = f"{PACKAGE}/{PLACES[one.component].replace('.', '/')}.py"
            yield Violation(
                path=path,
                line=1,
                message=f"{one.component}.{one.name} is missing (guidelines {one.guideline}); add it, or name here what a decision put in its place",
            )


@pytest.mark.parametrize("name", PLACES)
def test_a_component_keeps_the_name_of_the_guidelines(name):
    assert component(name).__name__ == name
    assert [module.name for module in in_package() for kind in classes_of(module.tree) if kind.name == name] == [f"workflow_engine.{PLACES[name]}"]


def test_every_method_that_the_guidelines_name_exists_on_its_component():
    obey("methods that the guidelines name exist under their snake_case names (guidelines 4)", missing(METHODS))


def test_a_decision_that_replaced_a_method_is_written_down():
    cited = {number for one in METHODS for number in re.findall(r"ADR (\d{4})", one.why)}
    assert cited <= {path.name[:4] for path in (ROOT / "docs/adr").glob("*.md")}, "docs/adr lacks a decision that stands in for a method"


def test_a_missing_method_is_found():
    (found,) = missing([method("WorkFlowEngine", "9.9 FlyAsync", "fly"), method("WorkFlowEngine", "4.8 TriggerAsync", "trigger")])
    assert "WorkFlowEngine.fly is missing (guidelines 9.9 FlyAsync)" in found.message
