"""What handlers count: one function an answer, so that the names of metrics stand in one place."""

from workflow_engine.entry.observability import count, measure_seconds
from workflow_engine.models.ack import AckAnswer, AckBatchAnswer, AckItem, AckRequest
from workflow_engine.models.enums import AckOutcome
from workflow_engine.models.monitor import MonitorReport
from workflow_engine.models.trigger import LifeCycleTriggerResult

_ACK_METRICS = {
    AckOutcome.DELIVERED: "AcksDelivered",
    AckOutcome.PROCESSED: "AcksProcessed",
    AckOutcome.FAILED: "AcksFailed",
    AckOutcome.RETRY: "AcksRetried",
}
_MONITOR_METRICS = {
    "MonitorPasses": "passes",
    "MonitorFound": "found",
    "MonitorSent": "sent",
    "MonitorGivenBack": "given_back",
    "MonitorFailed": "failed",
    "MonitorTimedOut": "timed_out",
    "MonitorNoticed": "noticed",
    "InstancesSuspended": "suspended",
}


def count_trigger(result: LifeCycleTriggerResult) -> LifeCycleTriggerResult:
    if result.replayed:
        count("TriggersReplayed")
    else:
        count("TriggersApplied" if result.applied else "TriggersRefused")
    return result


def count_acks(request: AckRequest, answer: AckAnswer | AckBatchAnswer) -> AckAnswer | AckBatchAnswer:
    """Count what changed something; repeats and refusals say nothing new."""
    answers = answer.items if isinstance(answer, AckBatchAnswer) else [answer]
    for item, given in zip(request.items(), answers, strict=True):
        if isinstance(item, AckItem) and given.result == "applied":
            count(_ACK_METRICS[item.outcome])
    return answer


def count_monitor(report: MonitorReport) -> None:
    """Zeros too: an alarm watches for the monitor that says nothing."""
    for name, field in _MONITOR_METRICS.items():
        count(name, getattr(report, field))
    measure_seconds("MonitorSeconds", report.seconds)
    measure_seconds("OldestDueSeconds", report.oldest_due_seconds)
