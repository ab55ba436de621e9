"""Keep a server no longer than its parent: when our standard input closes, by will or by death, the server is ended.

A pipe rather than PR_SET_PDEATHSIG: it works on every Unix and does not fire when only the thread that started us ends.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import threading
from types import FrameType

SECONDS_TO_END = 15


def end(server: "subprocess.Popen[bytes]") -> None:
    """Ask the server to stop, and make it stop when it does not listen."""
    server.terminate()
    try:
        server.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        server.kill()


def end_with_parent(server: "subprocess.Popen[bytes]", alone: threading.Event, *, scratch: bool) -> None:
    # Not sys.stdin: Python aborts when a buffered read is under way while it exits.
    while os.read(0, 1):
        pass
    alone.set()
    if scratch:
        # Nothing is worth a clean shutdown when its folder is deleted next.
        server.kill()
    else:
        end(server)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--remove", metavar="FOLDER", help="delete this folder when the server was ended with its parent; what a crash left stays readable")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    server = subprocess.Popen(options.command, stdin=subprocess.DEVNULL)

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        server.terminate()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    alone = threading.Event()
    threading.Thread(target=end_with_parent, args=(server, alone), kwargs={"scratch": bool(options.remove)}, daemon=True).start()
    code = server.wait()
    if options.remove and alone.is_set():
        shutil.rmtree(options.remove, ignore_errors=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
