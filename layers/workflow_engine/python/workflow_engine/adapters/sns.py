"""SnsPublisher: the engine's two outlets, topics WorkEvents and Notices."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from workflow_engine.adapters import aws
from workflow_engine.adapters.signing import Signer
from workflow_engine.adapters.sns_batch import BatchEntry, cut
from workflow_engine.dal.load import Deadline
from workflow_engine.engine.ports import Clock, PublishFailure
from workflow_engine.errors import StorageError
from workflow_engine.models.base import time_text
from workflow_engine.models.events import WorkMessage
from workflow_engine.models.notice import LifeCycleNotice

_log = logging.getLogger(__name__)
# SNS dislikes this batch; the next one may be fine. Anything else that fails a whole call would fail the next one too.
_OWN_FAULT = frozenset({"InvalidParameter", "InvalidParameterValue", "ParameterValueInvalid", "ValidationError", "BatchRequestTooLong", "InvalidBatchEntryId"})


def sns_client() -> Any:
    return aws.client("sns")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """`refused` gives the reasons by position in the batch; `is_down` says that there is no use in sending more now."""

    refused: dict[int, str]
    is_down: bool = False
    # The whole call was refused for what is in it.
    is_disliked: bool = False


@dataclass(slots=True)
class Progress:
    """What one publish has met so far."""

    failures: list[PublishFailure] = field(default_factory=list[PublishFailure])
    # A lane one of whose messages was not taken waits: a hook must not overtake its transition, nor an event the one before it.
    stopped: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    down: str = ""

    def reason_to_wait(self, message: WorkMessage) -> str:
        return self.down or ("" if message.ack_id is None else self.stopped.get(message.lane, ""))

    def failed(self, message: WorkMessage, reason: str, *, is_own_fault: bool = False) -> None:
        self.stopped.setdefault(message.lane, reason)
        self.failures.append(PublishFailure(message=message, reason=reason, is_outage=bool(self.down), is_own_fault=is_own_fault))


@dataclass(frozen=True, slots=True, kw_only=True)
class SnsPublisher:
    work_topic_arn: str
    notice_topic_arn: str
    signer: Signer
    clock: Clock
    client: Callable[[], Any] = sns_client

    def publish(self, messages: Sequence[WorkMessage], deadline: Deadline) -> list[PublishFailure]:
        """Send work events in the given order; return those that SNS did not take, or for which there was no time."""
        try:
            entries = [self._work_entry(message) for message in messages]
        except StorageError as error:
            # Without its key no message can be signed; they go out later, like those that SNS did not take.
            return [PublishFailure(message=message, reason=str(error), is_outage=True) for message in messages]
        progress = Progress()
        for batch in cut(entries):
            if deadline.remaining() < aws.WORST_CALL_SECONDS:
                progress.down = progress.down or "NoTimeLeft"
            self._publish_batch(batch, progress)
        return progress.failures

    def publish_notices(self, notices: Sequence[LifeCycleNotice], deadline: Deadline) -> None:
        """Send notices; what cannot be sent is logged, never raised."""
        try:
            for batch in cut([_notice_entry(notice) for notice in notices]):
                if deadline.remaining() < aws.WORST_CALL_SECONDS:
                    _log.warning("no time is left to publish notices", extra={"notice_codes": [entry.source.code.value for entry in batch]})
                    return
                result = self._send(self.notice_topic_arn, batch)
                for position, reason in result.refused.items():
                    _log.warning("notice was not published", extra={"notice_code": batch[position].source.code.value, "reason": reason})
                if result.is_down:
                    # Asking again for every ten of them would take longer than the caller has.
                    return
        except Exception:  # noqa: BLE001  # a notice never fails what it speaks of
            _log.exception("notices were not published")

    def _publish_batch(self, batch: Sequence[BatchEntry[WorkMessage]], progress: Progress) -> None:
        sendable: list[BatchEntry[WorkMessage]] = []
        for entry in batch:
            reason = progress.reason_to_wait(entry.source)
            if reason:
                progress.failed(entry.source, reason)
            else:
                sendable.append(entry)
        result = self._send(self.work_topic_arn, sendable)
        if result.is_disliked and len(sendable) > 1:
            # One of them is what SNS dislikes; alone, the others go out.
            for entry in sendable:
                self._publish_batch([entry], progress)
            return
        for position, reason in sorted(result.refused.items()):
            progress.down = progress.down or (reason if result.is_down else "")
            progress.failed(sendable[position].source, reason, is_own_fault=reason in _OWN_FAULT)

    def _send(self, topic_arn: str, entries: Sequence[BatchEntry[Any]]) -> BatchResult:
        if not entries:
            return BatchResult(refused={})
        requests = [entry.request(position) for position, entry in enumerate(entries)]
        try:
            answer = self.client().publish_batch(TopicArn=topic_arn, PublishBatchRequestEntries=requests)
        except aws.errors() as error:
            code = aws.error_code(error)
            _log.warning("SNS did not take a batch", extra={"reason": code, "messages": len(entries)})
            is_disliked = code in _OWN_FAULT
            return BatchResult(refused=dict.fromkeys(range(len(entries)), code), is_down=not is_disliked, is_disliked=is_disliked)
        return BatchResult(refused={int(failed["Id"]): str(failed.get("Code", "Unknown")) for failed in answer.get("Failed", [])})

    def _work_entry(self, message: WorkMessage) -> BatchEntry[WorkMessage]:
        # Real time, whatever the engine's clock says: receivers compare it with theirs.
        timestamp = int(self.clock.real_now().timestamp())
        attributes = {
            "kind": message.kind.label,
            "consumer": message.consumer,
            "env": str(message.env_code),
            "definition": message.definition,
            "route": message.route or "",
            "attempt": str(message.attempt),
            "first_sent_at": time_text(message.first_sent_at),
            "webhook-id": message.webhook_id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": self.signer.sign(message.consumer_id, message.webhook_id, timestamp, message.body),
        }
        return BatchEntry(source=message, body=message.body, attributes=_filled(attributes))


def _notice_entry(notice: LifeCycleNotice) -> BatchEntry[LifeCycleNotice]:
    env = "" if notice.env_code is None else str(notice.env_code)
    attributes = {"code": notice.code.value, "kind": notice.code.kind.value, "env": env, "consumer": notice.consumer or ""}
    return BatchEntry(source=notice, body=notice.json_body(), attributes=_filled(attributes))


def _filled(attributes: dict[str, str]) -> dict[str, str]:
    """SNS refuses an empty value."""
    return {name: value for name, value in attributes.items() if value}
