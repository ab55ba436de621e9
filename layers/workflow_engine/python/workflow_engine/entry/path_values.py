"""Path parameters that are more than text."""

from workflow_engine.errors import NotFoundError

_MAX_DIGITS = 18


def runtime_id(text: str) -> int:
    """What is no number names no activity."""
    if not (text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS):
        raise NotFoundError("runtime", "there is no such activity")
    return int(text)
