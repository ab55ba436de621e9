"""BlueprintManager: definition versions and policies as the engine uses them, cached because they never change."""

from typing import TYPE_CHECKING, Any

from workflow_engine.engine.rules.names import name_key
from workflow_engine.engine.rules.policy_document import load_policy
from workflow_engine.errors import NotFoundError
from workflow_engine.models.blueprint import AttachedPolicy, DefinitionRef, LifeCycleBlueprint

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, WorkFlowDAL

# A sandbox that sees more than this many starts over rather than grow without end.
_MAX_CACHED = 2_000


class BlueprintManager:
    """Nothing here can go stale: a version, a policy and the meaning of (env, name) are fixed once committed.

    Which version is the latest is read in the packet of each trigger that may need it, so an import is seen at once.
    """

    def __init__(self, dal: "WorkFlowDAL") -> None:
        self._dal = dal
        self._definitions: dict[tuple[int, str], DefinitionRef] = {}
        self._blueprints: dict[int, LifeCycleBlueprint] = {}
        self._policies: dict[tuple[int, int | None], AttachedPolicy] = {}

    def definition(self, load: "DbExecutionLoad", env_code: int, def_name: str) -> DefinitionRef:
        """Return what (env, name) means; an unknown definition is not remembered as unknown."""
        key = (env_code, name_key(def_name))
        if key not in self._definitions:
            found = self._dal.first(load, self._dal.blueprint.get_definition(*key))
            if found is None:
                raise NotFoundError("definition", f"no definition '{def_name}' in environment {env_code}; import it first")
            _make_room(self._definitions)
            self._definitions[key] = found
        return self._definitions[key]

    def get_blueprint_by_version_id(self, load: "DbExecutionLoad", def_version_id: int) -> LifeCycleBlueprint:
        """Return the version's blueprint; a load that fails leaves nothing behind, so the next caller tries again."""
        if def_version_id not in self._blueprints:
            blueprint = self._load(load, def_version_id)
            _make_room(self._blueprints)
            self._blueprints[def_version_id] = blueprint
        return self._blueprints[def_version_id]

    def get_blueprint_latest(self, load: "DbExecutionLoad", env_code: int, def_name: str) -> LifeCycleBlueprint:
        definition = self.definition(load, env_code, def_name)
        latest = self._dal.first(load, self._dal.blueprint.get_latest(definition.definition_id))
        if latest is None or latest.def_version_id is None:
            raise NotFoundError("definition", f"definition '{def_name}' has no version yet")
        return self.get_blueprint_by_version_id(load, latest.def_version_id)

    def attached_policy(self, load: "DbExecutionLoad", blueprint: LifeCycleBlueprint, policy_id: int | None) -> AttachedPolicy:
        """Return the policy pinned to an instance of this version, with the timeouts that hold for it."""
        key = (blueprint.def_version_id, policy_id)
        if key not in self._policies:
            policy = self._load_policy(load, blueprint, policy_id)
            _make_room(self._policies)
            self._policies[key] = policy
        return self._policies[key]

    def invalidate(self) -> None:
        self._definitions.clear()
        self._blueprints.clear()
        self._policies.clear()

    def _load(self, load: "DbExecutionLoad", def_version_id: int) -> LifeCycleBlueprint:
        leaf = self._dal.blueprint
        versions, states, events, edges, timeouts = self._dal.read(
            load,
            leaf.get_version(def_version_id),
            leaf.list_states(def_version_id),
            leaf.list_events(def_version_id),
            leaf.list_edges(def_version_id),
            leaf.list_timeouts_by_version(def_version_id),
        )
        if not versions:
            raise NotFoundError("definition", f"no definition version {def_version_id}")
        head = versions[0]
        return LifeCycleBlueprint(
            definition_id=head.definition_id,
            def_version_id=head.def_version_id,
            env_id=head.env_id,
            env_code=head.env_code,
            def_name=head.def_name,
            name_key=head.name_key,
            version=head.version,
            states={state.state_id: state for state in states},
            events={event.event_id: event for event in events},
            events_by_code={event.code: event for event in events},
            events_by_key={event.name_key: event for event in events},
            edges={(edge.from_state_id, edge.event_id): edge for edge in edges},
            timeouts={row.state_key: row.rule() for row in timeouts},
            initial_state=next(state for state in states if state.is_initial),
        )

    def _load_policy(self, load: "DbExecutionLoad", blueprint: LifeCycleBlueprint, policy_id: int | None) -> AttachedPolicy:
        if policy_id is None:
            return AttachedPolicy(policy_id=None, policy_hash=None, document=None, timeouts=blueprint.timeouts)
        rows, timeouts = self._dal.read(load, self._dal.blueprint.get_policy(policy_id), self._dal.blueprint.list_timeouts_by_policy(policy_id))
        if not rows:
            raise NotFoundError("definition", f"no policy {policy_id}")
        overridden = {**blueprint.timeouts, **{row.state_key: row.rule() for row in timeouts}}
        return AttachedPolicy(policy_id=policy_id, policy_hash=rows[0].policy_hash, document=load_policy(rows[0].resolved), timeouts=overridden)


def _make_room(cache: dict[Any, Any]) -> None:
    if len(cache) >= _MAX_CACHED:
        cache.clear()
