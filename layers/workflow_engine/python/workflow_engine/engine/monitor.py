"""MonitorOrchestrator: one pass of the monitor, jobs A, B and C (guidelines 3.5)."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING

from workflow_engine.engine.pass_gate import PassGate
from workflow_engine.engine.pass_trouble import PassTrouble
from workflow_engine.models.monitor import MonitorReport
from workflow_engine.models.subscriber import DispatchConsumerRow

if TYPE_CHECKING:
    from workflow_engine.dal import Deadline
    from workflow_engine.engine.closing import Closing
    from workflow_engine.engine.overdue import OverDueWatch
    from workflow_engine.engine.redispatch import Redispatch
    from workflow_engine.engine.timeouts import TimeoutWatch
    from workflow_engine.engine.tools import EngineTools

_log = logging.getLogger(__name__)
_NOTICES_A_PASS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorJobs:
    overdue: "OverDueWatch"
    redispatch: "Redispatch"
    timeouts: "TimeoutWatch"
    closing: "Closing"


class MonitorOrchestrator:
    def __init__(self, tools: "EngineTools", jobs: "MonitorJobs") -> None:
        self._dal = tools.dal
        self._outbox = tools.outbox
        self._clock = tools.clock
        self._options = tools.options
        self._jobs = jobs

    def run_monitor_once(self, deadline: "Deadline", renew: Callable[[], bool] | None = None) -> MonitorReport:
        """Stale states, due acks, timeouts, and a little tidying; a job that fails does not keep the others from running."""
        report, began = MonitorReport(passes=1), monotonic()
        gate, trouble, consumers = PassGate(deadline, renew), PassTrouble(), list[DispatchConsumerRow]()
        jobs = (
            lambda: self._jobs.overdue.run(report, gate, trouble),
            lambda: consumers.extend(self._consumers(deadline)),
            lambda: self._jobs.redispatch.run(consumers, report, gate, trouble),
            lambda: self._jobs.timeouts.run(report, gate, trouble),
            lambda: self._jobs.redispatch.say_who_is_down(consumers, report, deadline),
            # Last, because it can wait: a deleted consumer may have left more rows than a pass has time for.
            lambda: self._jobs.closing.run(consumers, report, gate),
            lambda: self._tidy(deadline),
        )
        for job in jobs:
            self._job(job, trouble)
        self._say(trouble, report, deadline)
        report.seconds = round(monotonic() - began, 6)
        _log.info("monitor pass", extra={"report": report.as_dict()})
        return report

    def _consumers(self, deadline: "Deadline") -> list[DispatchConsumerRow]:
        return self._dal.run_reading(deadline, lambda load: self._dal.read(load, self._dal.dispatch.list_consumers())[0])

    def _tidy(self, deadline: "Deadline") -> None:
        """Old notices go, and health learns that a pass has come to its end."""
        before = self._clock.now() - timedelta(days=self._options.notice_ttl_days)
        statements = [self._dal.notice.delete_before(before, _NOTICES_A_PASS), self._dal.monitor_lease.note_pass(self._clock.real_now())]
        self._dal.run_reading(deadline, lambda load: self._dal.write(load, statements))

    def _job(self, job: Callable[[], None], trouble: PassTrouble) -> None:
        try:
            job()
        except Exception as error:  # noqa: BLE001  # the next job and the next pass must run, whatever this was
            trouble.note(error)

    def _say(self, trouble: PassTrouble, report: MonitorReport, deadline: "Deadline") -> None:
        """One notice per consumer and pass, with a count."""
        notices = [*self._outbox.failure_notices(trouble.failures), *trouble.error_notices(self._clock.now())]
        report.noticed += len(notices)
        self._outbox.raise_notices(notices, deadline)
