"""Rows put into the tables directly, with defaults: a test names only what it is about. `many` fills tables by the hundred thousand."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from local.database.url import DatabaseUrl
from workflow_engine.models.enums import AckStatus, EventKind, GaveUp
from workflow_engine.models.flags import LifeCycleInstanceFlag, LifeCycleKindFlag, LifeCycleStateFlag

START = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
OWNER = "local"
# Far above what id_block gives out in a test.
_IDS = itertools.count(10_000_000)
# Each call of `many_…` takes a range of its own.
_RANGES = itertools.count(1_000_000_000, 10_000_000)
_DIGITS = f"({' UNION ALL '.join(f'SELECT {digit} AS d' for digit in range(10))})"
_CHUNK = 100_000
_STATES = {"Draft": LifeCycleStateFlag.INITIAL, "Submitted": LifeCycleStateFlag.NONE, "Approved": LifeCycleStateFlag.FINAL, "Review": LifeCycleStateFlag.NONE}
_EVENTS = {"Submit": 10, "Approve": 20, "Look": 40}
_EDGES = (("Draft", "Submit", "Submitted"), ("Submitted", "Approve", "Approved"), ("Submitted", "Look", "Review"))


@dataclass(frozen=True, slots=True)
class Sql:
    """An expression instead of a value; in `many` it may use `n`, the row's number from 0."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeDefinition:
    env_id: int
    env_code: int
    definition_id: int
    def_version_id: int
    name: str
    states: Mapping[str, int]
    events: Mapping[str, int]


@dataclass(slots=True, kw_only=True)
class MadeInstance:
    instance_id: int
    guid: str
    external_ref: str
    definition: MadeDefinition
    steps: list[int] = field(default_factory=list[int])


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeConsumer:
    consumer_id: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeAck:
    ack_id: int
    guid: str


