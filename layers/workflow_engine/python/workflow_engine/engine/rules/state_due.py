"""When an instance is looked at next: the running timeout of its stay, or the moment it counts as stale."""

from datetime import datetime, timedelta

from workflow_engine.models.due import FiringsRow
from workflow_engine.models.enums import StateDueKind
from workflow_engine.models.policy import TimeoutRule
from workflow_engine.models.transition import StateDue

NEVER_FIRED = FiringsRow(n=0, last_fired_at=None)


def next_timeout_at(timeout: TimeoutRule | None, entered_at: datetime, firings: FiringsRow) -> datetime | None:
    """Return when the timeout is due next in this stay; None when there is none or it is used up.

    Missed periods count once: the next period boundary after the last firing is what comes next. After the last of
    `max_retry` firings one more boundary follows, at which only a notice says that the timeout is exhausted.
    """
    if timeout is None:
        return None
    period = timedelta(minutes=timeout.duration_minutes)
    if firings.n == 0 or firings.last_fired_at is None:
        return entered_at + period
    if not timeout.is_repeat or is_used_up(timeout, firings):
        return None
    return entered_at + ((firings.last_fired_at - entered_at) // period + 1) * period


def is_exhausted(timeout: TimeoutRule, firings: FiringsRow) -> bool:
    """Tell whether the next due time is one too many: it fires nothing and is only said."""
    return timeout.is_repeat and timeout.max_retry is not None and firings.n >= timeout.max_retry


def is_used_up(timeout: TimeoutRule, firings: FiringsRow) -> bool:
    """Tell whether nothing is left of the timeout, the word of its exhaustion included."""
    if not timeout.is_repeat:
        return firings.n > 0
    return timeout.max_retry is not None and firings.n > timeout.max_retry


def state_due(timeout: TimeoutRule | None, entered_at: datetime, firings: FiringsRow, stale_at: datetime) -> StateDue:
    """Combine both: a timeout with an event stands for itself; one without leaves OverDue its own time."""
    timeout_at = next_timeout_at(timeout, entered_at, firings)
    if timeout_at is not None and ((timeout is not None and timeout.event_code is not None) or timeout_at <= stale_at):
        return StateDue(stale_at=stale_at, kind=StateDueKind.TIMEOUT, due_at=timeout_at)
    return StateDue(stale_at=stale_at, kind=StateDueKind.STALE, due_at=stale_at)
