"""`make serve`: the stack alone, in the foreground, until Ctrl-C."""

import sys
import threading

from local.machine import LocalSetupError, say
from local.stack import StackSettings, end_with_signals, running_stack


def main() -> int:
    """Run the stack; the one line on standard output says that it is healthy."""
    terminal = sys.stdout
    end_with_signals()
    try:
        with running_stack(StackSettings.from_environment()) as stack:
            say(f"SNS, SQS and Secrets Manager: {stack.aws_url}")
            say(f"log of the functions: {stack.log}")
            say("Ctrl-C ends it")
            print(f"ready {stack.url}", file=terminal, flush=True)
            threading.Event().wait()
    except LocalSetupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
