"""PolicyEnforcer: reads the attached policy; what it finds becomes params, completion codes and hooks. No business logic."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workflow_engine.engine.rules.policy_rules import choose_rule, resolve_params
from workflow_engine.models.policy import PolicyDocument, PolicyEmit, PolicyRule
from workflow_engine.models.transition import NewHook

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, Query, UnitIds, WorkFlowDAL
    from workflow_engine.engine.blueprint_manager import BlueprintManager
    from workflow_engine.models.blueprint import AttachedPolicy, LatestVersionRow, LifeCycleBlueprint


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleContext:
    """What a transition event carries from its rule; a hook's context replaces it as a whole."""

    params: list[dict[str, Any]]
    on_success: int | None
    on_failure: int | None


_NO_CONTEXT = RuleContext(params=[], on_success=None, on_failure=None)


class PolicyEnforcer:
    def __init__(self, dal: "WorkFlowDAL", blueprints: "BlueprintManager") -> None:
        self._dal = dal
        self._blueprints = blueprints

    def resolve_policy(self, definition_id: int) -> "Query[LatestVersionRow]":
        """What a new instance of the definition is pinned to: the active version and its newest policy."""
        return self._dal.blueprint.get_latest(definition_id)

    def resolve_policy_by_id(self, load: "DbExecutionLoad", blueprint: "LifeCycleBlueprint", policy_id: int | None) -> "AttachedPolicy":
        return self._blueprints.attached_policy(load, blueprint, policy_id)

    def resolve_rule_context_from_json(self, policy: PolicyDocument | None, to_state_key: str, event_code: int) -> RuleContext:
        """Guidelines 4.5: params and completion codes of the one rule that holds for this arrival."""
        rule = choose_rule(policy, to_state_key, event_code) if policy else None
        if policy is None or rule is None:
            return _NO_CONTEXT
        return RuleContext(params=resolve_params(policy, rule.params), on_success=rule.on_success, on_failure=rule.on_failure)

    def resolve_hook_context_from_json(self, policy: PolicyDocument, rule: PolicyRule, emit: PolicyEmit) -> RuleContext:
        """A hook's own params replace the rule's; the rule's completion codes never reach a hook."""
        codes = rule.params if emit.params is None else emit.params
        return RuleContext(params=resolve_params(policy, codes), on_success=emit.on_success, on_failure=emit.on_failure)

    def emit_hooks(self, policy: PolicyDocument | None, to_state_key: str, event_code: int, ids: "UnitIds") -> list[NewHook]:
        """Derive the hooks of this arrival, in the author's order; nothing is sent here."""
        rule = choose_rule(policy, to_state_key, event_code) if policy else None
        if policy is None or rule is None:
            return []
        return [self._hook(policy, rule, emit, position, ids.next_id()) for position, emit in enumerate(rule.emits)]

    def _hook(self, policy: PolicyDocument, rule: PolicyRule, emit: PolicyEmit, position: int, hook_id: int) -> NewHook:
        context = self.resolve_hook_context_from_json(policy, rule, emit)
        return NewHook(
            hook_id=hook_id,
            position=position,
            route=emit.route,
            label=emit.label,
            on_entry=emit.on_entry,
            hook_type=emit.type,
            order=emit.order,
            group=emit.group,
            ack_mode=emit.ack_mode,
            send=emit.send,
            not_before=emit.not_before,
            deadline=emit.deadline,
            on_success=context.on_success,
            on_failure=context.on_failure,
            params=context.params,
        )
