"""What each placeholder means: one value, one spelling, whatever the table (guidelines 1.5)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.rules.constants import Constant
from tests.rules.source import Violation
from tests.rules.sql_text import meetings


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """A value, the columns it lies in (`*` for any table), its spelling, and what else may be asked of it (lists, keysets, before and after)."""

    spelling: str
    columns: frozenset[str]
    also: frozenset[str] = field(default_factory=frozenset[str])

    @property
    def spellings(self) -> frozenset[str]:
        return self.also | {self.spelling}

    def holds(self, column: str) -> bool:
        return column in self.columns or f"*.{column.rpartition('.')[2]}" in self.columns


def _meaning(spelling: str, columns: str, also: str = "") -> Meaning:
    return Meaning(spelling=spelling, columns=frozenset(columns.split()), also=frozenset(also.split()))


# The engine's time may be compared with every column that holds one, and stored in it.
TIME = "NOW"
MEANINGS = (
    _meaning("INSTANCE_ID", "instance.id *.instance_id", "INSTANCE_IDS AFTER_INSTANCE_ID BEFORE_INSTANCE_ID"),
    _meaning("INSTANCE_GUID", "instance.guid *.instance_guid"),
    _meaning("EXTERNAL_REF", "*.external_ref", "REF_FROM REF_TO"),
    _meaning("FLAGS", "instance.flags", "FROM_FLAGS"),
    _meaning("SEQ", "*.seq", "FROM_SEQ AFTER_SEQ"),
    _meaning("LIFECYCLE_ID", "lifecycle.id *.lifecycle_id", "NO_LIFECYCLE"),
    _meaning("STAY_ID", "*.stay_id"),
    _meaning("HOOK_ID", "hook.id *.hook_id"),
    _meaning("REQUEST_ID", "*.request_id"),
    _meaning("CONSUMER_ID", "consumer.id *.consumer_id", "CONSUMER_IDS"),
    _meaning("CONSUMER", "consumer.consumer_guid *.consumer", "AFTER_CONSUMER"),
    _meaning("DELETED_ID", "consumer.deleted_id", "NOT_DELETED"),
    _meaning("OWNER", "consumer.owner", "NEW_OWNER PRINCIPAL"),
    _meaning("ACK_ID", "ack.id *.ack_id consumer.closed_ack_id", "ACK_IDS AFTER_ACK_ID CLOSED_ACK_ID FIRST_ACK_ID"),
    _meaning("ACK_GUID", "ack.guid *.ack_guid", "ACK_GUIDS"),
    _meaning("ACK_STATUS", "ack_consumer.status", "HELD PENDING DELIVERED FAILED PARKED SUSPENDING"),
    _meaning("SENDS", "ack_consumer.sends", "CLAIMED_SENDS"),
    _meaning("NEXT_DUE", "ack_consumer.next_due instance.state_due_at", "STATE_DUE_AT AFTER_DUE CLAIMED_DUE"),
    _meaning("DEFINITION_ID", "definition.id *.definition_id", "DEFINITION_IDS"),
    _meaning("DEF_KEY", "definition.name_key *.definition_key", "AFTER_DEF_KEY ANY_KEY"),
    _meaning("DEF_VERSION_ID", "def_version.id *.def_version_id definition.active_version"),
    _meaning("DEF_VERSION", "def_version.version", "BEFORE_VERSION"),
    _meaning("POLICY_ID", "policy.id *.policy_id"),
    _meaning("ENV_ID", "environment.id *.env_id", "AFTER_ENV_ID"),
    _meaning("ENV_CODE", "environment.code *.env_code", "AFTER_ENV_CODE"),
    _meaning("STATE_ID", "state.id *.state_id *.current_state *.from_state *.to_state", "FROM_STATE_ID TO_STATE_ID"),
    _meaning("STATE_KEY", "state.name_key *.state_key"),
    _meaning("STATE_NAME", "state.name *.state_name"),
    _meaning("EVENT_ID", "events.id *.event_id instance.last_event"),
    _meaning("EVENT_CODE", "events.code *.event_code"),
    _meaning("CATEGORY_ID", "category.id *.category_id"),
    _meaning("CATEGORY_KEY", "category.name_key", "CATEGORY_KEYS"),
    _meaning("NOTICE_ID", "notice.id", "BEFORE_NOTICE_ID"),
    _meaning("NOTICE_CODE", "notice.code", "NOTICE_CODES"),
    _meaning("OCCURRED_AT", "*.occurred_at", "BEFORE"),
    _meaning("BEFORE_CREATED", "instance.created"),
)


def misspelt(constants: Sequence[Constant]) -> Iterator[Violation]:
    """A column with a meaning meets that meaning's spellings alone, these meet no other column, and any other column meets one spelling."""
    first: dict[str, tuple[str, str]] = {}
    for constant in constants:
        for column, name in meetings(constant.sql):
            if name == TIME:
                continue
            problem = _wrong_spelling(column, name) or _wrong_column(column, name) or _second_spelling(column, name, first, constant)
            if problem:
                yield constant.says(problem)


def _wrong_spelling(column: str, name: str) -> str | None:
    meaning = next((one for one in MEANINGS if one.holds(column)), None)
    return f"{column} is called {meaning.spelling}, not {name}" if meaning and name not in meaning.spellings else None


def _wrong_column(column: str, name: str) -> str | None:
    meaning = next((one for one in MEANINGS if name in one.spellings), None)
    return f"{name} means {meaning.spelling}, which {column} does not hold" if meaning and not meaning.holds(column) else None


def _second_spelling(column: str, name: str, first: dict[str, tuple[str, str]], constant: Constant) -> str | None:
    if any(one.holds(column) for one in MEANINGS):
        return None
    spelling, where = first.setdefault(column, (name, constant.full_name))
    return None if spelling == name else f"{column} is called {spelling} in {where}; one spelling, or an entry in tests/rules/meanings.py"
