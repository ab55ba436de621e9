"""What a policy must be like for its definition, and how its references become codes."""

import json
from dataclasses import dataclass, field

from workflow_engine.engine.rules.document_limits import MAX_PARAMS_BYTES
from workflow_engine.engine.rules.findings import Findings, Path, quoted
from workflow_engine.engine.rules.machine import Machine
from workflow_engine.engine.rules.policy_emits import GATE
from workflow_engine.engine.rules.policy_reader import PolicyDraft, RuleDraft, TimeoutDraft
from workflow_engine.engine.rules.policy_refs import Ref


@dataclass(slots=True)
class PolicyChecks:
    """The checks of one policy; without a machine only what the policy says of itself is looked at."""

    machine: Machine | None
    draft: PolicyDraft
    findings: Findings
    sizes: dict[str, int] = field(default_factory=dict[str, int])

    def run(self) -> None:
        for rule in self.draft.rules:
            self._check_rule(rule)
        self._check_timeouts()
        if self.machine is not None:
            self._warn_rules(self.machine)

    def code(self, ref: Ref | None) -> int | None:
        """The code that a reference means; None for none, or for a name that cannot be known."""
        if ref is None:
            return None
        event = self.machine.events.find(ref.value) if self.machine else None
        if event is not None:
            return event.code
        return ref.value if isinstance(ref.value, int) else None

    def _check_rule(self, rule: RuleDraft) -> None:
        is_known = self._check_state(rule.state_key, rule.state)
        self._check_event(rule.via)
        self._check_params(rule.params, rule.path)
        owners = [(rule.on_success, rule.on_failure), *((emit.on_success, emit.on_failure) for emit in rule.emits)]
        for ref in (ref for pair in owners for ref in pair if ref is not None):
            if self._check_event(ref) and is_known:
                self._check_exit(rule.state_key, ref, "COMPLETION_NOT_LEGAL")
        for emit in rule.emits:
            self._check_params(emit.params or (), emit.path)
            if emit.type == GATE and emit.on_failure is None:
                self.findings.warning("GATE_WITHOUT_FAILURE_PATH", emit.path, f"the gate {quoted(emit.route)} names no event for its failure")

    def _check_timeouts(self) -> None:
        seen: set[str] = set()
        for timeout in self.draft.timeouts:
            if timeout.state_key in seen:
                self.findings.error("DUPLICATE_TIMEOUT", timeout.state.path, f"{quoted(str(timeout.state.value))} has two timeouts")
            seen.add(timeout.state_key)
            if self._check_state(timeout.state_key, timeout.state):
                self._check_timeout(timeout)

    def _check_timeout(self, timeout: TimeoutDraft) -> None:
        if self.machine is not None and self.machine.states[timeout.state_key].is_final:
            self.findings.warning("TIMEOUT_ON_FINAL_STATE", timeout.state.path, "an instance in a final state never times out")
        event = timeout.keys.event
        ref = Ref(value=event, path=timeout.keys.path) if event is not None else None
        if ref is not None and self._check_event(ref):
            self._check_exit(timeout.state_key, ref, "TIMEOUT_EVENT_NOT_LEGAL")

    def _check_state(self, state_key: str, ref: Ref) -> bool:
        if self.machine is None or state_key in self.machine.states:
            return True
        self.findings.error("UNKNOWN_STATE", ref.path, f"the definition has no state {quoted(str(ref.value))}")
        return False

    def _check_event(self, ref: Ref | None) -> bool:
        if ref is None or self.machine is None or self.machine.events.find(ref.value) is not None:
            return True
        self.findings.error("UNKNOWN_EVENT", ref.path, f"the definition has no event {quoted(str(ref.value))}")
        return False

    def _check_exit(self, state_key: str, ref: Ref, finding: str) -> None:
        code = self.code(ref)
        if self.machine is not None and code is not None and (state_key, code) not in self.machine.exits:
            name = self.machine.states[state_key].name
            self.findings.error(finding, ref.path, f"event {code} does not leave {quoted(name)}")

    def _check_params(self, refs: tuple[Ref, ...], path: Path) -> None:
        for ref in refs:
            if ref.value not in self.draft.params:
                self.findings.error("UNKNOWN_PARAM", ref.path, f"the policy has no param {quoted(str(ref.value))}")
        if sum(self._size(str(ref.value)) for ref in refs) > MAX_PARAMS_BYTES:
            self.findings.error("PARAMS_TOO_LARGE", path, f"an event carries its params; together they may take {MAX_PARAMS_BYTES:,} bytes as ASCII JSON")

    def _size(self, code: str) -> int:
        """How much a param adds to an event: SNS takes none that is over 256 KiB, and resending would not help."""
        if code not in self.sizes:
            self.sizes[code] = len(json.dumps({"code": code, "data": self.draft.params.get(code)}))
        return self.sizes[code]

    def _warn_rules(self, machine: Machine) -> None:
        """Warn of rules that no arrival can choose: a dead `via`, a repetition, a generic rule whose events all have their own."""
        own: dict[str, set[int | None]] = {}
        for rule in self.draft.rules:
            own.setdefault(rule.state_key, set()).add(self.code(rule.via))
        seen: set[tuple[str, int | None]] = set()
        for rule in self.draft.rules:
            arrivals, via = machine.arrivals.get(rule.state_key), self.code(rule.via)
            if arrivals is None or (rule.via is not None and machine.events.find(rule.via.value) is None):
                continue
            if rule.via is not None and via not in arrivals:
                self.findings.warning("DEAD_VIA", rule.via.path, f"event {via} never leads to {quoted(str(rule.state.value))}")
            elif (rule.state_key, via) in seen:
                self.findings.warning("RULE_NEVER_MATCHES", rule.path, "an earlier rule has the same state and via")
            elif via is None and arrivals <= own[rule.state_key]:
                self.findings.warning("RULE_NEVER_MATCHES", rule.path, "nothing arrives here that has no rule of its own")
            seen.add((rule.state_key, via))
