"""A database as it looks after a year: many instances with open acks of which few are due, and the heaps that must cost nothing."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tests.support.documents import definition_l
from tests.support.engine import START, Workbench
from tests.support.rows import MadeDefinition, MadeInstance, Rows, Sql
from workflow_engine.models.enums import AckStatus, StateDueKind, SuspendedBy
from workflow_engine.models.flags import LifeCycleInstanceFlag

CONSUMERS = 10
# Nothing was due to a live consumer then; the one that is down was down already.
LONG_AGO = START - timedelta(days=30)
_DOWN_SINCE = START - timedelta(days=60)
_ENTERED = START - timedelta(hours=2)
_FIRST_LIFECYCLE, _FIRST_ACK = 4_000_000_000, 5_000_000_000
_LATER = f"DATE_ADD('{START + timedelta(days=1):%Y-%m-%d %H:%M:%S}', INTERVAL n SECOND)"
_EARLIER = f"DATE_SUB('{START:%Y-%m-%d %H:%M:%S}', INTERVAL 1 + n MOD 1000 SECOND)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much of everything; an instance has ten ack rows, one in a hundred instances and one in a hundred rows is due."""

    instances: int
    held: int
    suspended: int
    down: int
    gone: int
    is_analyzed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An instance and one of its acks."""

    external_ref: str
    ack_guid: str
    consumer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    usual: Place
    long_lane: Place
    suspended: Place


class Filling:
    def __init__(self, bench: Workbench, size: Size) -> None:
        self._bench = bench
        self._size = size
        self._rows = Rows(bench.database_url)
        for check in ("foreign_key_checks", "unique_checks"):
            self._rows.run(f"SET SESSION {check} = 0")
        self._definition = self._import()

    def fill(self) -> Filled:
        first = self._instances()
        self._open_rows(first, [self._bench.register(f"c{number}") for number in range(CONSUMERS)])
        self._of_one_consumer(first, "down", self._size.down, next_due=_DOWN_SINCE, trigger_count=0, sends=0)
        self._of_one_consumer(first, "gone", self._size.gone, next_due=Sql(f"IF(n MOD 2, NULL, {_LATER})"), status=Sql("IF(n MOD 2, 3, 1)"))
        long_lane, suspended = self._long_lane(), self._suspended()
        self._rows.run(f"UPDATE consumer SET is_always_live = 0, last_beat = '{_DOWN_SINCE:%Y-%m-%d}' WHERE consumer_guid = 'down'")
        if self._size.is_analyzed:
            self._rows.run("ANALYZE TABLE instance, lifecycle, lc_ack, ack, ack_consumer")
        self._rows.close()
        return Filled(usual=Place(external_ref="R-4", ack_guid=_guid(_FIRST_ACK + 4), consumer="c0"), long_lane=long_lane, suspended=suspended)

    def _import(self) -> MadeDefinition:
        self._bench.import_(definition_l())
        found = self._bench.sql(
            "SELECT d.env_id, d.id AS definition_id, v.id AS def_version_id FROM definition d JOIN def_version v ON v.definition_id = d.id"
        )[0]
        states, events = ({row["name"]: row["id"] for row in self._bench.sql(f"SELECT name, id FROM {table}")} for table in ("state", "events"))
        return MadeDefinition(**found, env_code=1, name="Leave", states=states, events=events)

    def _instances(self) -> int:
        """Half of them stand where only time makes them stale, half where a timeout runs; the first two of two hundred are due."""
        states = self._definition.states
        columns = {
            "current_state": Sql(f"IF(n MOD 2, {states['Review']}, {states['Submitted']})"),
            "state_due_kind": Sql(f"IF(n MOD 2, {StateDueKind.TIMEOUT:d}, {StateDueKind.STALE:d})"),
            "state_due_at": Sql(f"IF(n MOD 200 < 2, {_EARLIER}, {_LATER})"),
            "stay_id": Sql(f"{_FIRST_LIFECYCLE} + n"),
            "seq": 1,
            "state_entered_at": _ENTERED,
            "stale_at": _ENTERED,
        }
        first = self._rows.many_instances(self._definition, self._size.instances, **columns)
        ends = {"from_state": states["Draft"], "to_state": states["Submitted"], "event_id": self._definition.events["Submit"]}
        times = {"occurred_at": _ENTERED, "created": _ENTERED}
        self._rows.many("lifecycle", self._size.instances, id=Sql(f"{_FIRST_LIFECYCLE} + n"), instance_id=Sql(f"{first} + n"), seq=1, flags=0, **ends, **times)
        return first

    def _open_rows(self, first: int, consumer_ids: list[int]) -> None:
        """One ack an instance, one row a consumer; the acks of the first of four hundred instances are processed."""
        guids = Sql(f"CONCAT('00000000-0000-4000-8000-', LPAD({_FIRST_ACK} + n, 12, '0'))")
        self._rows.many("ack", self._size.instances, id=Sql(f"{_FIRST_ACK} + n"), guid=guids, instance_id=Sql(f"{first} + n"), body="{}", created=_ENTERED)
        self._rows.many("lc_ack", self._size.instances, lifecycle_id=Sql(f"{_FIRST_LIFECYCLE} + n"), ack_id=Sql(f"{_FIRST_ACK} + n"))
        is_processed = f"n DIV {CONSUMERS} MOD 400 = 0"
        columns = {
            "ack_id": Sql(f"{_FIRST_ACK} + n DIV {CONSUMERS}"),
            "consumer_id": Sql(f"CAST(ELT(1 + n MOD {CONSUMERS}, {', '.join(map(str, consumer_ids))}) AS UNSIGNED)"),
            "instance_id": Sql(f"{first} + n DIV {CONSUMERS}"),
            "status": Sql(f"IF({is_processed}, {AckStatus.PROCESSED:d}, IF(n MOD 7, {AckStatus.PENDING:d}, {AckStatus.DELIVERED:d}))"),
            "next_due": Sql(f"IF({is_processed}, NULL, IF((n DIV {CONSUMERS} + 7 * (n MOD {CONSUMERS})) MOD 100 = 5, {_EARLIER}, {_LATER}))"),
        }
        self._rows.many("ack_consumer", CONSUMERS * self._size.instances, **{**_SENT_ROW, **columns})

    def _of_one_consumer(self, first: int, consumer: str, count: int, **columns: Any) -> None:
        """One more consumer of the first acks."""
        place = {"ack_id": Sql(f"{_FIRST_ACK} + n"), "consumer_id": self._bench.register(consumer), "instance_id": Sql(f"{first} + n")}
        self._rows.many("ack_consumer", count, **{**_SENT_ROW, **place, **columns})

    def _long_lane(self) -> Place:
        """An instance whose consumer is slow: its first event is open, all others are held. Its state has just become stale."""
        instance = self._special("LANE", self._size.held + 1, state_due_kind=int(StateDueKind.STALE), state_due_at=START - timedelta(seconds=1))
        place = {"instance_id": instance.instance_id, "consumer_id": self._bench.register("slow")}
        head = {"status": Sql(f"IF(n, {AckStatus.HELD:d}, {AckStatus.PENDING:d})"), "next_due": Sql(f"IF(n, NULL, {_LATER})"), "sends": Sql("IF(n, 0, 1)")}
        first_ack = self._rows.many_acks(self._size.held + 1, **place, **head, seq=Sql("n + 1"), trigger_count=Sql("IF(n, 0, 1)"))
        self._history(instance, self._size.held, first_ack)
        return Place(external_ref="LANE", ack_guid=_guid(first_ack), consumer="slow")

    def _suspended(self) -> Place:
        flags = int(LifeCycleInstanceFlag.ACTIVE | LifeCycleInstanceFlag.SUSPENDED)
        instance = self._special("SUSPENDED", self._size.suspended, flags=flags, suspended_by=int(SuspendedBy.OPERATOR))
        place = {"instance_id": instance.instance_id, "consumer_id": self._bench.register("patient")}
        first_ack = self._rows.many_acks(self._size.suspended, **place, seq=Sql("n + 1"), next_due=None)
        self._history(instance, self._size.suspended - 1, first_ack)
        return Place(external_ref="SUSPENDED", ack_guid=_guid(first_ack), consumer="patient")

    def _history(self, instance: MadeInstance, count: int, first_ack: int) -> None:
        """The steps before the last one, and the acks of all of them."""
        first = 2 * _FIRST_LIFECYCLE + 1_000_000 * (instance.instance_id % 1000)
        ends = {"from_state": self._definition.states["Draft"], "to_state": self._definition.states["Draft"], "event_id": self._definition.events["Submit"]}
        times = {"occurred_at": _ENTERED, "created": _ENTERED}
        self._rows.many("lifecycle", count, id=Sql(f"{first} + n"), instance_id=instance.instance_id, seq=Sql("n + 1"), flags=0, **ends, **times)
        self._rows.many("lc_ack", count, lifecycle_id=Sql(f"{first} + n"), ack_id=Sql(f"{first_ack} + n"))
        self._rows.add("lc_ack", lifecycle_id=instance.steps[-1], ack_id=first_ack + count)

    def _special(self, external_ref: str, seq: int, **columns: Any) -> MadeInstance:
        instance = self._rows.instance(self._definition, "Draft", external_ref=external_ref, state_entered_at=_ENTERED, stale_at=_ENTERED, **columns)
        lifecycle_id = self._rows.step(instance)
        self._rows.change("lifecycle", lifecycle_id, seq=seq)
        self._rows.change("instance", instance.instance_id, seq=seq, stay_id=lifecycle_id)
        return instance


_SENT_ROW = {"seq": 1, "kind": 1, "status": int(AckStatus.PENDING), "trigger_count": 1, "sends": 1, "retry_count": 0, "created": _ENTERED, "modified": _ENTERED}


def _guid(ack_id: int) -> str:
    return f"00000000-0000-4000-8000-{ack_id:012d}"
