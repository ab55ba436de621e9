"""The error tree; knows no HTTP.

WorkFlowError
├── InvalidRequestError            INVALID_REQUEST
│   ├── InvalidDefinitionError     INVALID_DEFINITION
│   └── InvalidPolicyError         INVALID_POLICY
├── NotOwnerError                  NOT_OWNER
├── NotFoundError                  ROUTE_, DEFINITION_, INSTANCE_, CONSUMER_, ACK_, RUNTIME_NOT_FOUND
├── MethodNotAllowedError          METHOD_NOT_ALLOWED
├── ConflictError                  NO_TRANSITION_CONSUMER, REQUEST_ID_REUSED, VERSION_CONFLICT, ENDPOINT_IN_USE, STATUS_CONFLICT
├── TooLargeError                  TOO_LARGE
└── StorageError                   UNAVAILABLE: try again
    ├── DeadlineExceededError
    ├── ConnectionLostError        the packet may or may not have taken effect
    ├── AccessDeniedError          credentials may have been rotated
    └── RestartUnitError           rolled back; the unit of work may run again
        ├── DuplicateKeyError
        ├── MissingKeyError
        └── OutOfIdsError          the unit needs more ids than were reserved
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorItem:
    pointer: str
    code: str
    message: str


class WorkFlowError(Exception):
    """Base of all errors the engine raises on purpose."""

    code = "INTERNAL"
    errors: tuple[ErrorItem, ...] = ()


class InvalidRequestError(WorkFlowError):
    code = "INVALID_REQUEST"

    def __init__(self, message: str, errors: tuple[ErrorItem, ...] = ()) -> None:
        super().__init__(message)
        self.errors = errors


class InvalidDefinitionError(InvalidRequestError):
    code = "INVALID_DEFINITION"


class InvalidPolicyError(InvalidRequestError):
    code = "INVALID_POLICY"


class NotOwnerError(WorkFlowError):
    code = "NOT_OWNER"


class NotFoundError(WorkFlowError):
    def __init__(self, what: str, message: str) -> None:
        super().__init__(message)
        self.code = f"{what.upper()}_NOT_FOUND"


class MethodNotAllowedError(WorkFlowError):
    code = "METHOD_NOT_ALLOWED"

    def __init__(self, message: str, allowed: tuple[str, ...]) -> None:
        super().__init__(message)
        self.allowed = allowed


class ConflictError(WorkFlowError):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class TooLargeError(WorkFlowError):
    code = "TOO_LARGE"


class StorageError(WorkFlowError):
    """The database did not do it; the same request may work in a moment."""

    code = "UNAVAILABLE"


class DeadlineExceededError(StorageError):
    pass


class ConnectionLostError(StorageError):
    pass


class AccessDeniedError(StorageError):
    pass


class RestartUnitError(StorageError):
    """Deadlock, lock wait or a read-only writer: rolled back, worth another try."""


class DuplicateKeyError(RestartUnitError):
    def __init__(self, message: str, key: str) -> None:
        super().__init__(message)
        self.key = key


class MissingKeyError(RestartUnitError):
    pass


class OutOfIdsError(RestartUnitError):
    pass
