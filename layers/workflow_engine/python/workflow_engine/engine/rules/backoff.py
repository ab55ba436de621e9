"""When a sent event is sent again."""

from datetime import datetime, timedelta
from zlib import crc32

from workflow_engine.models.enums import AckStatus
from workflow_engine.options import WorkFlowEngineOptions


def window_seconds(status: int, options: WorkFlowEngineOptions) -> int:
    return options.ack_delivered_resend_seconds if status == AckStatus.DELIVERED else options.ack_pending_resend_seconds


def first_due(now: datetime, options: WorkFlowEngineOptions) -> datetime:
    """After the first dispatch: the plain window."""
    return now + timedelta(seconds=options.ack_pending_resend_seconds)


def resend_due(status: int, attempts: int, seed: tuple[int, int], now: datetime, options: WorkFlowEngineOptions) -> datetime:
    """After the claim that made it `attempts`: the window grown by the factor, at most the cap, with jitter from the second resend on.

    The jitter is a function of (instance, seq, attempts), so that the same row always waits the same time and a crowd spreads out.
    """
    window = window_seconds(status, options)
    # Pending counts the first dispatch among its attempts, Delivered only reminders.
    resends = attempts if status == AckStatus.DELIVERED else attempts - 1
    if options.backoff_factor <= 1 or resends < 1:
        return now + timedelta(seconds=window)
    cap = max(options.backoff_cap_seconds, window)
    grown = _grown(window, options.backoff_factor, resends, cap)
    share = crc32(f"{seed[0]}:{seed[1]}:{attempts}".encode()) / 0xFFFFFFFF
    # At the cap nothing is added: it is the longest wait, and a crowd has spread by then.
    return now + timedelta(seconds=min(cap, grown * (1 + options.backoff_jitter_percent / 100 * share)))


def _grown(window: int, factor: float, resends: int, cap: int) -> float:
    """What no float can hold is more than any cap."""
    try:
        return min(window * factor**resends, cap)
    except OverflowError:
        return cap
