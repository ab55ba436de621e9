"""BlueprintImporter: definition and policy JSON become rows, in one transaction (guidelines 4.2)."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from workflow_engine.engine.import_writer import ImportWriter
from workflow_engine.engine.rules.activation import Activation, decide_activation
from workflow_engine.engine.rules.import_decision import ImportDecision, ImportSeen, OwnIds, decide_import
from workflow_engine.engine.rules.import_draft import DefinitionDraft, ImportDraft, draft_import
from workflow_engine.engine.rules.import_rows import category_keys
from workflow_engine.engine.rules.names import name_key
from workflow_engine.models.imports import ImportedDefinition, ImportedPolicy, ImportFinding, ImportOutcome, ImportRequest, ImportResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workflow_engine.dal import DbExecutionLoad, Deadline, Statement, UnitIds, WorkFlowDAL
    from workflow_engine.engine.ports import Clock

Row = TypeVar("Row")
# The unit itself, environment, definition, version and policy.
_FIXED_IDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedActivation:
    """What an activation writes, for the packet that also carries its audit row."""

    activation: Activation
    statements: "list[Statement]"


class BlueprintImporter:
    def __init__(self, dal: "WorkFlowDAL", clock: "Clock") -> None:
        self._dal = dal
        self._clock = clock
        self._writer = ImportWriter(dal)

    def import_blueprint(self, request: ImportRequest, deadline: "Deadline") -> ImportResult:
        """Check, then write the environment, definition, version and policy that are not there yet; a dry run only says what it would do."""
        draft = draft_import(request)
        reserve = 0 if request.dry_run else _ids_needed(draft)
        ids = self._dal.unit_ids()
        return self._dal.run(deadline, partial(self._import, draft, ids), reserve)

    def activate(self, load: "DbExecutionLoad", env_code: int, def_name: str, version: int) -> PlannedActivation:
        """Read and decide what makes a version the active one; its policy becomes the definition's newest. The caller writes."""
        key, dal = name_key(def_name), self._dal
        definitions, versions, links = dal.read(
            load, dal.definition.lock_by_key(env_code, key), dal.def_version.list_by_key(env_code, key), dal.def_policy.list_by_key(env_code, key)
        )
        activation = decide_activation(definitions[0] if definitions else None, versions, links, version)
        statements = [dal.definition.update_active(activation.definition_id, activation.view.def_version_id)]
        if activation.policy_id is not None:
            statements.append(dal.def_policy.update_stamp((activation.view.def_version_id, activation.policy_id), activation.stamp))
        return PlannedActivation(activation=activation, statements=statements)

    def _import(self, draft: ImportDraft, ids: "UnitIds", load: "DbExecutionLoad") -> ImportResult:
        own = None if draft.request.dry_run else _own_ids(ids)
        seen = self._read(load, draft)
        decision = decide_import(draft, seen, own)
        if own is not None:
            statements = self._writer.statements(draft, seen, decision, (own, ids, self._clock.now()))
            if statements:
                self._dal.write(load, statements)
        return _answer(draft, seen, decision, own)

    def _read(self, load: "DbExecutionLoad", draft: ImportDraft) -> ImportSeen:
        return self._read_for_definition(load, draft, draft.definition) if draft.definition else self._read_for_policy(load, draft)

    def _read_for_definition(self, load: "DbExecutionLoad", draft: ImportDraft, definition: DefinitionDraft) -> ImportSeen:
        dal, env_code, key = self._dal, draft.request.env_code, draft.def_key
        # The lock comes first: what is read after it cannot change before the commit.
        locked, versions, links, newest, environments, categories = dal.read(
            load,
            dal.definition.lock_by_key(env_code, key),
            dal.def_version.list_by_key(env_code, key),
            dal.def_policy.list_by_key(env_code, key),
            dal.policy.get_newest_by_key(env_code, key),
            dal.environment.get_by_code(env_code),
            dal.category.list_by_keys(category_keys(definition.document)),
        )
        return ImportSeen(
            definition=_first(locked), versions=versions, links=links, newest_policy=_first(newest), environment=_first(environments), categories=categories
        )

    def _read_for_policy(self, load: "DbExecutionLoad", draft: ImportDraft) -> ImportSeen:
        dal, env_code, key = self._dal, draft.request.env_code, draft.def_key
        locked, versions, links, environments, active = dal.read(
            load,
            dal.definition.lock_by_key(env_code, key),
            dal.def_version.list_by_key(env_code, key),
            dal.def_policy.list_by_key(env_code, key),
            dal.environment.get_by_code(env_code),
            dal.def_version.get_active_text_by_key(env_code, key),
        )
        return ImportSeen(definition=_first(locked), versions=versions, links=links, environment=_first(environments), active=_first(active))


def _first(rows: "Sequence[Row]") -> "Row | None":
    return rows[0] if rows else None


def _own_ids(ids: "UnitIds") -> OwnIds:
    ids.rewind()
    return OwnIds(env_id=ids.next_id(), definition_id=ids.next_id(), def_version_id=ids.next_id(), policy_id=ids.next_id())


def _ids_needed(draft: ImportDraft) -> int:
    """A state needs at most itself, a category, its own timeout and its policy's."""
    given = draft.request.policy.get("timeouts") if isinstance(draft.request.policy, dict) else None
    count = _FIXED_IDS + (len(given) if isinstance(given, list) else 0)
    if draft.definition is not None:
        document = draft.definition.document
        count += 4 * len(document.states) + len(document.events) + len(document.transitions)
    return count


def _answer(draft: ImportDraft, seen: ImportSeen, decision: ImportDecision, own: OwnIds | None) -> ImportResult:
    return ImportResult(
        dry_run=draft.request.dry_run,
        definition=_imported_definition(draft, seen, decision, own),
        policy=_imported_policy(decision, own),
        warnings=[ImportFinding(code=found.code, pointer=found.pointer, message=found.message) for found in decision.warnings],
    )


def _imported_definition(draft: ImportDraft, seen: ImportSeen, decision: ImportDecision, own: OwnIds | None) -> ImportedDefinition | None:
    if draft.definition is None or decision.choice is None:
        return None
    return ImportedDefinition(
        definition_id=seen.definition.definition_id if seen.definition else own.definition_id if own else None,
        def_version_id=decision.target.def_version_id if decision.target else own.def_version_id if own else None,
        name=seen.definition.def_name if seen.definition else draft.definition.document.name,
        version=decision.choice.version,
        hash=draft.definition.content_hash,
        result=_outcome(is_new=decision.is_new_version),
    )


def _imported_policy(decision: ImportDecision, own: OwnIds | None) -> ImportedPolicy | None:
    if decision.policy is None:
        return None
    policy_id = decision.policy_id if decision.policy_id is not None else own.policy_id if own else None
    is_new = decision.policy_id is None or (own is not None and decision.policy_id == own.policy_id)
    return ImportedPolicy(policy_id=policy_id, name=decision.policy.document.name, hash=decision.policy.content_hash, result=_outcome(is_new=is_new))


def _outcome(*, is_new: bool) -> ImportOutcome:
    return "created" if is_new else "unchanged"
