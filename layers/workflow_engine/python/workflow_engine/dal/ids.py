"""Ids known before the insert: blocks from a counter row, handed out in memory."""

from collections.abc import Callable
from uuid import uuid4

from workflow_engine.errors import OutOfIdsError

# One block serves some hundred triggers; ids that are lost with a sandbox cost nothing.
BLOCK_SIZE = 4096
# The most a trigger can need: instance, lifecycle and, for each of 100 hooks, a hook, an ack and a notice.
UNIT_RESERVE = 512


class IdBlocks:
    """Hands out ids; `fetch(size)` takes a new block in a transaction of its own and returns its first id."""

    def __init__(self, fetch: Callable[[int], int]) -> None:
        self._fetch = fetch
        self._next = 0
        self._end = 0

    def reserve(self, count: int = UNIT_RESERVE) -> None:
        """Make sure that `count` ascending ids can be taken without going to the database; call it before a unit, never inside one."""
        if self._end - self._next < count:
            size = max(BLOCK_SIZE, count)
            self._next = self._fetch(size)
            self._end = self._next + size

    def take(self) -> int:
        if self._next >= self._end:
            raise OutOfIdsError("the unit of work needs more ids than were reserved")
        self._next += 1
        return self._next - 1


class UnitIds:
    """The ids and guids of one unit of work: the same again in every attempt, so that an attempt finds what an earlier one wrote."""

    def __init__(self, blocks: IdBlocks) -> None:
        self._blocks = blocks
        self._drawn: list[int] = []
        self._guids: list[str] = []
        self._id_position = 0
        self._guid_position = 0
        self.unit_id = 0

    def rewind(self) -> int:
        """Begin an attempt; return the unit's own id, the first one, which is also its lifecycle_id."""
        self._id_position = self._guid_position = 0
        self.unit_id = self.next_id()
        return self.unit_id

    def next_id(self) -> int:
        if self._id_position == len(self._drawn):
            self._drawn.append(self._blocks.take())
        self._id_position += 1
        return self._drawn[self._id_position - 1]

    def next_guid(self) -> str:
        if self._guid_position == len(self._guids):
            self._guids.append(str(uuid4()))
        self._guid_position += 1
        return self._guids[self._guid_position - 1]

    def fresh_id(self) -> int:
        """Return an id that no attempt used before, for notices: each attempt says its own."""
        return self._blocks.take()
