"""Health: is the database there, does the monitor run, what waits."""

import logging
from collections.abc import Sequence
from datetime import timedelta

from workflow_engine.dal import DbExecutionLoad, Deadline, WorkFlowDAL
from workflow_engine.engine.ports import Clock
from workflow_engine.engine.rules.liveness import is_live
from workflow_engine.engine.rules.registration import age_seconds
from workflow_engine.errors import WorkFlowError
from workflow_engine.models.health import ConsumerBeatRow, ConsumerCounts, HealthView
from workflow_engine.options import WorkFlowEngineOptions

_log = logging.getLogger(__name__)
MAX_MONITOR_AGE = timedelta(seconds=180)
# What a consumer's backlog, and the suspended instances, are counted to.
MAX_COUNTED = 10_000
MAX_CONSUMERS = 5_000
# Whoever asks for health does not want to wait for a database that is gone.
_MAX_WAIT_SECONDS = 5.0


class HealthReader:
    def __init__(self, dal: WorkFlowDAL, clock: Clock, options: WorkFlowEngineOptions, *, is_monitor_enabled: bool) -> None:
        self._dal = dal
        self._clock = clock
        self._options = options
        self._is_monitor_enabled = is_monitor_enabled

    def get_health(self, deadline: Deadline) -> HealthView:
        """Count to a bound; a database that does not answer is an answer too. A monitor that never ran has no age: its alarm tells of it."""
        try:
            return self._dal.run_reading(Deadline.after(min(_MAX_WAIT_SECONDS, deadline.remaining())), self._read)
        except WorkFlowError as error:
            _log.warning("health could not be read", extra={"cause": str(error)})
            return _without_database()

    def _read(self, load: DbExecutionLoad) -> HealthView:
        leases, consumers, suspended = self._dal.read(
            load, self._dal.monitor_lease.get(), self._dal.health.list_consumers(MAX_CONSUMERS), self._dal.health.count_suspended(MAX_COUNTED)
        )
        now = self._clock.now()
        due = [rows[0] for rows in self._dal.read_all(load, [self._dal.health.get_due(row.consumer_id, now, MAX_COUNTED) for row in consumers])]
        last_pass_at, real_now = leases[0].last_pass_at if leases else None, self._clock.real_now()
        return HealthView(
            healthy=not self._is_monitor_enabled or last_pass_at is None or real_now - last_pass_at <= MAX_MONITOR_AGE,
            database=True,
            monitor_age_seconds=age_seconds(last_pass_at, real_now),
            due=sum(row.due for row in due),
            oldest_due_seconds=age_seconds(min((row.oldest_due for row in due if row.oldest_due), default=None), now),
            suspended=suspended[0].count,
            consumers=self._counts([row for row in consumers if not row.deleted_id]),
        )

    def _counts(self, consumers: Sequence[ConsumerBeatRow]) -> ConsumerCounts:
        now, ttl = self._clock.now(), self._options.consumer_ttl_seconds
        alive = sum(is_live(row.beat_seconds, row.is_always_live, row.last_beat, now, ttl) for row in consumers)
        return ConsumerCounts(total=len(consumers), alive=alive, down=len(consumers) - alive)


def _without_database() -> HealthView:
    return HealthView(
        healthy=False,
        database=False,
        monitor_age_seconds=None,
        due=None,
        oldest_due_seconds=None,
        suspended=None,
        consumers=ConsumerCounts(total=None, alive=None, down=None),
    )
