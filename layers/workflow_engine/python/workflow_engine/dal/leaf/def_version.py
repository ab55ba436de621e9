"""Statements of `def_version`, and of what belongs to a version: `state`, `events`, `transition`."""

from collections.abc import Sequence
from datetime import datetime

from workflow_engine.dal.packet import Query, Statement, bulk, query, statement
from workflow_engine.models.def_version import DefVersionListRow, DefVersionRow, DefVersionTextRow
from workflow_engine.models.new_blueprint import NewDefVersion, NewEvent, NewState, NewTransition
from workflow_engine.queries.def_version import QRY_DEF_VERSION
from workflow_engine.queries.events import QRY_EVENTS
from workflow_engine.queries.state import QRY_STATE
from workflow_engine.queries.transition import QRY_TRANSITION

# More than anyone will import of one definition.
MOST_VERSIONS = 100_000


class DefVersionDAL:
    def list_by_key(self, env_code: int, def_key: str) -> Query[DefVersionRow]:
        return query(QRY_DEF_VERSION.LIST_BY_KEY, DefVersionRow, ENV_CODE=env_code, DEF_KEY=def_key, TAKE=MOST_VERSIONS)

    def get_active_text_by_key(self, env_code: int, def_key: str) -> Query[DefVersionTextRow]:
        return query(QRY_DEF_VERSION.GET_ACTIVE_TEXT_BY_KEY, DefVersionTextRow, ENV_CODE=env_code, DEF_KEY=def_key)

    def list_by_key_paged(self, env_code: int, def_key: str, before_version: int, take: int) -> Query[DefVersionListRow]:
        return query(QRY_DEF_VERSION.LIST_BY_KEY_PAGED, DefVersionListRow, ENV_CODE=env_code, DEF_KEY=def_key, BEFORE_VERSION=before_version, TAKE=take)

    def insert(self, new: NewDefVersion, now: datetime) -> Statement:
        return statement(
            QRY_DEF_VERSION.INSERT,
            DEF_VERSION_ID=new.def_version_id,
            DEFINITION_ID=new.definition_id,
            DEF_VERSION=new.version,
            CONTENT_HASH=new.content_hash,
            DOCUMENT=new.document,
            NOW=now,
        )


class StateDAL:
    def insert(self, def_version_id: int, rows: Sequence[NewState]) -> Statement:
        return bulk(
            QRY_STATE.INSERT,
            [
                {
                    "STATE_ID": row.state_id,
                    "DEF_VERSION_ID": def_version_id,
                    "CATEGORY_ID": row.category_id,
                    "STATE_NAME": row.name,
                    "STATE_KEY": row.name_key,
                    "STATE_FLAGS": row.flags,
                }
                for row in rows
            ],
        )


class EventsDAL:
    def insert(self, def_version_id: int, rows: Sequence[NewEvent]) -> Statement:
        return bulk(
            QRY_EVENTS.INSERT,
            [
                {"EVENT_ID": row.event_id, "DEF_VERSION_ID": def_version_id, "EVENT_CODE": row.code, "EVENT_NAME": row.name, "EVENT_KEY": row.name_key}
                for row in rows
            ],
        )


class TransitionDAL:
    def insert(self, def_version_id: int, rows: Sequence[NewTransition]) -> Statement:
        return bulk(
            QRY_TRANSITION.INSERT,
            [
                {
                    "TRANSITION_ID": row.transition_id,
                    "DEF_VERSION_ID": def_version_id,
                    "FROM_STATE_ID": row.from_state_id,
                    "TO_STATE_ID": row.to_state_id,
                    "EVENT_ID": row.event_id,
                    "TRANSITION_FLAGS": row.flags,
                }
                for row in rows
            ],
        )
