"""Whole facts to compare: rows of the tables with names instead of ids, times as seconds after the start."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tests.support.engine import START, Workbench
from tests.support.rows import Rows
from workflow_engine.models.enums import AckStatus, EventKind, GaveUp

# The two sets of resend windows that the guidelines name; the suite runs with both.
PROFILES = {
    "40s-4min": {"ack_pending_resend_seconds": 40, "ack_delivered_resend_seconds": 240},
    "30s-5min": {"ack_pending_resend_seconds": 30, "ack_delivered_resend_seconds": 300},
}
# What a refused or repeated call may not touch; ids go on counting, and what was said is looked at on its own.
_UNCOUNTED = frozenset({"id_block", "schema_version", "notice", "monitor_lease"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One row of ack_consumer; the defaults are those of an event just sent to c1, in the 40 s profile."""

    consumer: str = "c1"
    seq: int = 1
    kind: str = "transition"
    status: str = "PENDING"
    due: float | None = 40
    attempts: int = 1
    sends: int = 1
    retries: int = 0
    last_retry: float | None = None
    first_sent: float | None = 0
    delivered: float | None = None
    processed: float | None = None
    message: str | None = None
    gave_up: str | None = None


def held(**facts: Any) -> Delivery:
    """A row that waits for its turn: never sent, never due."""
    return Delivery(**{"status": "HELD", "due": None, "attempts": 0, "sends": 0, "first_sent": None} | facts)


def waiting(**facts: Any) -> Delivery:
    """A row for a consumer that is down: due, but not sent."""
    return Delivery(**{"due": 0, "attempts": 0, "sends": 0, "first_sent": None} | facts)


def deliveries(bench: Workbench, external_ref: str = "R-1") -> list[Delivery]:
    """All rows of an instance: by consumer in the order of their registration, then in the order in which they are sent."""
    found = bench.sql(
        "SELECT CONVERT(c.consumer_guid USING utf8mb4) AS consumer, ac.* FROM ack_consumer ac JOIN consumer c ON c.id = ac.consumer_id "
        f"JOIN instance i ON i.id = ac.instance_id WHERE i.external_ref = '{external_ref}' ORDER BY c.id, ac.seq, ac.kind, ac.ack_id"
    )
    return [_delivery(row) for row in found]


def delivery(bench: Workbench, **match: Any) -> Delivery:
    """The one row that has all of these facts."""
    found = [row for row in deliveries(bench) if all(getattr(row, name) == value for name, value in match.items())]
    assert len(found) == 1, found
    return found[0]


def _delivery(row: dict[str, Any]) -> Delivery:
    return Delivery(
        consumer=row["consumer"],
        seq=row["seq"],
        kind=EventKind(row["kind"]).label,
        status=AckStatus(row["status"]).name,
        due=seconds(row["next_due"]),
        attempts=row["trigger_count"],
        sends=row["sends"],
        retries=row["retry_count"],
        last_retry=seconds(row["last_retry"]),
        first_sent=seconds(row["first_sent_at"]),
        delivered=seconds(row["delivered_at"]),
        processed=seconds(row["processed_at"]),
        message=row["message"],
        gave_up=GaveUp(row["gave_up"]).label if row["gave_up"] else None,
    )


def seconds(moment: datetime | None) -> float | None:
    """Seconds after the start of the test, whole ones as such."""
    if moment is None:
        return None
    return (moment.replace(tzinfo=UTC) - START).total_seconds()


def steps(bench: Workbench, external_ref: str = "R-1") -> list[tuple[int, str, int, str]]:
    """The timeline as (seq, from, event code, to)."""
    found = bench.sql(
        "SELECT l.seq, f.name AS from_state, e.code, t.name AS to_state FROM lifecycle l JOIN instance i ON i.id = l.instance_id "
        "JOIN state f ON f.id = l.from_state JOIN state t ON t.id = l.to_state JOIN events e ON e.id = l.event_id "
        f"WHERE i.external_ref = '{external_ref}' ORDER BY l.seq"
    )
    return [(row["seq"], row["from_state"], row["code"], row["to_state"]) for row in found]


def stands(bench: Workbench, external_ref: str = "R-1") -> dict[str, Any]:
    """Where an instance stands."""
    found = bench.sql(
        "SELECT s.name AS state, i.flags, i.seq, i.suspended_by, i.message, i.state_entered_at, i.stale_at, i.state_due_kind, i.state_due_at "
        f"FROM instance i JOIN state s ON s.id = i.current_state WHERE i.external_ref = '{external_ref}'"
    )
    assert len(found) == 1, found
    return {name: seconds(value) if isinstance(value, datetime) else value for name, value in found[0].items()}


def everything(bench: Workbench) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table but the notices: equal before and after means that nothing was written."""
    rows = Rows(bench.database_url)
    try:
        tables = rows.run("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()")
        return {name: sorted(rows.run(f"SELECT * FROM {name}"), key=repr) for (name,) in sorted(tables) if name not in _UNCOUNTED}
    finally:
        rows.close()


def said(bench: Workbench) -> list[tuple[str, dict[str, Any]]]:
    """What was noticed, as (code, data), published and stored alike."""
    published = [notice.body() for notice in bench.publisher.notices]
    stored = bench.sql("SELECT code, data FROM notice")
    assert sorted(row["code"] for row in stored) == sorted(body["code"] for body in published), "published and stored notices differ"
    return [(body["code"], body["data"]) for body in published]


def codes(bench: Workbench) -> list[str]:
    return [code for code, _ in said(bench)]


def lost_in_lanes(bench: Workbench) -> list[dict[str, Any]]:
    """Held rows that nothing holds: no lower row of their lane is open, and their instance is not suspended."""
    return bench.sql(
        "SELECT h.consumer_id, h.instance_id, h.seq FROM ack_consumer h JOIN instance i ON i.id = h.instance_id "
        "WHERE h.status = 0 AND i.flags & 2 = 0 AND NOT EXISTS (SELECT 1 FROM ack_consumer b "
        "WHERE b.instance_id = h.instance_id AND b.consumer_id = h.consumer_id AND b.seq < h.seq AND b.status IN (1, 5))"
    )
