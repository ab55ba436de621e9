"""What an import changes, decided from what is stored: a pure function, so it can run again."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from workflow_engine.engine.rules.definition_document import ROOT as DEFINITION_ROOT
from workflow_engine.engine.rules.definition_document import load_definition
from workflow_engine.engine.rules.findings import Findings, quoted
from workflow_engine.engine.rules.import_draft import DefinitionDraft, ImportDraft, PolicyDraft, draft_policy
from workflow_engine.engine.rules.machine import machine_of
from workflow_engine.engine.rules.policy_document import ROOT as POLICY_ROOT
from workflow_engine.engine.rules.versions import VersionChoice, choose_version
from workflow_engine.errors import InvalidPolicyError, NotFoundError
from workflow_engine.models.def_version import DefinitionRow, DefVersionRow, DefVersionTextRow
from workflow_engine.models.environment import EnvironmentRow
from workflow_engine.models.finding import Finding
from workflow_engine.models.new_blueprint import CategoryRow, PolicyLinkRow, PolicyTextRow

_FOR_VERSION = (*POLICY_ROOT, "for", "version")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSeen:
    """What the read packet brought; links are newest first."""

    environment: EnvironmentRow | None
    definition: DefinitionRow | None
    versions: Sequence[DefVersionRow]
    links: Sequence[PolicyLinkRow]
    newest_policy: PolicyTextRow | None = None
    active: DefVersionTextRow | None = None
    categories: Sequence[CategoryRow] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnIds:
    """The ids under which this unit writes; a row that carries one was written by an earlier attempt of it."""

    env_id: int
    definition_id: int
    def_version_id: int
    policy_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportDecision:
    """`target` is the version a policy is linked to, None for the new one; `policy_id` None is a policy not stored yet."""

    choice: VersionChoice | None
    is_new_version: bool
    target: DefVersionRow | None
    policy: PolicyDraft | None
    policy_id: int | None
    is_linked: bool
    needs_stamp: bool
    next_stamp: int
    warnings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    choice: VersionChoice | None
    is_new: bool
    row: DefVersionRow | None


def decide_import(draft: ImportDraft, seen: ImportSeen, own: OwnIds | None) -> ImportDecision:
    findings = Findings()
    if draft.definition is None:
        policy, row = _policy_alone(draft, seen, findings)
        return _decision(seen, _Target(choice=None, is_new=False, row=row), policy, (*policy.warnings, *findings.warnings))
    choice = choose_version(draft.definition.content_hash, draft.definition.document.version, seen.versions)
    is_new = choice.existing is None or (own is not None and choice.existing.def_version_id == own.def_version_id)
    _warn_version(draft, seen, choice, findings)
    carried = _carried(draft.definition, seen, findings) if is_new and draft.policy is None else None
    # The warnings of a carried policy point into a document that this request does not have.
    given = draft.policy.warnings if draft.policy else ()
    return _decision(seen, _Target(choice=choice, is_new=is_new, row=choice.existing), draft.policy or carried, (*draft.warnings, *given, *findings.warnings))


def _decision(seen: ImportSeen, target: _Target, policy: PolicyDraft | None, warnings: tuple[Finding, ...]) -> ImportDecision:
    policy_id = next((link.policy_id for link in seen.links if policy and link.content_hash == policy.content_hash), None)
    link = (target.row.def_version_id if target.row else None, policy_id)
    newest = seen.links[0] if seen.links else None
    return ImportDecision(
        choice=target.choice,
        is_new_version=target.is_new,
        target=target.row,
        policy=policy,
        policy_id=policy_id,
        is_linked=any((row.def_version_id, row.policy_id) == link for row in seen.links),
        needs_stamp=policy is not None and (newest is None or (newest.def_version_id, newest.policy_id) != link),
        next_stamp=newest.stamp + 1 if newest else 1,
        warnings=warnings,
    )


def _warn_version(draft: ImportDraft, seen: ImportSeen, choice: VersionChoice, findings: Findings) -> None:
    active_id = seen.definition.active_version_id if seen.definition else None
    if choice.is_other:
        findings.warning("VERSION_IGNORED", DEFINITION_ROOT, f"this content is version {choice.version} already; the version given has no effect")
    if choice.existing is not None and choice.existing.def_version_id != active_id:
        active = next((row.version for row in seen.versions if row.def_version_id == active_id), None)
        findings.warning("VERSION_NOT_ACTIVE", DEFINITION_ROOT, f"version {choice.version} exists but version {active} is active; activate it to use it")
    if draft.policy is not None and draft.for_version not in (None, choice.version):
        findings.warning("OTHER_VERSION", _FOR_VERSION, f"the policy is linked to version {choice.version}, which came with it")


def _carried(definition: DefinitionDraft, seen: ImportSeen, findings: Findings) -> PolicyDraft | None:
    """The newest policy goes on for a new version, if it fits."""
    newest = seen.newest_policy
    if newest is None:
        return None
    try:
        return draft_policy(json.loads(newest.document), definition.machine)
    except InvalidPolicyError as error:
        first = error.errors[0]
        what = f"{first.code} at {first.pointer}: {first.message}"
        findings.warning(
            "NEEDS_POLICY", DEFINITION_ROOT, f"policy {quoted(newest.policy_name)} does not fit this version, which has none now; import one ({what})"
        )
        return None


def _policy_alone(draft: ImportDraft, seen: ImportSeen, findings: Findings) -> tuple[PolicyDraft, DefVersionRow]:
    """A policy without a definition beside it is judged by, and linked to, the active version: new instances get the policy imported last."""
    target = next((row for row in seen.versions if seen.active and row.def_version_id == seen.active.def_version_id), None)
    if seen.active is None or target is None:
        raise NotFoundError("definition", f"the policy is for a definition that environment {draft.request.env_code} does not have")
    policy = draft_policy(draft.request.policy, machine_of(load_definition(seen.active.document)))
    if draft.for_version not in (None, target.version):
        is_known = any(row.version == draft.for_version for row in seen.versions)
        code, what = ("OTHER_VERSION", "is not active") if is_known else ("UNKNOWN_VERSION", "does not exist")
        findings.warning(code, _FOR_VERSION, f"version {draft.for_version} {what}; the policy is linked to version {target.version}, which is active")
    return policy, target
