"""Keep a server no longer than its parent: when our standard input closes, by will or by death, the server is ended.

A pipe rather than PR_SET_PDEATHSIG: it works on every Unix and does not fire when only the thread that started us ends.
"""

import argparse
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from types import FrameType

SECONDS_TO_END = 15


def end(server: "subprocess.Popen[bytes]", removal: list[str]) -> None:
    """Ask the server to stop, and make it stop when it does not listen."""
    server.terminate()
    try:
        server.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        kill(server, removal)


def kill(server: "subprocess.Popen[bytes]", removal: list[str]) -> None:
    remove(removal)
    server.kill()


def remove(removal: list[str]) -> None:
    """End what outlives the process that we started: a container, whose client may be killed without it."""
    if removal:
        subprocess.run(removal, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def end_with_parent(server: "subprocess.Popen[bytes]", alone: threading.Event, options: argparse.Namespace) -> None:
    # Not sys.stdin: Python aborts when a buffered read is under way while it exits.
    while os.read(0, 1):
        pass
    alone.set()
    # Nothing is worth a clean shutdown when its folder is deleted next.
    (kill if options.remove else end)(server, options.removal)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--remove", metavar="FOLDER", help="delete this folder when the server was ended with its parent; what a crash left stays readable")
    parser.add_argument("--removal", metavar="COMMAND", type=shlex.split, default=[], help="run this when the server has to go at once, and after its end")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    server = subprocess.Popen(options.command, stdin=subprocess.DEVNULL)

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        server.terminate()

    signal.signal(signal.SIGTERM, on_signal)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    alone = threading.Event()
    threading.Thread(target=end_with_parent, args=(server, alone, options), daemon=True).start()
    code = server.wait()
    remove(options.removal)
    if options.remove and alone.is_set():
        shutil.rmtree(options.remove, ignore_errors=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
