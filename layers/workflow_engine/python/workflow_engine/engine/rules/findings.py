"""Collects findings while a document is read, so that all of them are told at once."""

from workflow_engine.models.finding import Finding, FindingSeverity

Path = tuple[str | int, ...]
# An answer must stay readable, and under the size that Lambda can return.
MAX_FINDINGS = 1_000
_MAX_QUOTED = 60


def pointer_of(path: Path) -> str:
    """The JSON pointer (RFC 6901) of a place in the request."""
    return "".join(f"/{str(token).replace('~', '~0').replace('/', '~1')}" for token in path)


def quoted(text: str) -> str:
    """Text for a message, short enough to be read and safe to be sent."""
    shown = text if len(text) <= _MAX_QUOTED else f"{text[: _MAX_QUOTED - 3]}..."
    return f'"{shown.encode("utf-8", "replace").decode("utf-8")}"'


class Findings:
    """The errors and the warnings of one import, each in the order they were found."""

    def __init__(self) -> None:
        self._errors: list[Finding] = []
        self._warnings: list[Finding] = []

    def error(self, code: str, path: Path, message: str) -> None:
        _add(self._errors, Finding(code=code, pointer=pointer_of(path), message=message, severity=FindingSeverity.ERROR))

    def warning(self, code: str, path: Path, message: str) -> None:
        _add(self._warnings, Finding(code=code, pointer=pointer_of(path), message=message, severity=FindingSeverity.WARNING))

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(self._errors)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(self._warnings)


def _add(items: list[Finding], finding: Finding) -> None:
    if len(items) < MAX_FINDINGS:
        items.append(finding)
    elif len(items) == MAX_FINDINGS:
        items.append(Finding(code="MORE_FINDINGS", pointer="", message=f"there is more; only the first {MAX_FINDINGS} are listed", severity=finding.severity))
