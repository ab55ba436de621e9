"""What the engine's calls cost on this machine: round trips, medians and CPU, with a small and with a large database side by side (`make bench`)."""

import argparse
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from local.database import running_server
from local.database.url import DatabaseUrl
from tests.support.engine import SQL_FOLDER, START, Workbench
from tests.support.rows import Rows, Sql
from workflow_engine.adapters.database import url_target
from workflow_engine.dal.migrator import apply_migrations
from workflow_engine.models.enums import AckStatus

SMALL = 1_000
ROUNDS = 5
CALLS = 60
PING = {
    "name": "Ping",
    "states": [{"name": "Here", "is_initial": True}, {"name": "There"}, {"name": "Gone", "is_final": True}],
    "transitions": [{"from": "Here", "to": "There", "event": 1}, {"from": "There", "to": "Here", "event": 2}, {"from": "Here", "to": "Gone", "event": 3}],
}


@dataclass(slots=True)
class Measured:
    wall: list[float]
    cpu: list[float]
    trips: int

    def line(self, name: str, other: "Measured") -> str:
        small, large = _micro(self.wall), _micro(other.wall)
        return f"{name:<34} {self.trips:>5}  {small:>9.0f}  {large:>9.0f}  {large / small:>6.2f}  {_micro(self.cpu):>7.0f}"


class Subject:
    """One database with its engine; calls are made on instances of its own."""

    def __init__(self, bench: Workbench, size: int, name: str) -> None:
        self.bench = bench
        self.name = name
        self._calls = 0
        bench.import_(PING)
        bench.register("c1")
        bench.register("asleep", beat_seconds=1)
        self._fill(size)
        bench.clock.advance(30)

    def calls(self) -> dict[str, Callable[[], Callable[[], object]]]:
        """Name of a call, and what prepares one: preparing is not measured."""
        return {
            "trigger, new instance": self._new,
            "trigger, existing instance": self._existing,
            "ack that releases the next event": self._ack,
            "heartbeat": self._beat,
            "monitor pass, nothing due": self._pass,
        }

    def _new(self) -> Callable[[], object]:
        self._calls += 1
        return lambda: self.bench.trigger(1, f"N-{self._calls}", "Ping", request_id="1")

    def _existing(self) -> Callable[[], object]:
        self._calls += 1
        first = self.bench.trigger(1, f"E-{self._calls}", "Ping")
        self.bench.ack(first.ack_guid, "Processed")
        return lambda: self.bench.trigger(2, f"E-{self._calls}", "Ping", request_id="2")

    def _ack(self) -> Callable[[], object]:
        self._calls += 1
        first = self.bench.trigger(1, f"A-{self._calls}", "Ping")
        self.bench.trigger(2, f"A-{self._calls}", "Ping")
        return lambda: self.bench.ack(first.ack_guid, "Processed")

    def _beat(self) -> Callable[[], object]:
        return lambda: self.bench.beat("c1")

    def _pass(self) -> Callable[[], object]:
        return self.bench.monitor

    def _fill(self, size: int) -> None:
        """Open, held and asleep rows of `size` instances; none of them due to a live consumer."""
        rows = Rows(self.bench.database_url)
        made = rows.definition("Filled", env_code=2)
        first = rows.many_instances(made, size, state_due_kind=1, state_due_at=START + timedelta(days=30), stale_at=START + timedelta(days=30))
        ids = {row["name"]: row["id"] for row in self.bench.sql("SELECT id, CONVERT(consumer_guid USING utf8mb4) AS name FROM consumer")}
        spread = {"instance_id": Sql(f"{first} + n")}
        rows.many_acks(size, consumer_id=ids["c1"], next_due=START + timedelta(days=20), **spread)
        rows.many_acks(size, consumer_id=ids["c1"], status=int(AckStatus.HELD), seq=2, **spread)
        rows.many_acks(size, consumer_id=ids["asleep"], next_due=START, **spread)
        rows.run("ANALYZE TABLE instance, ack, ack_consumer")
        rows.close()


def main() -> int:
    """Measure both sizes in turns, so that whatever else the machine does hits both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", type=int, default=1_000_000, help="instances in the large database, each with three ack rows (default 1,000,000)")
    parser.add_argument("--kind", choices=["mariadb", "mysql"], default="mariadb")
    given = parser.parse_args()
    with running_server(given.kind, profile="durable") as server:
        _say(f"{server.kind} {server.version}, durable; Python {platform.python_version()}; {platform.machine()}, load {_load():.1f}")
        with _subject(server.url, SMALL, "small") as small, _subject(server.url, given.large, "large") as large:
            _say(f"\n{'call':<34} {'trips':>5}  {'p50 µs':>9}  {'p50 µs':>9}  {'ratio':>6}  {'cpu µs':>7}")
            _say(f"{'':<34} {'':>5}  {SMALL:>9,}  {given.large:>9,}")
            for name in small.calls():
                a, b = _measure(small, large, name)
                _say(a.line(name, b))
    _say(f"\nmedians of {ROUNDS * CALLS} calls each, in turns; load at the end {_load():.1f}")
    return 0


@contextmanager
def _subject(server_url: str, size: int, name: str) -> Iterator[Subject]:
    began = time.monotonic()
    url = DatabaseUrl.parse(server_url).with_name(f"bench_{name}")
    url.with_name("").execute(f"CREATE DATABASE {url.name} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci")
    apply_migrations(url_target(str(url)), SQL_FOLDER)
    bench = Workbench(str(url))
    subject = Subject(bench, size, name)
    _say(f"filled the {name} database in {time.monotonic() - began:.0f} s")
    try:
        yield subject
    finally:
        bench.close()


def _measure(small: Subject, large: Subject, name: str) -> tuple[Measured, Measured]:
    results = {subject.name: Measured(wall=[], cpu=[], trips=0) for subject in (small, large)}
    for _ in range(ROUNDS):
        for subject in (small, large):
            prepare, result = subject.calls()[name], results[subject.name]
            for _ in range(CALLS):
                call = prepare()
                trips, cpu, wall = subject.bench.dal.round_trips, time.process_time(), time.perf_counter()
                call()
                result.wall.append(time.perf_counter() - wall)
                result.cpu.append(time.process_time() - cpu)
                result.trips = subject.bench.dal.round_trips - trips
    return results["small"], results["large"]


def _micro(seconds: list[float]) -> float:
    return statistics.median(seconds) * 1e6


def _load() -> float:
    with open("/proc/loadavg", encoding="utf-8") as file:  # noqa: PTH123  # one number, read once
        return float(file.read().split()[0])


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
