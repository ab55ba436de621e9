"""`make serve`: the stack alone, in the foreground, until Ctrl-C."""

import sys
import threading

from local.commands import run_command
from local.machine import say

_LOOK_EVERY_SECONDS = 5.0


def main() -> int:
    """Run the stack; the one line on standard output says that it is healthy."""
    from local.stack import StackSettings, running_stack  # noqa: PLC0415  # see run_command

    terminal = sys.stdout
    with running_stack(StackSettings.from_environment()) as stack:
        say(f"SNS, SQS and Secrets Manager: {stack.aws_url}")
        say(f"log of the functions: {stack.log}")
        say("Ctrl-C ends it")
        print(f"ready {stack.url}", file=terminal, flush=True)
        was_healthy = True
        while True:
            threading.Event().wait(_LOOK_EVERY_SECONDS)
            is_healthy = stack.is_healthy()
            if is_healthy is not was_healthy:
                say("the engine is healthy again" if is_healthy else f"the engine is not healthy any more, its database may be gone; its log is {stack.log}")
            was_healthy = is_healthy


if __name__ == "__main__":
    sys.exit(run_command(main))
