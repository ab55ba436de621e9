"""LifeCycleMonitor: scheduling and gate only; what a pass does, the engine knows (guidelines 4.7)."""

import logging
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

from workflow_engine.engine.pass_gate import PAGE_SECONDS
from workflow_engine.errors import StorageError
from workflow_engine.models.enums import NoticeCode
from workflow_engine.models.monitor import MonitorReport
from workflow_engine.models.notice import LifeCycleNotice

if TYPE_CHECKING:
    from workflow_engine.dal import Deadline, Query, Statement
    from workflow_engine.engine.monitor import MonitorOrchestrator
    from workflow_engine.engine.tools import EngineTools
    from workflow_engine.models.health import MonitorLeaseRow

_log = logging.getLogger(__name__)
LEASE_SECONDS = 30
# EventBridge comes once a minute; the last pass begins early enough to end before the next invocation.
RUN_SECONDS = 50


class LifeCycleMonitor:
    """A lease row keeps it to one; it saves work, correctness with two is the claims' job."""

    def __init__(self, tools: "EngineTools", orchestrator: "MonitorOrchestrator") -> None:
        self._dal = tools.dal
        self._clock = tools.clock
        self._options = tools.options
        self._outbox = tools.outbox
        self._orchestrator = orchestrator
        self._failed = ""

    def run(self, deadline: "Deadline") -> MonitorReport:
        """Make a pass every interval until the minute is nearly over; whoever has no lease tries each second."""
        owner, total = str(uuid4()), MonitorReport()
        self._failed = ""
        ends_at = self._clock.real_now() + timedelta(seconds=RUN_SECONDS)
        try:
            while True:
                began = self._clock.real_now()
                has_lease = self._take(owner, deadline)
                if has_lease:
                    total.add(self._orchestrator.run_monitor_once(deadline, lambda: self._take(owner, deadline)))
                pause = self._options.monitor_interval_seconds if has_lease else 1
                wait = max(0.0, pause - (self._clock.real_now() - began).total_seconds())
                # Another pass needs time to publish a page, in this function's time as well as in this minute.
                if self._clock.real_now() + timedelta(seconds=wait) >= ends_at or deadline.remaining() - wait <= PAGE_SECONDS:
                    return total
                self._clock.sleep(wait)
        finally:
            self._release(owner, deadline)
            self._say_failure(deadline)

    def run_once(self, deadline: "Deadline") -> MonitorReport:
        """One pass, whatever the lease: for tests, and for people who want it now."""
        return self._orchestrator.run_monitor_once(deadline)

    def _take(self, owner: str, deadline: "Deadline") -> bool:
        now = self._clock.real_now()
        lease = self._dal.monitor_lease
        try:
            packet: list[Statement | Query[MonitorLeaseRow]] = [lease.take(owner, now, now + timedelta(seconds=LEASE_SECONDS)), lease.get()]
            rows = self._dal.run_reading(deadline, lambda load: self._dal.write(load, packet))[1]
        except StorageError as error:
            _log.warning("the monitor's lease could not be asked for")
            self._failed = type(error).__name__
            return False
        return bool(rows) and rows[0].owner == owner

    def _say_failure(self, deadline: "Deadline") -> None:
        """Without its database the monitor can do nothing but say so, once a run."""
        if self._failed:
            notice = LifeCycleNotice(code=NoticeCode.MONITOR_ERROR, occurred_at=self._clock.now(), data={"count": 1, "error": self._failed})
            self._outbox.raise_notices([notice], deadline)

    def _release(self, owner: str, deadline: "Deadline") -> None:
        try:
            self._dal.run_reading(deadline, lambda load: self._dal.write(load, [self._dal.monitor_lease.release(owner, self._clock.real_now())]))
        except StorageError:
            _log.warning("the monitor's lease could not be given back; it runs out by itself")
