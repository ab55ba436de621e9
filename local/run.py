"""`make run`: the stack with a story played on it, then curl lines to try and two consumers that go on working, until Ctrl-C."""

import os
import sys
from dataclasses import replace

from local.commands import run_command
from local.machine import say

_ONCE = os.environ.get("DEMO") == "once"
_INTERRUPTED = 130


def main() -> int:
    """Play the story; 0 when every step of it went as it must."""
    from local.demo.playing import run  # noqa: PLC0415  # see run_command
    from local.demo.print import Printer, wants_colour  # noqa: PLC0415
    from local.stack import StackSettings  # noqa: PLC0415

    # The stack sends what functions print to a file; the story is for the terminal.
    terminal = sys.stdout
    show = Printer(terminal, colour=wants_colour(terminal), paced=terminal.isatty())
    settings = StackSettings.from_environment()
    if settings.keep:
        say("WFE_KEEP is for `make serve`: the story begins with an empty database")
    try:
        return run(show, replace(settings, keep=False), once=_ONCE)
    except KeyboardInterrupt:
        say("ended; nothing is left behind")
        raise


if __name__ == "__main__":
    sys.exit(run_command(main, interrupted=_INTERRUPTED if _ONCE else 0))
