"""Which rule an arrival means, and what it brings along."""

from collections.abc import Iterable

from pydantic import JsonValue

from workflow_engine.models.policy import PolicyDocument, PolicyRule


def choose_rule(policy: PolicyDocument, to_state_key: str, event_code: int) -> PolicyRule | None:
    """Exactly one rule per arrival: one with this `via` beats a generic one, the first of equals wins."""
    generic: PolicyRule | None = None
    for rule in policy.rules:
        if rule.state_key != to_state_key:
            continue
        if rule.via == event_code:
            return rule
        if rule.via is None and generic is None:
            generic = rule
    return generic


def resolve_params(policy: PolicyDocument, codes: Iterable[str]) -> list[dict[str, JsonValue]]:
    """The params that a rule or a hook names, in its order, with the author's data."""
    return [{"code": code, "data": policy.params[code]} for code in codes]
