"""Processes that end at a chosen point, as a Lambda does that runs out of time or memory: no handler of theirs runs any more."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.engine import RecordingPublisher, Workbench
from workflow_engine.adapters.database import url_target
from workflow_engine.dal import Db, DbExecutionLoad, Deadline, Query, Statement
from workflow_engine.engine.ports import PublishFailure
from workflow_engine.models.events import WorkMessage


class KilledError(BaseException):
    """Passes every `except Exception`, as a kill does."""


class DyingDb(Db):
    """Dies before its packet number `left` is sent, or after it has run; the server rolls back what was open."""

    def __init__(self, target: Any, left: int, *, is_after: bool = False) -> None:
        super().__init__(target)
        self.left = left
        self._is_after = is_after

    def send(self, load: DbExecutionLoad, packet: Sequence[Statement | Query[Any]]) -> list[Any]:
        if self.left == 0 and not self._is_after:
            self._die()
        results = super().send(load, packet)
        if self.left == 0:
            self._die()
        self.left -= 1
        return results

    def _die(self) -> None:
        self.close()
        raise KilledError


@dataclass
class DyingPublisher(RecordingPublisher):
    """Takes `left` messages and dies over the next one."""

    left: int = 0

    def publish(self, messages: Sequence[WorkMessage], deadline: Deadline) -> list[PublishFailure]:
        for message in messages:
            if self.left == 0:
                raise KilledError
            self.left -= 1
            super().publish([message], deadline)
        return []


def dying(bench: Workbench, left: int, *, is_after: bool = False) -> Workbench:
    """A sandbox on the same database whose process ends at its packet number `left` (from 0)."""
    other = bench.another()
    other.use(DyingDb(url_target(bench.database_url), left, is_after=is_after))
    return other


def is_killed(call: Any) -> bool:
    """Run it; tell whether it died on the way."""
    try:
        call()
    except KilledError:
        return True
    return False
