"""What this machine offers: folders, locks, commands, its package manager; and the error that says what to do."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
LOCAL = ROOT / ".local"

# Servers are often installed where an ordinary user's PATH does not look.
SERVER_FOLDERS = (
    "/usr/sbin",
    "/usr/local/sbin",
    "/usr/libexec",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/opt/homebrew/opt/mariadb/bin",
    "/opt/homebrew/opt/mysql/bin",
    "/usr/local/opt/mariadb/bin",
    "/usr/local/opt/mysql/bin",
)


class LocalSetupError(Exception):
    """Something is missing or broken on this machine; the message says what to do about it."""


def say(text: str) -> None:
    """Tell the person at the terminal; standard output is kept for answers that scripts read."""
    print(f"· {text}", file=sys.stderr, flush=True)


def find_command(*names: str) -> str | None:
    """Return the first of the named programs that this machine has."""
    return next(iter(find_commands(*names)), None)


def find_commands(*names: str) -> list[str]:
    """Return every program of these names: what comes first on PATH may be of the other kind."""
    folders = dict.fromkeys([*os.environ.get("PATH", os.defpath).split(os.pathsep), *SERVER_FOLDERS])
    return [found for name in names for folder in folders if folder and (found := shutil.which(name, path=folder))]


def run(command: Sequence[str], env: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    """Run a command to its end and return what it printed; a failure shows the end of it."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=env, cwd=cwd, check=False
        )
    except OSError as error:
        raise LocalSetupError(f"`{command[0]}` cannot be run: {error.strerror}") from error
    if done.returncode:
        raise LocalSetupError(f"`{' '.join(command)}` failed with exit code {done.returncode}:\n{last_lines(done.stdout)}")
    return done.stdout


def run_shown(command: Sequence[str], env: dict[str, str] | None = None) -> None:
    """Run a command that takes long and shows its own progress; what it complains about is kept for the error."""
    # To the file of standard error itself: a terminal there gets the moving bars.
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=2, stderr=subprocess.PIPE, text=True, errors="replace", env=env, check=False)
    if done.returncode:
        raise LocalSetupError(f"`{' '.join(command)}` failed with exit code {done.returncode}:\n{last_lines(done.stderr)}")


def last_lines(text: str, count: int = 12) -> str:
    return "\n".join(f"    {line}" for line in text.strip().splitlines()[-count:])


@contextmanager
def exclusive(path: Path) -> Generator[None]:
    """Wait until nobody else on this machine does the same work."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def take_lock(path: Path) -> IO[str] | None:
    """Return the held lock file, or None when a living process holds it; children that inherit it keep it held."""
    file = path.open("a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def privilege() -> list[str] | None:
    """Return what makes a command run as root without asking anybody, None when nothing does."""
    if os.geteuid() == 0:
        return []
    sudo = find_command("sudo")
    allowed = sudo and subprocess.run([sudo, "-n", "true"], stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode == 0
    return [sudo, "-n"] if sudo and allowed else None


def apt_install(title: str, prefixes: Sequence[str]) -> None:
    """Install the newest package of each name, with or without a version behind it (mariadb-server-core, mariadb-server-core-10.6)."""
    prefix = privilege()
    if prefix is None or not find_command("apt-get"):
        raise LocalSetupError("no apt-get, or neither root nor a sudo that asks nothing")
    say(f"{title}: installing the server's programs (no system service)")
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "-q", "-o", "DPkg::Lock::Timeout=300"]
    run([*apt, "update"])
    known = run(["apt-cache", "pkgnames"]).split()
    # MariaDB's and MySQL's packages exclude each other: never take away what the machine has.
    run([*apt, "install", "--no-install-recommends", "--no-remove", *(newest_package(name, known) for name in prefixes)])


def brew_install(title: str, formula: str) -> None:
    """Install the programs of a formula: no service, and no data folder outside this project."""
    brew = find_command("brew")
    if not brew:
        raise LocalSetupError("there is no brew command")
    say(f"{title}: installing it with Homebrew (no service)")
    run_shown([brew, "install", "--skip-post-install", formula], env={**os.environ, "HOMEBREW_NO_AUTO_UPDATE": "1", "NONINTERACTIVE": "1"})


def newest_package(prefix: str, names: Sequence[str]) -> str:
    """Return the plain name where there is one, else the one with the highest version behind it."""
    versions = {name: [int(part) for part in found[1].split(".")] for name in names if (found := re.fullmatch(rf"{re.escape(prefix)}-([\d.]*\d)", name))}
    if prefix in names:
        return prefix
    if not versions:
        raise LocalSetupError(f"the package sources of this machine have no {prefix}")
    return max(versions, key=lambda name: versions[name])
