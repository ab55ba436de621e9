"""How a page of the list of instances is put together from the index walks that were read for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from workflow_engine.models.enums import InstanceStatus
from workflow_engine.models.instances_api import InstanceKeyRow

Place = tuple[datetime, int]
_NOWHERE: Place = (datetime.max.replace(tzinfo=UTC), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceFilter:
    """What a row must be like; None means any."""

    before: Place
    definition_ids: frozenset[int] | None
    state_ids: frozenset[int] | None
    status: InstanceStatus | None
    external_ref: str | None
    prefix: str | None

    def keeps(self, row: InstanceKeyRow) -> bool:
        checks = (
            row.place < self.before,
            self.definition_ids is None or row.definition_id in self.definition_ids,
            self.state_ids is None or row.state_id in self.state_ids,
            self.status is None or InstanceStatus.of(row.flags) is self.status,
            self.external_ref is None or row.external_ref == self.external_ref,
            self.prefix is None or row.external_ref.startswith(self.prefix),
        )
        return all(checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPage:
    """The instances of a page, newest first, and the place where the next page begins."""

    keys: Sequence[InstanceKeyRow]
    goes_on_at: Place | None

    def is_done(self, limit: int) -> bool:
        return len(self.keys) == limit or self.goes_on_at is None


def merge_walks(walks: Sequence[Sequence[InstanceKeyRow]], take: int, limit: int, wanted: InstanceFilter) -> KeyPage:
    """Merge walks that each go from new to old and were cut at `take` rows.

    A walk that was cut says nothing of rows older than its last one, so the page ends at the newest of those ends.
    """
    end = max((walk[-1].place for walk in walks if len(walk) >= take), default=None)
    seen = (row for walk in walks for row in walk if end is None or row.place >= end)
    kept = sorted((row for row in seen if wanted.keeps(row)), key=lambda row: row.place, reverse=True)
    if len(kept) > limit:
        return KeyPage(keys=kept[:limit], goes_on_at=kept[limit - 1].place)
    return KeyPage(keys=kept, goes_on_at=end)


def best_page(pages: Sequence[KeyPage], limit: int) -> KeyPage:
    """Return a page that is full or the last; otherwise the one that looked furthest back."""
    done = [page for page in pages if page.is_done(limit)]
    return done[0] if done else min(pages, key=lambda page: page.goes_on_at or _NOWHERE)
