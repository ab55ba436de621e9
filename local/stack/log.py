"""The log of a stack: what its functions and its own parts say, away from the terminal."""

import logging
from collections.abc import Generator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import IO, cast


@contextmanager
def logging_to(path: Path, *, keep: bool) -> Generator[None]:
    """What functions print goes to a file: the terminal is for people. After a failure it stays, or when the data stays too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", buffering=1, encoding="utf-8") as log, redirect_stdout(cast("IO[str]", log)), _own_logs_to(log):
        try:
            yield
        except BrokenPipeError:
            _remove(path, keep=keep)
            raise
        except Exception:
            raise
        except BaseException:
            _remove(path, keep=keep)
            raise
    _remove(path, keep=keep)


def _remove(log: Path, *, keep: bool) -> None:
    if not keep:
        log.unlink(missing_ok=True)


@contextmanager
def _own_logs_to(log: IO[str]) -> Generator[None]:
    handler, logger = logging.StreamHandler(log), logging.getLogger("local")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