class Rows:
    def __init__(self, database_url: str) -> None:
        self._connection = DatabaseUrl.parse(database_url).connect()
        self._connection.autocommit(True)  # noqa: FBT003  # the driver's own signature
        self._environments: dict[int, int] = {}

    def close(self) -> None:
        self._connection.close()

    def run(self, sql: str) -> Sequence[Any]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()

    def add(self, table: str, **columns: Any) -> None:
        names = ", ".join(columns)
        self.run(f"INSERT INTO {table} ({names}) VALUES ({self._list(columns.values())})")  # names and values are the test's own

    def change(self, table: str, row_id: int, **columns: Any) -> None:
        changes = ", ".join(f"{name} = {self._text(value)}" for name, value in columns.items())
        self.run(f"UPDATE {table} SET {changes} WHERE id = {row_id}")

    def many(self, table: str, count: int, **columns: Any) -> None:
        """Insert `count` rows on the server itself, which is as quick as the server is."""
        for start in range(0, count, _CHUNK):
            source = f"SELECT {self._list(columns.values())} FROM {_numbers(start, min(count, start + _CHUNK))} x ORDER BY n"
            self.run(f"INSERT INTO {table} ({', '.join(columns)}) {source}")

    def environment(self, env_code: int = 1) -> int:
        if env_code not in self._environments:
            self._environments[env_code] = next(_IDS)
            self.add("environment", id=self._environments[env_code], code=env_code, name=f"env {env_code}", created=START)
        return self._environments[env_code]

    def definition(self, name: str = "L", env_code: int = 1, **shape: Any) -> MadeDefinition:
        """Make a definition with one version; `states`, `events` and `edges` replace the usual ones, `of` adds a version to a definition."""
        of: MadeDefinition | None = shape.get("of")
        env_id, definition_id, def_version_id = self.environment(env_code), of.definition_id if of else next(_IDS), next(_IDS)
        if of is None:
            self.add("definition", id=definition_id, env_id=env_id, name=name, name_key=name.casefold(), active_version=def_version_id, created=START)
        version = shape.get("version", 1)
        self.add("def_version", id=def_version_id, definition_id=definition_id, version=version, hash=str(uuid4()), document="{}", created=START)
        states = {state: self._state(def_version_id, state, flags) for state, flags in shape.get("states", _STATES).items()}
        events = {event: self._event(def_version_id, event, code) for event, code in shape.get("events", _EVENTS).items()}
        for start, event, end in shape.get("edges", _EDGES):
            ends = {"from_state": states[start], "to_state": states[end], "event_id": events[event]}
            self.add("transition", id=next(_IDS), def_version_id=def_version_id, flags=0, **ends)
        return MadeDefinition(
            env_id=env_id, env_code=env_code, definition_id=definition_id, def_version_id=def_version_id, name=name, states=states, events=events
        )

    def instance(self, definition: MadeDefinition, state: str = "Draft", **columns: Any) -> MadeInstance:
        made = MadeInstance(instance_id=next(_IDS), guid=str(uuid4()), external_ref=columns.get("external_ref", f"R-{next(_IDS)}"), definition=definition)
        start = columns.get("created", START)
        row = {"id": made.instance_id, "guid": made.guid, **_instance_columns(definition, state), "external_ref": made.external_ref}
        self.add("instance", **{**row, "created": start, "modified": start, "state_entered_at": start, **columns})
        return made

    def step(self, instance: MadeInstance, event: str = "Submit", states: tuple[str, str] = ("Draft", "Submitted"), **columns: Any) -> int:
        """Write one lifecycle row, move the instance, and return the lifecycle id; `actor`, `payload` and `request_id` go to its data."""
        lifecycle_id, seq = next(_IDS), len(instance.steps) + 1
        data = {name: columns.pop(name, None) for name in ("actor", "request_id", "payload")}
        ends = {"from_state": instance.definition.states[states[0]], "to_state": instance.definition.states[states[1]]}
        event_id = instance.definition.events[event]
        times = {"occurred_at": START, "created": START, **columns}
        self.add("lifecycle", id=lifecycle_id, instance_id=instance.instance_id, seq=seq, event_id=event_id, flags=0, **ends, **times)
        self.add("lifecycle_data", lifecycle_id=lifecycle_id, **data)
        self.change("instance", instance.instance_id, seq=seq, current_state=ends["to_state"], last_event=event_id)
        instance.steps.append(lifecycle_id)
        return lifecycle_id

    def consumer(self, name: str = "c1", env_code: int = 1, definitions: Sequence[str] = ("*",), **columns: Any) -> MadeConsumer:
        made, env_id = MadeConsumer(consumer_id=next(_IDS), name=name), self.environment(env_code)
        row = {"id": made.consumer_id, "env_id": env_id, "consumer_guid": name, "deleted_id": 0, "owner": OWNER, "principals": "[]"}
        kinds = LifeCycleKindFlag.TRANSITION | LifeCycleKindFlag.HOOK
        row |= {"kinds": int(kinds), "definitions": '["*"]', "is_always_live": 0, "on_exhausted": int(GaveUp.SUSPEND)}
        self.add("consumer", **{**row, "last_beat": START, "created": START, "modified": START, **columns})
        for definition in definitions:
            self.add("subscription", env_id=env_id, definition_key=definition.casefold(), consumer_id=made.consumer_id)
        return made

    def ack(self, instance: MadeInstance, consumers: Sequence[MadeConsumer], status: AckStatus = AckStatus.PENDING, **columns: Any) -> MadeAck:
        """Write the event of a step (`seq`, default the last) and a row for each consumer; with `route` it is a hook's; `body` is the stored event."""
        made, seq = MadeAck(ack_id=next(_IDS), guid=str(uuid4())), columns.pop("seq", len(instance.steps))
        route, body, lifecycle_id = columns.pop("route", None), columns.pop("body", "{}"), instance.steps[seq - 1]
        self.add("ack", id=made.ack_id, guid=made.guid, instance_id=instance.instance_id, body=body, created=START)
        if route is None:
            self.add("lc_ack", lifecycle_id=lifecycle_id, ack_id=made.ack_id)
        else:
            self.add("hook_ack", hook_id=self.hook(instance, route, seq=seq), ack_id=made.ack_id)
        kind = EventKind.TRANSITION if route is None else EventKind.HOOK
        for consumer in consumers:
            row = {"ack_id": made.ack_id, "consumer_id": consumer.consumer_id, "instance_id": instance.instance_id, "seq": seq, "kind": int(kind)}
            counts = {"trigger_count": 1, "sends": 1, "retry_count": 0, "status": int(status)}
            self.add("ack_consumer", **{**row, **counts, "created": START, "modified": START, **columns})
        return made

    def hook(self, instance: MadeInstance, route: str, seq: int) -> int:
        hook_id, position = next(_IDS), next(_IDS)
        place = {"lifecycle_id": instance.steps[seq - 1], "instance_id": instance.instance_id, "position": position}
        self.add("hook", id=hook_id, route=route, on_entry=1, created=START, **place)
        return hook_id

    def activity(self, instance: MadeInstance, name: str = "Mail", **columns: Any) -> int:
        """Write what an application said; of no step unless `lifecycle_id` is given."""
        runtime_id, state_id = next(_IDS), next(iter(instance.definition.states.values()))
        row = {
            "id": runtime_id,
            "instance_id": instance.instance_id,
            "lifecycle_id": 0,
            "state_id": state_id,
            "activity": name,
            "activity_key": name.casefold(),
        }
        said = {"actor": "", "status": "done", "data": None, "is_frozen": 0, "created": START, "modified": START}
        self.add("runtime", **{**row, **said, **columns})
        return runtime_id

    def many_activities(self, instance: MadeInstance, count: int, **columns: Any) -> None:
        first, state_id = next(_RANGES), next(iter(instance.definition.states.values()))
        names = {"activity": Sql("CONCAT('Activity ', n)"), "activity_key": Sql("CONCAT('activity ', n)"), "actor": "", "status": "done"}
        row = {"id": Sql(f"{first} + n"), "instance_id": instance.instance_id, "lifecycle_id": 0, "state_id": state_id, **names, "is_frozen": 0}
        self.many("runtime", count, **{**row, "created": START, "modified": START, **columns})

    def many_instances(self, definition: MadeDefinition, count: int, **columns: Any) -> int:
        """Fill in instances R-0, R-1, …, a second apart; return the first id: the others follow it."""
        first = next(_RANGES)
        row = {"id": Sql(f"{first} + n"), "guid": _guids(first), **_instance_columns(definition, "Draft"), "external_ref": Sql("CONCAT('R-', n)")}
        times = {"created": Sql(f"DATE_ADD({self._text(START)}, INTERVAL n SECOND)"), "modified": START, "state_entered_at": START}
        self.many("instance", count, **{**row, **times, **columns})
        return first

    def many_acks(self, count: int, **columns: Any) -> int:
        """Fill in acks with one row each and return the first ack id; `instance_id`, `consumer_id`, `seq`, `next_due` … may be expressions of n."""
        first = next(_RANGES)
        instance_id = columns["instance_id"]
        self.many("ack", count, id=Sql(f"{first} + n"), guid=_guids(first), instance_id=instance_id, body="{}", created=START)
        row = {"ack_id": Sql(f"{first} + n"), "seq": 1, "kind": 1, "status": int(AckStatus.PENDING), "trigger_count": 1, "sends": 1, "retry_count": 0}
        self.many("ack_consumer", count, **{**row, "created": START, "modified": START, **columns})
        return first

    def _state(self, def_version_id: int, name: str, flags: int) -> int:
        state_id = next(_IDS)
        self.add("state", id=state_id, def_version_id=def_version_id, name=name, name_key=name.casefold(), flags=int(flags))
        return state_id

    def _event(self, def_version_id: int, name: str, code: int) -> int:
        event_id = next(_IDS)
        self.add("events", id=event_id, def_version_id=def_version_id, code=code, name=name, name_key=name.casefold())
        return event_id

    def _list(self, values: Any) -> str:
        return ", ".join(self._text(value) for value in values)

    def _text(self, value: Any) -> str:
        if isinstance(value, Sql):
            return value.text
        return self._connection.escape(value.astimezone(UTC).replace(tzinfo=None) if isinstance(value, datetime) else value)


def _instance_columns(definition: MadeDefinition, state: str) -> dict[str, Any]:
    ids = {"definition_id": definition.definition_id, "def_version_id": definition.def_version_id, "current_state": definition.states[state]}
    return {**ids, "flags": int(LifeCycleInstanceFlag.ACTIVE), "seq": 0, "stay_id": 0}


def _guids(first: int) -> Sql:
    return Sql(f"CONCAT('00000000-0000-4000-8000-', LPAD({first} + n, 12, '0'))")


def _numbers(start: int, end: int) -> str:
    """The numbers from start to end, on a server without sequences."""
    places = range(len(str(end - start - 1)))
    total = " + ".join(f"d{place}.d * {10**place}" for place in places)
    tables = ", ".join(f"{_DIGITS} d{place}" for place in places)
    return f"(SELECT {start} + {total} AS n FROM {tables} HAVING n < {end})"
