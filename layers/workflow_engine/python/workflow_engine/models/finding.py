"""What a look at an imported document found: a code, a JSON pointer from the request's root, a sentence."""

from dataclasses import dataclass
from enum import StrEnum


class FindingSeverity(StrEnum):
    """An error refuses the import, a warning is told and stored."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    code: str
    pointer: str
    message: str
    severity: FindingSeverity

    @property
    def is_error(self) -> bool:
        return self.severity is FindingSeverity.ERROR
