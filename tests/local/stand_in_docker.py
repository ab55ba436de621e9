"""Stands for docker where there is none: a container is a process of this machine that outlives its client, as a real one does.

Called with its folder first. Its file programs.json says what the programs of an image are here; a file called silent, rootless or offline
makes the daemon so.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

STATE = Path(sys.argv[1])
IMAGE = STATE / "image"


def fail(text: str) -> int:
    sys.stderr.write(f"{text}\n")
    return 1


def answer(text: str) -> int:
    sys.stdout.write(f"{text}\n")
    return 0


def info(_arguments: list[str]) -> int:
    if (STATE / "silent").exists():
        return fail("Cannot connect to the Docker daemon. Is the docker daemon running?")
    return answer("[name=seccomp,profile=default name=rootless]" if (STATE / "rootless").exists() else "[name=seccomp,profile=default]")


def image(arguments: list[str]) -> int:
    return 0 if IMAGE.exists() and IMAGE.read_text() == arguments[-1] else fail(f"No such image: {arguments[-1]}")


def pull(arguments: list[str]) -> int:
    if (STATE / "offline").exists():
        return fail("Error response from daemon: no such host")
    IMAGE.write_text(arguments[-1])
    return answer(f"{arguments[-1]}: Pulling from library, 3 layers of 8")


def run(arguments: list[str]) -> int:
    """Translate the command line of the container to one of this machine, and stay as long as it runs."""
    given = {arguments[n]: arguments[n + 1] for n in range(len(arguments) - 1) if arguments[n].startswith("--") and "=" not in arguments[n]}
    after = arguments.index("--no-defaults") + 1
    # A container begins in its own folder, wherever its client was started.
    os.chdir(given.get("--workdir", "/"))
    known = json.loads((STATE / "programs.json").read_text())
    command = [*known["programs"][given["--entrypoint"]], *(word for word in arguments[after:] if not word.startswith(("--socket=", "--bind-address=")))]
    if "--publish" in given:
        command += [f"--bind-address={given['--publish'].split(':')[0]}", "--socket=../server.sock"]
    name = STATE / given.get("--name", "unnamed")
    with (STATE / f"{name.name}.lock").open("a") as alive:
        fcntl.flock(alive, fcntl.LOCK_EX)
        container = subprocess.Popen(command, start_new_session=True, pass_fds=[alive.fileno()], env={**os.environ, "PATH": known["path"]})
    name.write_text(str(container.pid))
    signal.signal(signal.SIGTERM, lambda *_: container.terminate())
    code = container.wait()
    name.unlink(missing_ok=True)
    return code


def rm(arguments: list[str]) -> int:
    name = STATE / arguments[-1]
    if not name.exists():
        return fail(f"Error: No such container: {name.name}")
    os.kill(int(name.read_text()), signal.SIGKILL)
    with (STATE / f"{name.name}.lock").open("a") as alive:
        fcntl.flock(alive, fcntl.LOCK_EX)
    name.unlink(missing_ok=True)
    return 0


def ps(_arguments: list[str]) -> int:
    for path in STATE.glob("wfe-*.lock"):
        with path.open("a") as alive:
            try:
                fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                answer(path.stem)
    return 0


sys.exit({"info": info, "image": image, "pull": pull, "run": run, "rm": rm, "ps": ps}[sys.argv[2]](sys.argv[3:]))
