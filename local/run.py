"""`make run`: the stack with a story played on it, then curl lines to try and two consumers that go on working, until Ctrl-C."""

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from local.demo_api import Api, ApiError, StoryError
from local.demo_chapters import CHAPTERS, Chapter, play
from local.demo_live import go_on, show_what_to_try
from local.demo_print import Printer, wants_colour
from local.demo_story import opened_story
from local.machine import LocalSetupError, say
from local.stack import StackSettings, running_stack

_INTERRUPTED = 130


def main() -> int:
    """Play the story; 0 when every step of it went as it must."""
    # The stack sends what functions print to a file; the story is for the terminal.
    terminal = sys.stdout
    show = Printer(terminal, colour=wants_colour(terminal), paced=terminal.isatty())
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    once = os.environ.get("DEMO") == "once"
    try:
        settings = StackSettings.from_environment()
        if settings.keep:
            say("WFE_KEEP is for `make serve`: the story begins with an empty database")
        return run(show, replace(settings, keep=False), once=once)
    except LocalSetupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED if once else 0


def run(show: Printer, settings: StackSettings, *, once: bool, chapters: Sequence[Chapter] = CHAPTERS, patience: float = 15.0) -> int:
    """Play the chapters on a stack of their own; without `once` stay until somebody ends it."""
    with running_stack(settings) as stack:
        show.title(
            "WorkFlowEngine: a vendor's way to its account",
            [
                f"A whole engine runs at {stack.url}: its functions, a database, SNS, a monitor.",
                "→ a call to the engine   ← a message from it   ✓ signature verified   seq = number of the step",
            ],
        )
        try:
            with opened_story(Api(stack.url), show, patience=patience) as it:
                play(it, chapters)
                if not once:
                    show_what_to_try(it, stack.url)
                    go_on(it)
        except (StoryError, ApiError) as error:
            show.failure(str(error))
            show.failure(f"What the functions logged is in {stack.log}")
            return 1
        except KeyboardInterrupt:
            say("ending; nothing is left behind")
            _forget(stack.log)
            raise
        _forget(stack.log)
    show.heading("The end", "Every line came from an answer or a message of the engine, and every step was checked.")
    return 0


def _forget(log: Path) -> None:
    """Remove the log, and its folder with the last one; other stacks may be writing theirs."""
    log.unlink(missing_ok=True)
    with suppress(OSError):
        log.parent.rmdir()


def _interrupt(_number: int, _frame: object) -> NoReturn:
    """End in order; who presses Ctrl-C again must not stop the cleaning up."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
