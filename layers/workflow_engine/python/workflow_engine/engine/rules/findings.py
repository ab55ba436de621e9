"""Collects findings while a document is read, so that all of them are told at once."""

from workflow_engine.models.finding import Finding, FindingSeverity

Path = tuple[str | int, ...]
# An answer must stay readable, and under the size that Lambda can return.
MAX_FINDINGS = 1_000


def pointer_of(path: Path) -> str:
    """The JSON pointer (RFC 6901) of a place in the request."""
    return "".join(f"/{str(token).replace('~', '~0').replace('/', '~1')}" for token in path)


def quoted(text: str) -> str:
    """Text for a message, short enough to be read."""
    return f'"{text}"' if len(text) <= 60 else f'"{text[:57]}..."'  # noqa: PLR2004


class Findings:
    """The errors and warnings of one import, in the order they were found."""

    def __init__(self) -> None:
        self._items: list[Finding] = []

    def error(self, code: str, path: Path, message: str) -> None:
        self._add(code, path, message, FindingSeverity.ERROR)

    def warning(self, code: str, path: Path, message: str) -> None:
        self._add(code, path, message, FindingSeverity.WARNING)

    @property
    def all(self) -> tuple[Finding, ...]:
        return tuple(self._items)

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(item for item in self._items if item.is_error)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(item for item in self._items if not item.is_error)

    def _add(self, code: str, path: Path, message: str, severity: FindingSeverity) -> None:
        # An error is always kept: a document must not pass because its warnings filled the list.
        if len(self._items) < MAX_FINDINGS or (severity is FindingSeverity.ERROR and not self.errors):
            self._items.append(Finding(code=code, pointer=pointer_of(path), message=message, severity=severity))
