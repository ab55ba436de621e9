"""Outbox: after the commit, and only then, the world is told; what was not taken is given back to the monitor."""

import json
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from workflow_engine.engine.ports import PublishFailure
from workflow_engine.errors import StorageError
from workflow_engine.models.base import time_text
from workflow_engine.models.enums import NoticeCode
from workflow_engine.models.events import WorkMessage
from workflow_engine.models.notice import LifeCycleNotice

if TYPE_CHECKING:
    from workflow_engine.dal import DbExecutionLoad, Deadline, Statement, UnitIds, WorkFlowDAL
    from workflow_engine.engine.ports import Clock, Publisher
    from workflow_engine.options import WorkFlowEngineOptions

_log = logging.getLogger(__name__)


class Outbox:
    """The engine's two outlets: work events and notices. Nothing here ever changes the caller's answer."""

    def __init__(self, dal: "WorkFlowDAL", publisher: "Publisher", clock: "Clock", options: "WorkFlowEngineOptions") -> None:
        self._dal = dal
        self._publisher = publisher
        self._clock = clock
        self._options = options

    def notice_statements(self, notices: Sequence[LifeCycleNotice], ids: "UnitIds") -> "list[Statement]":
        """Store notices in the packet of the change they speak of."""
        return [self._dal.notice.insert([(ids.fresh_id(), notice) for notice in notices])] if notices else []

    def send(self, messages: Sequence[WorkMessage], notices: Sequence[LifeCycleNotice], deadline: "Deadline") -> int:
        """Publish what a unit committed and say what was not taken; return how many that were."""
        failures = self.send_quietly(messages, notices, deadline)
        if failures:
            self.raise_notices(self.failure_notices(failures), deadline)
        return len(failures)

    def send_quietly(self, messages: Sequence[WorkMessage], notices: Sequence[LifeCycleNotice], deadline: "Deadline") -> list[PublishFailure]:
        """Publish, give back what was not taken, and leave it to the caller to say so."""
        failures = self._publish(messages, deadline)
        kept = [failure.message for failure in failures if failure.message.ack_id is not None and not failure.is_own_fault]
        if kept:
            self._give_back(kept, deadline)
        if notices:
            self._publisher.publish_notices(notices, deadline)
        return failures

    def failure_notices(self, failures: Sequence[PublishFailure]) -> list[LifeCycleNotice]:
        now = self._clock.now()
        retry_at = now + timedelta(seconds=self._options.ack_pending_resend_seconds)
        return [_failure_notice(group, now, retry_at) for group in _by_consumer(failures)]

    def raise_notices(self, notices: Sequence[LifeCycleNotice], deadline: "Deadline") -> None:
        """Store and publish notices that belong to no change; never fails its caller."""
        if not notices:
            return
        ids = self._dal.unit_ids()
        try:
            self._dal.run(deadline, lambda load: self._dal.write(load, self.notice_statements(notices, ids)))
        except StorageError:
            _log.warning("notices could not be stored", extra={"codes": [notice.code.value for notice in notices]})
        self._publisher.publish_notices(notices, deadline)

    def _publish(self, messages: Sequence[WorkMessage], deadline: "Deadline") -> list[PublishFailure]:
        if not messages:
            return []
        try:
            return self._publisher.publish(messages, deadline)
        except Exception as error:  # noqa: BLE001  # whatever goes wrong while raising must not reach the caller, whose change is committed
            _log.exception("raising events failed")
            return [PublishFailure(message=message, reason=type(error).__name__, is_handler_error=True) for message in messages]

    def _give_back(self, messages: Sequence[WorkMessage], deadline: "Deadline") -> None:
        """Return the attempts, due again after the window, so that an outage of SNS exhausts nobody."""

        def unit(load: "DbExecutionLoad") -> None:
            self._dal.read(load, self._dal.instance.lock_by_ids(sorted({message.instance_id for message in messages})))
            now = self._clock.now()
            retry_at = now + timedelta(seconds=self._options.ack_pending_resend_seconds)
            self._dal.write(load, [self._dal.ack_consumer.give_back(message, retry_at, now) for message in messages])

        try:
            self._dal.run(deadline, unit, reserve=0)
        except StorageError:
            # The rows stay claimed: due again after their window, one attempt poorer.
            _log.warning("attempts could not be given back", extra={"count": len(messages)})


def _by_consumer(failures: Sequence[PublishFailure]) -> list[list[PublishFailure]]:
    groups: dict[tuple[int, bool], list[PublishFailure]] = {}
    for failure in failures:
        groups.setdefault((failure.message.consumer_id, failure.is_handler_error), []).append(failure)
    return list(groups.values())


def _failure_notice(group: Sequence[PublishFailure], now: datetime, retry_at: datetime) -> LifeCycleNotice:
    """One notice per consumer, with a count; a single event is named, and the instance if all events are of one."""
    first, is_single = group[0].message, len(group) == 1
    is_one_instance = len({failure.message.instance_id for failure in group}) == 1
    event: dict[str, Any] = json.loads(first.body) if is_one_instance else {}
    return LifeCycleNotice(
        code=NoticeCode.EVENT_HANDLER_ERROR if group[0].is_handler_error else NoticeCode.DISPATCH_FAILURE,
        occurred_at=now,
        env_code=first.env_code,
        instance_id=first.instance_id if is_one_instance else None,
        instance_guid=event.get("instance_guid"),
        external_ref=event.get("external_ref"),
        consumer_id=first.consumer_id,
        consumer=first.consumer,
        ack_guid=first.webhook_id if is_single and first.ack_id else None,
        # What has no ack is not sent again.
        data={"count": len(group), "reason": group[0].reason, "retry_at": time_text(retry_at) if any(one.message.ack_id for one in group) else None},
    )
