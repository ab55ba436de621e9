"""Plain enums; the numbers are what the database stores."""

from enum import IntEnum, StrEnum

from workflow_engine.models.flags import LifeCycleInstanceFlag


class InstanceStatus(IntEnum):
    """The values of the generated column instance.status."""

    ACTIVE = 1
    SUSPENDED = 2
    COMPLETED = 3
    FAILED = 4
    ARCHIVED = 5

    @property
    def label(self) -> str:
        return self.name.capitalize()

    @classmethod
    def of(cls, flags: int) -> "InstanceStatus":
        for flag, status in _STATUS_BY_PRECEDENCE:
            if flags & flag:
                return status
        return cls.ACTIVE


_STATUS_BY_PRECEDENCE = (
    (LifeCycleInstanceFlag.ARCHIVED, InstanceStatus.ARCHIVED),
    (LifeCycleInstanceFlag.FAILED, InstanceStatus.FAILED),
    (LifeCycleInstanceFlag.SUSPENDED, InstanceStatus.SUSPENDED),
    (LifeCycleInstanceFlag.COMPLETED, InstanceStatus.COMPLETED),
)


class AckStatus(IntEnum):
    HELD = 0
    PENDING = 1
    DELIVERED = 2
    PROCESSED = 3
    FAILED = 4
    PARKED = 5
    SUSPENDING = 6

    @property
    def label(self) -> str:
        return _ACK_LABELS[self]


_ACK_LABELS = {
    AckStatus.HELD: "Pending",
    AckStatus.PENDING: "Pending",
    AckStatus.DELIVERED: "Delivered",
    AckStatus.PROCESSED: "Processed",
    AckStatus.FAILED: "Failed",
    AckStatus.PARKED: "Failed",
    AckStatus.SUSPENDING: "Failed",
}


class GaveUp(IntEnum):
    """What the engine did with a consumer that never answered; also the consumer's choice `on_exhausted`."""

    SUSPEND = 1
    PARK = 2
    SKIP = 3

    @property
    def label(self) -> str:
        return self.name.lower()


class SuspendedBy(IntEnum):
    ENGINE = 1
    OPERATOR = 2


class StateDueKind(IntEnum):
    STALE = 1
    TIMEOUT = 2


class EventKind(IntEnum):
    TRANSITION = 1
    HOOK = 2

    @property
    def label(self) -> str:
        return self.name.lower()


class AckOutcome(StrEnum):
    DELIVERED = "Delivered"
    PROCESSED = "Processed"
    FAILED = "Failed"
    RETRY = "Retry"


class RefusalReason(StrEnum):
    UNKNOWN_EVENT = "UnknownEvent"
    INVALID_TRANSITION = "InvalidTransition"
    NO_OP_ALREADY_IN_STATE = "NoOpAlreadyInState"
    INSTANCE_IS_TERMINAL = "InstanceIsTerminal"
    INSTANCE_NOT_ACTIVE = "InstanceNotActive"


class NoticeKind(StrEnum):
    INFO = "Info"
    WARN = "Warn"
    OVERDUE = "OverDue"
    ERROR = "Error"


class NoticeCode(StrEnum):
    ACK_RETRY = "ACK_RETRY"
    ACK_SUSPEND = "ACK_SUSPEND"
    ACK_PARKED = "ACK_PARKED"
    ACK_SKIPPED = "ACK_SKIPPED"
    ACK_FAIL = "ACK_FAIL"
    DISPATCH_FAILURE = "DISPATCH_FAILURE"
    CONSUMER_FAILURE = "CONSUMER_FAILURE"
    CONSUMER_DOWN = "CONSUMER_DOWN"
    DEFAULT_STATE_STALE = "DEFAULT_STATE_STALE"
    TIMEOUT_FIRED = "TIMEOUT_FIRED"
    STATE_TIMEOUT_EXCEEDED = "STATE_TIMEOUT_EXCEEDED"
    DUPLICATE_REQUEST = "DUPLICATE_REQUEST"
    NOOP_ALREADY_IN_STATE = "NOOP_ALREADY_IN_STATE"
    TRANSITION_REJECTED = "TRANSITION_REJECTED"
    NO_HOOK_CONSUMER = "NO_HOOK_CONSUMER"
    STALE_ACK = "STALE_ACK"
    MONITOR_ERROR = "MONITOR_ERROR"
    EVENT_HANDLER_ERROR = "EVENT_HANDLER_ERROR"
    TRIGGER_ERROR = "TRIGGER_ERROR"

    @property
    def kind(self) -> NoticeKind:
        return _NOTICE_KINDS.get(self, NoticeKind.WARN)


_NOTICE_KINDS = {
    NoticeCode.DEFAULT_STATE_STALE: NoticeKind.OVERDUE,
    NoticeCode.STATE_TIMEOUT_EXCEEDED: NoticeKind.OVERDUE,
    NoticeCode.TIMEOUT_FIRED: NoticeKind.INFO,
    NoticeCode.DUPLICATE_REQUEST: NoticeKind.INFO,
    NoticeCode.NOOP_ALREADY_IN_STATE: NoticeKind.INFO,
    NoticeCode.MONITOR_ERROR: NoticeKind.ERROR,
    NoticeCode.EVENT_HANDLER_ERROR: NoticeKind.ERROR,
    NoticeCode.TRIGGER_ERROR: NoticeKind.ERROR,
}
