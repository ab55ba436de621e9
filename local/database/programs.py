"""What a database server is here: its kinds, the oldest versions that work, and a program that can be started."""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from local.machine import LocalSetupError, run

Kind = Literal["mariadb", "mysql"]
TITLES: dict[Kind, str] = {"mariadb": "MariaDB", "mysql": "MySQL"}

# SKIP LOCKED, which the monitor's claims need, came with these.
OLDEST: dict[Kind, tuple[int, int]] = {"mariadb": (10, 6), "mysql": (8, 0)}

# The server's root logs in through the socket, as the system user: nobody reaches it over the network.
FILL: dict[Kind, tuple[str, ...]] = {
    "mariadb": ("--skip-test-db", "--auth-root-authentication-method=socket", "--innodb-log-file-size=64M"),
    "mysql": ("--secure-file-priv=NULL", "--innodb-redo-log-capacity=64M", "--initialize-insecure"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """Where a server is put: the folder with its files, and what it listens on."""

    directory: Path
    address: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProgram:
    """A database server that can be run here.

    `command` starts it and says where it listens, `fill` makes an empty data folder, `removal` ends what outlives its client: a container.
    """

    kind: Kind
    version: str
    command: Callable[[Seat], tuple[str, ...]]
    fill: Callable[[Path], object]
    removal: Callable[[Path], tuple[str, ...]] | None = None

    @property
    def title(self) -> str:
        return f"{TITLES[self.kind]} {self.version}"


def as_user() -> tuple[str, ...]:
    """Servers refuse to run as root unless they are told to."""
    return ("--user=root",) if os.geteuid() == 0 else ()


def checked_version(kind: Kind, command: Sequence[str]) -> str:
    """Return the version that the server's command names, when it is one that works."""
    answer = run([*command, "--version"])
    version = re.search(r"Ver (\d+)\.(\d+)\.(\d+)", answer)
    if not version:
        raise LocalSetupError(f"`{' '.join(command)} --version` names no version: {answer.strip()}")
    text = version[0].removeprefix("Ver ")
    if (int(version[1]), int(version[2])) < OLDEST[kind]:
        raise LocalSetupError(f"{TITLES[kind]} {text} is too old, {OLDEST[kind][0]}.{OLDEST[kind][1]} is the oldest that works")
    return text


def fill(kind: Kind, command: Sequence[str], data: Path) -> None:
    """Make an empty data folder with the program that does it: mariadb-install-db, or mysqld itself."""
    # Named from its own folder: mariadb-install-db falls apart on a path with a space in it.
    run([*command, f"--datadir=./{data.name}", *FILL[kind]], cwd=data.parent)
    # A server's identity; each copy makes its own.
    (data / "auto.cnf").unlink(missing_ok=True)
