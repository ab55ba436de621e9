"""When a consumer counts as alive (design section 6)."""

from datetime import datetime, timedelta

# A consumer that promised a beat may miss two of them.
BEATS_GRACE = 3


def is_live(beat_seconds: int | None, is_always_live: bool, last_beat: datetime, now: datetime, ttl_seconds: int) -> bool:  # noqa: FBT001  # a column, not a switch
    """Tell whether messages are sent to the consumer: its last beat is no older than its window, or it opted out of beats."""
    until = alive_until(beat_seconds, is_always_live, last_beat, ttl_seconds)
    return until is None or now <= until


def alive_until(beat_seconds: int | None, is_always_live: bool, last_beat: datetime, ttl_seconds: int) -> datetime | None:  # noqa: FBT001  # a column, not a switch
    """Return the last moment at which the consumer is alive without another beat; None for one that is always alive."""
    if is_always_live:
        return None
    return last_beat + timedelta(seconds=ttl_seconds if beat_seconds is None else BEATS_GRACE * beat_seconds)
