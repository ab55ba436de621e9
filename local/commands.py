"""What every long-running command has in common: it ends in order, and says what was wrong instead of showing a trace."""

import os
import signal
import sys
from collections.abc import Callable

from local.machine import LocalSetupError

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_command(main: Callable[[], int], interrupted: int = 0) -> int:
    """Run the command to its end, which may be Ctrl-C; heavy imports belong inside `main`, where an early Ctrl-C is quiet already."""
    _end_with_signals()
    try:
        return main()
    except LocalSetupError as error:
        print(f"error: {error}", file=sys.stderr)
    except BrokenPipeError:
        # Who read us has gone. Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"error: {error}\nMake the folder or file yours (it may belong to root after a sudo) and see that its disk has room", file=sys.stderr)
    except KeyboardInterrupt:
        return interrupted
    return 1


def _end_with_signals() -> None:
    """SIGTERM and a closed terminal end the command in order, as Ctrl-C does; a second one does not disturb the end."""

    def interrupt(_number: int, _frame: object) -> None:
        for number in _ENDING:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in _ENDING:
        signal.signal(number, interrupt)
