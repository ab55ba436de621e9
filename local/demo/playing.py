"""A story on a stack of its own: the chapters, then what to try and two consumers that go on working."""

from collections.abc import Sequence

from local.demo.api import Api, ApiError, StoryError
from local.demo.chapters import CHAPTERS, Chapter, play
from local.demo.live import go_on, show_what_to_try
from local.demo.print import Printer
from local.demo.story import opened_story
from local.stack import Stack, StackSettings, running_stack


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
