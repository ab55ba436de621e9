"""PassTrouble: what went wrong in a pass of the monitor, said once at its end."""

import logging
from dataclasses import dataclass, field
from datetime import datetime

from workflow_engine.engine.ports import PublishFailure
from workflow_engine.models.enums import NoticeCode
from workflow_engine.models.notice import LifeCycleNotice
from workflow_engine.models.subscriber import DispatchConsumerRow

_log = logging.getLogger(__name__)
_MAX_TEXT = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class PassError:
    text: str
    consumer: DispatchConsumerRow | None


@dataclass(slots=True)
class PassTrouble:
    """Messages that were not taken, and errors; one notice per consumer tells of each kind, with a count."""

    failures: list[PublishFailure] = field(default_factory=list)
    errors: list[PassError] = field(default_factory=list)

    def note(self, error: Exception, consumer: DispatchConsumerRow | None = None) -> None:
        _log.error("a monitor job failed", exc_info=error, extra={"consumer": consumer.consumer if consumer else None})
        self.errors.append(PassError(text=f"{type(error).__name__}: {error}"[:_MAX_TEXT], consumer=consumer))

    def error_notices(self, now: datetime) -> list[LifeCycleNotice]:
        groups: dict[int | None, list[PassError]] = {}
        for error in self.errors:
            groups.setdefault(error.consumer.consumer_id if error.consumer else None, []).append(error)
        return [_notice(group, now) for group in groups.values()]


def _notice(group: list[PassError], now: datetime) -> LifeCycleNotice:
    consumer = group[0].consumer
    return LifeCycleNotice(
        code=NoticeCode.MONITOR_ERROR,
        occurred_at=now,
        env_code=consumer.env_code if consumer else None,
        consumer_id=consumer.consumer_id if consumer else None,
        consumer=consumer.consumer if consumer else None,
        data={"count": len(group), "error": group[0].text},
    )
