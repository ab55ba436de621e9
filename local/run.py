"""`make run`: the stack with a story played on it, then curl lines to try and two consumers that go on working, until Ctrl-C."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from local.demo.api import Api, ApiError, StoryError
from local.demo.chapters import CHAPTERS, Chapter, play
from local.demo.live import go_on, show_what_to_try
from local.demo.print import Printer, wants_colour
from local.demo.story import opened_story
from local.machine import LocalSetupError, say
from local.stack import Stack, StackSettings, end_with_signals, running_stack

_INTERRUPTED = 130


def main() -> int:
    """Play the story; 0 when every step of it went as it must."""
    # The stack sends what functions print to a file; the story is for the terminal.
    terminal = sys.stdout
    show = Printer(terminal, colour=wants_colour(terminal), paced=terminal.isatty())
    end_with_signals()
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
        say("ended; nothing is left behind")
        return _INTERRUPTED if once else 0


def run(show: Printer, settings: StackSettings, *, once: bool, chapters: Sequence[Chapter] = CHAPTERS, patience: float = 15.0) -> int:
    """Play the chapters on a stack of their own; without `once` stay until somebody ends it."""
    try:
        with running_stack(settings) as stack:
            _tell(show, stack, once=once, chapters=chapters, patience=patience)
    except (StoryError, ApiError) as error:
        show.failure(str(error))
        return 1
    show.heading("The end", "Every line came from an answer or a message of the engine, and every step was checked.")
    return 0


def _tell(show: Printer, stack: Stack, *, once: bool, chapters: Sequence[Chapter], patience: float) -> None:
    show.title(
        "WorkFlowEngine: a vendor's way to its account",
        [
            f"A whole engine runs at {stack.url}: its functions, a database, SNS, a monitor.",
            "→ a call to the engine   ← a message from it   ✓ signature verified   seq = number of the step",
        ],
    )
    with opened_story(Api(stack.url), show, patience=patience) as it:
        try:
            play(it, chapters)
        except (StoryError, ApiError):
            show.failure(f"What the functions logged is in {stack.log}")
            raise
        if not once:
            show_what_to_try(it, stack.url)
            go_on(it)


if __name__ == "__main__":
    sys.exit(main())
