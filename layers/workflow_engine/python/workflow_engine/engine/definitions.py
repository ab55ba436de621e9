"""Reads of definitions and their versions."""

import json
from typing import TYPE_CHECKING

from workflow_engine.engine.rules.cursors import NameKey, name_cursor, name_key_of
from workflow_engine.engine.rules.names import name_key
from workflow_engine.errors import NotFoundError
from workflow_engine.models.def_version import (
    DefinitionDetail,
    DefinitionList,
    DefinitionListRow,
    DefinitionVersionList,
    DefinitionVersionView,
    DefinitionView,
    DefVersionListRow,
)
from workflow_engine.models.imports import ImportFinding

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, Deadline, WorkFlowDAL

_DEFINITIONS = "definitions"
_VERSIONS = "versions"
_BEFORE_ALL = -1
_ABOVE_ALL = 2_147_483_648


class DefinitionReader:
    def __init__(self, dal: "WorkFlowDAL") -> None:
        self._dal = dal

    def list_definitions(self, env_code: int | None, limit: int, cursor: str | None, deadline: "Deadline") -> DefinitionList:
        """Definitions by environment and name; of all environments when none is given."""
        after = name_key_of(_DEFINITIONS, cursor) or NameKey(group_id=0, name="")
        leaf = self._dal.definition
        if env_code is not None:
            wanted = leaf.list_by_env_paged(env_code, after.name, limit + 1)
        else:
            wanted = leaf.list_paged((after.group_id if cursor else _BEFORE_ALL, after.name), limit + 1)
        rows = self._dal.run_reading(deadline, lambda load: self._dal.read(load, wanted)[0])
        last = rows[limit - 1] if len(rows) > limit else None
        return DefinitionList(
            items=[_view(row) for row in rows[:limit]],
            cursor=name_cursor(_DEFINITIONS, NameKey(group_id=last.env_code, name=last.name_key)) if last else None,
        )

    def get_definition(self, env_code: int, def_name: str, deadline: "Deadline") -> DefinitionDetail:
        """The active version with its document, and the policy that new instances get."""
        key = name_key(def_name)

        def unit(load: "DbExecutionLoad") -> DefinitionDetail:
            dal = self._dal
            heads, texts, policies = dal.read(
                load,
                dal.definition.get_active_by_key(env_code, key),
                dal.def_version.get_active_text_by_key(env_code, key),
                dal.policy.get_current_by_key(env_code, key),
            )
            if not heads or not texts:
                raise _unknown(env_code)
            policy = policies[0] if policies else None
            return DefinitionDetail(
                **_view(heads[0]).model_dump(),
                document=json.loads(texts[0].document),
                policy_name=policy.policy_name if policy else None,
                policy=json.loads(policy.document) if policy else None,
                policy_warnings=[ImportFinding(**warning) for warning in json.loads(policy.warnings)] if policy else [],
            )

        return self._dal.run_reading(deadline, unit)

    def list_versions(self, env_code: int, def_name: str, limit: int, cursor: str | None, deadline: "Deadline") -> DefinitionVersionList:
        """Versions, newest first, each with the policy that its instances would get."""
        key, place = name_key(def_name), name_key_of(_VERSIONS, cursor)
        wanted = self._dal.def_version.list_by_key_paged(env_code, key, place.group_id if place else _ABOVE_ALL, limit + 1)
        rows = self._dal.run_reading(deadline, lambda load: self._dal.read(load, wanted)[0])
        if not rows and place is None:
            raise _unknown(env_code)
        last = rows[limit - 1] if len(rows) > limit else None
        return DefinitionVersionList(
            items=[_version_view(row) for row in rows[:limit]],
            cursor=name_cursor(_VERSIONS, NameKey(group_id=last.version, name=key)) if last else None,
        )


def _unknown(env_code: int) -> NotFoundError:
    return NotFoundError("definition", f"environment {env_code} has no such definition")


def _view(row: DefinitionListRow) -> DefinitionView:
    return DefinitionView(
        definition_id=row.definition_id,
        env_code=row.env_code,
        name=row.def_name,
        description=row.description,
        version=row.version,
        def_version_id=row.def_version_id,
        hash=row.content_hash,
        policy_hash=row.policy_hash,
        created=row.created,
    )


def _version_view(row: DefVersionListRow) -> DefinitionVersionView:
    return DefinitionVersionView(
        version=row.version,
        def_version_id=row.def_version_id,
        hash=row.content_hash,
        active=row.def_version_id == row.active_version_id,
        policy_hash=row.policy_hash,
        created=row.created,
    )
