"""SystemClock: the machine's time, which a local stack may move."""

import time
from datetime import UTC, datetime, timedelta


class SystemClock:
    """`now` is what is stored; the offset is zero everywhere but in a local stack."""

    def __init__(self, offset_seconds: float = 0.0) -> None:
        self._offset = timedelta(seconds=offset_seconds)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._offset

    def real_now(self) -> datetime:
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        time.sleep(max(0.0, seconds))

    def advance(self, seconds: float) -> None:
        self._offset += timedelta(seconds=seconds)
