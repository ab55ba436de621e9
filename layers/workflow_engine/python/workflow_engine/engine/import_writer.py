"""An import decision as the statements of one write packet."""

import json
from typing import TYPE_CHECKING

from workflow_engine.engine.rules.import_rows import version_rows
from workflow_engine.models.def_version import DefinitionRow
from workflow_engine.models.environment import EnvironmentRow
from workflow_engine.models.imports import ImportFinding
from workflow_engine.models.new_blueprint import NewDefVersion, NewPolicy

if TYPE_CHECKING:
    from datetime import datetime

    from workflow_engine.dal import Statement, UnitIds, WorkFlowDAL
    from workflow_engine.engine.rules.import_decision import ImportDecision, ImportSeen, OwnIds
    from workflow_engine.engine.rules.import_draft import ImportDraft, PolicyDraft

    Unit = tuple[OwnIds, UnitIds, datetime]


class ImportWriter:
    def __init__(self, dal: "WorkFlowDAL") -> None:
        self._dal = dal

    def statements(self, draft: "ImportDraft", seen: "ImportSeen", decision: "ImportDecision", unit: "Unit") -> "list[Statement]":
        """Parents first; empty when everything is there already."""
        packet = self._environment(draft, seen, unit)
        definition_id = seen.definition.definition_id if seen.definition else unit[0].definition_id
        if draft.definition is not None:
            packet += self._definition(draft, seen, decision, unit)
            if decision.target is None:
                packet += self._version(draft, seen, decision, (definition_id, unit))
        if decision.policy is not None:
            packet += self._policy(decision.policy, decision, (definition_id, unit))
        return packet

    def _environment(self, draft: "ImportDraft", seen: "ImportSeen", unit: "Unit") -> "list[Statement]":
        own, _, now = unit
        request, found = draft.request, seen.environment
        name = request.env_name.strip() if request.env_name else None
        if found is None:
            return [self._dal.environment.insert(EnvironmentRow(env_id=own.env_id, env_code=request.env_code, env_name=name or str(request.env_code)), now)]
        if name is not None and name != found.env_name:
            return [self._dal.environment.update_name(found.env_id, name)]
        return []

    def _definition(self, draft: "ImportDraft", seen: "ImportSeen", decision: "ImportDecision", unit: "Unit") -> "list[Statement]":
        own, _, now = unit
        document, found = draft.definition.document if draft.definition else None, seen.definition
        if document is None:
            return []
        if found is None:
            env_id = seen.environment.env_id if seen.environment else own.env_id
            row = DefinitionRow(
                definition_id=own.definition_id, env_id=env_id, def_name=document.name, description=document.description, active_version_id=own.def_version_id
            )
            return [self._dal.definition.insert(row, document.key, now)]
        packet: list[Statement] = []
        if document.description is not None and document.description != found.description:
            packet.append(self._dal.definition.update_description(found.definition_id, document.description))
        if decision.target is None:
            packet.append(self._dal.definition.update_active(found.definition_id, own.def_version_id))
        return packet

    def _version(self, draft: "ImportDraft", seen: "ImportSeen", decision: "ImportDecision", where: "tuple[int, Unit]") -> "list[Statement]":
        definition_id, (own, ids, now) = where
        if draft.definition is None or decision.choice is None:
            return []
        dal, version_id = self._dal, own.def_version_id
        rows = version_rows(draft.definition.document, seen.categories, ids.next_id)
        new = NewDefVersion(
            def_version_id=version_id,
            definition_id=definition_id,
            version=decision.choice.version,
            content_hash=draft.definition.content_hash,
            document=draft.definition.text,
        )
        packet = [dal.def_version.insert(new, now)]
        packet += [dal.category.insert(rows.categories)] if rows.categories else []
        packet.append(dal.state.insert(version_id, rows.states))
        packet += [dal.events.insert(version_id, rows.events)] if rows.events else []
        packet += [dal.transition.insert(version_id, rows.transitions)] if rows.transitions else []
        packet += [dal.timeouts.insert((version_id, None), rows.timeouts)] if rows.timeouts else []
        return packet

    def _policy(self, policy: "PolicyDraft", decision: "ImportDecision", where: "tuple[int, Unit]") -> "list[Statement]":
        definition_id, (own, ids, now) = where
        packet: list[Statement] = []
        policy_id = decision.policy_id
        if policy_id is None:
            policy_id = own.policy_id
            packet += self._new_policy(policy, definition_id, (own, ids, now))
        link = (decision.target.def_version_id if decision.target else own.def_version_id, policy_id)
        if decision.is_linked:
            packet += [self._dal.def_policy.update_stamp(link, decision.next_stamp)] if decision.needs_stamp else []
        else:
            packet.append(self._dal.def_policy.insert(link, decision.next_stamp, now))
        return packet

    def _new_policy(self, policy: "PolicyDraft", definition_id: int, unit: "Unit") -> "list[Statement]":
        own, ids, now = unit
        warnings = [ImportFinding(code=found.code, pointer=found.pointer, message=found.message).model_dump() for found in policy.warnings]
        new = NewPolicy(
            policy_id=own.policy_id,
            definition_id=definition_id,
            policy_name=policy.document.name,
            content_hash=policy.content_hash,
            document=policy.text,
            resolved=policy.resolved,
            warnings=json.dumps(warnings),
        )
        packet = [self._dal.policy.insert(new, now)]
        timeouts = [(ids.next_id(), timeout) for timeout in policy.document.timeouts]
        return packet + ([self._dal.timeouts.insert((None, own.policy_id), timeouts)] if timeouts else [])
