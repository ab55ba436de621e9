"""Short ways to read a document in a test, and to follow a finding's pointer."""

from typing import Any

from workflow_engine.engine.rules.definition_document import parse_definition
from workflow_engine.engine.rules.findings import Findings
from workflow_engine.engine.rules.machine import Machine, machine_of
from workflow_engine.engine.rules.policy_document import parse_policy
from workflow_engine.models.definition import DefinitionDocument
from workflow_engine.models.finding import Finding
from workflow_engine.models.policy import PolicyDocument


def read_definition(value: Any) -> tuple[DefinitionDocument | None, list[Finding]]:
    findings = Findings()
    return parse_definition(value, findings), [*findings.errors, *findings.warnings]


def read_policy(value: Any, definition: Any) -> tuple[PolicyDocument | None, list[Finding]]:
    findings = Findings()
    return parse_policy(value, machine(definition), findings), [*findings.errors, *findings.warnings]


def machine(definition: Any) -> Machine:
    document, findings = read_definition(definition)
    assert document is not None, findings
    return machine_of(document)


def told(findings: list[Finding]) -> list[tuple[str, str]]:
    """What was found and where, without the words."""
    return [(finding.code, finding.pointer) for finding in findings]


def follow(root: Any, pointer: str) -> Any:
    """The value that a JSON pointer names; raises when there is none."""
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        root = root[int(key)] if isinstance(root, list) else root[key]
    return root
