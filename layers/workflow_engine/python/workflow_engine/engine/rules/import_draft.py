"""An import as far as it can be judged without the database."""

from dataclasses import dataclass

from pydantic import JsonValue

from workflow_engine.engine.rules.canonical import author_json
from workflow_engine.engine.rules.definition_document import definition_hash, parse_definition
from workflow_engine.engine.rules.document_limits import is_storable_text
from workflow_engine.engine.rules.findings import Findings
from workflow_engine.engine.rules.machine import Machine, machine_of
from workflow_engine.engine.rules.names import name_key
from workflow_engine.engine.rules.policy_document import ROOT as POLICY_ROOT
from workflow_engine.engine.rules.policy_document import parse_policy, policy_hash, policy_target, resolved_text
from workflow_engine.errors import ErrorItem, InvalidDefinitionError, InvalidPolicyError
from workflow_engine.models.definition import DefinitionDocument
from workflow_engine.models.finding import Finding
from workflow_engine.models.imports import ImportRequest
from workflow_engine.models.policy import PolicyDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyDraft:
    """A policy that was found good for a definition; `text` is the author's."""

    document: PolicyDocument
    content_hash: str
    text: str
    resolved: str
    warnings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionDraft:
    document: DefinitionDocument
    machine: Machine
    content_hash: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportDraft:
    """`policy` is None when there is none, or when it is for a definition that must be read first."""

    request: ImportRequest
    def_key: str
    definition: DefinitionDraft | None
    policy: PolicyDraft | None
    for_version: int | None
    warnings: tuple[Finding, ...]


def draft_import(request: ImportRequest) -> ImportDraft:
    """Refuse what is wrong in itself; everything wrong in either document is told at once."""
    findings = Findings()
    definition = parse_definition(request.definition, findings) if request.definition is not None else None
    def_name, for_version = policy_target(request.policy)
    if request.definition is not None and definition is None:
        _look_at_policy(request, findings)
        raise InvalidDefinitionError("the definition cannot be imported", _items(findings))
    if definition is None and (def_name is None or not is_storable_text(def_name)):
        _look_at_policy(request, findings)
        if def_name is None and isinstance(request.policy, dict):
            findings.error("MISSING_KEY", POLICY_ROOT, "the policy does not say which definition it is for (for.definition)")
        raise InvalidPolicyError("the policy cannot be imported", _items(findings))
    drafted = _draft_definition(definition, request.definition) if definition else None
    policy = draft_policy(request.policy, drafted.machine) if drafted and request.policy is not None else None
    key = definition.key if definition else name_key(def_name or "")
    return ImportDraft(request=request, def_key=key, definition=drafted, policy=policy, for_version=for_version, warnings=findings.warnings)


def draft_policy(value: JsonValue, machine: Machine) -> PolicyDraft:
    """The policy as it is for this definition, or InvalidPolicyError with everything that is wrong with it."""
    findings = Findings()
    document = parse_policy(value, machine, findings)
    if document is None:
        raise InvalidPolicyError("the policy cannot be imported", _items(findings))
    return PolicyDraft(
        document=document, content_hash=policy_hash(document), text=author_json(value), resolved=resolved_text(document), warnings=findings.warnings
    )


def _draft_definition(document: DefinitionDocument, value: JsonValue) -> DefinitionDraft:
    return DefinitionDraft(document=document, machine=machine_of(document), content_hash=definition_hash(document), text=author_json(value))


def _look_at_policy(request: ImportRequest, findings: Findings) -> None:
    """Without a definition only what the policy says of itself can be judged."""
    if request.policy is not None:
        parse_policy(request.policy, None, findings)


def _items(findings: Findings) -> tuple[ErrorItem, ...]:
    return tuple(ErrorItem(pointer=finding.pointer, code=finding.code, message=finding.message) for finding in findings.errors)
