"""Statements of `policy`, `def_policy` and `timeouts`."""

from collections.abc import Sequence
from datetime import datetime

from workflow_engine.dal.packet import Query, Statement, bulk, query, statement
from workflow_engine.models.new_blueprint import NewPolicy, PolicyLinkRow, PolicyTextRow
from workflow_engine.models.policy import TimeoutRule
from workflow_engine.queries.def_policy import QRY_DEF_POLICY
from workflow_engine.queries.policy import QRY_POLICY
from workflow_engine.queries.timeouts import QRY_TIMEOUTS

# More than anyone will import for one definition.
MOST_LINKS = 100_000


class PolicyDAL:
    def get_newest_by_key(self, env_code: int, def_key: str) -> Query[PolicyTextRow]:
        return query(QRY_POLICY.GET_NEWEST_BY_KEY, PolicyTextRow, ENV_CODE=env_code, DEF_KEY=def_key)

    def get_current_by_key(self, env_code: int, def_key: str) -> Query[PolicyTextRow]:
        return query(QRY_POLICY.GET_CURRENT_BY_KEY, PolicyTextRow, ENV_CODE=env_code, DEF_KEY=def_key)

    def insert(self, new: NewPolicy, now: datetime) -> Statement:
        return statement(
            QRY_POLICY.INSERT,
            POLICY_ID=new.policy_id,
            DEFINITION_ID=new.definition_id,
            POLICY_NAME=new.policy_name,
            CONTENT_HASH=new.content_hash,
            DOCUMENT=new.document,
            RESOLVED=new.resolved,
            WARNINGS=new.warnings,
            NOW=now,
        )


class DefPolicyDAL:
    def list_by_key(self, env_code: int, def_key: str) -> Query[PolicyLinkRow]:
        return query(QRY_DEF_POLICY.LIST_BY_KEY, PolicyLinkRow, ENV_CODE=env_code, DEF_KEY=def_key, TAKE=MOST_LINKS)

    def insert(self, link: tuple[int, int], stamp: int, now: datetime) -> Statement:
        return statement(QRY_DEF_POLICY.INSERT, DEF_VERSION_ID=link[0], POLICY_ID=link[1], STAMP=stamp, NOW=now)

    def update_stamp(self, link: tuple[int, int], stamp: int) -> Statement:
        return statement(QRY_DEF_POLICY.UPDATE_STAMP, DEF_VERSION_ID=link[0], POLICY_ID=link[1], STAMP=stamp)


class TimeoutsDAL:
    def insert(self, owner: tuple[int | None, int | None], rows: Sequence[tuple[int, TimeoutRule]]) -> Statement:
        """Write the timeouts of a version (def_version_id, None) or of a policy (None, policy_id), each under its id."""
        return bulk(
            QRY_TIMEOUTS.INSERT,
            [
                {
                    "TIMEOUT_ID": timeout_id,
                    "DEF_VERSION_ID": owner[0],
                    "POLICY_ID": owner[1],
                    "STATE_NAME": row.state_name,
                    "STATE_KEY": row.state_key,
                    "DURATION_MINUTES": row.duration_minutes,
                    "TIMEOUT_MODE": int(row.is_repeat),
                    "EVENT_CODE": row.event_code,
                    "MAX_RETRY": row.max_retry,
                }
                for timeout_id, row in rows
            ],
        )
