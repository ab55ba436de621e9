"""Flag enums, named as the guidelines ask."""

from enum import IntFlag


class LifeCycleInstanceFlag(IntFlag):
    ACTIVE = 1
    SUSPENDED = 2
    COMPLETED = 4
    FAILED = 8
    ARCHIVED = 16


class LifeCycleStateFlag(IntFlag):
    NONE = 0
    INITIAL = 1
    FINAL = 2


class LifeCycleTransitionFlag(IntFlag):
    NONE = 0
    SELF_LOOP = 1


class LifeCycleTransitionLogFlag(IntFlag):
    NONE = 0
    SYSTEM = 1


class LifeCycleKindFlag(IntFlag):
    """What a consumer listens to."""

    TRANSITION = 1
    HOOK = 2
