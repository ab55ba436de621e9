"""The server programs: found on the machine, else installed, else unpacked below `.local/`."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from local.machine import LOCAL, LocalSetupError, apt_install, exclusive, find_command, run, say
from local.mysql_packages import unpack_mysql

Kind = Literal["mariadb", "mysql"]
TITLES: dict[Kind, str] = {"mariadb": "MariaDB", "mysql": "MySQL"}

# SKIP LOCKED, which the monitor's claims need, came with these.
OLDEST: dict[Kind, tuple[int, int]] = {"mariadb": (10, 6), "mysql": (8, 0)}

MYSQL_ROOT = LOCAL / "mysql" / "root"

WHAT_TO_DO = """{title} is not on this machine and could not be brought here: {reason}
Do one of these and try again:
  - install it: {install}
  - name a server you have: WFE_DATABASE_URL=mysql://user:password@host:port/name"""

INSTALL: dict[Kind, str] = {
    "mariadb": "`apt-get install mariadb-server-core mariadb-client-core` as root, `brew install mariadb`; DB=mysql needs no root on Debian and Ubuntu",
    "mysql": "`apt-get install mysql-server-core-8.0` as root on Ubuntu, `brew install mysql`",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerProgram:
    """A database server that can be run here: `command` starts it, `fill` makes an empty data folder."""

    kind: Kind
    version: str
    command: tuple[str, ...]
    fill: Callable[[Path], object]

    @property
    def title(self) -> str:
        return f"{TITLES[self.kind]} {self.version}"


def ensure_program(kind: Kind) -> ServerProgram:
    """Return the server program, bringing it to the machine when it is missing."""
    return _mariadb() if kind == "mariadb" else _mysql()


def as_user() -> tuple[str, ...]:
    """Servers refuse to run as root unless they are told to."""
    return ("--user=root",) if os.geteuid() == 0 else ()


def _mariadb() -> ServerProgram:
    found = find_command("mariadbd", "mysqld")
    if not found or not _is_mariadb(found):
        say("MariaDB: installing the server's programs (no system service)")
        try:
            apt_install(["mariadb-server-core", "mariadb-client-core"])
        except LocalSetupError as error:
            raise _missing("mariadb", error) from error
        found = find_command("mariadbd")
    installer = find_command("mariadb-install-db", "mysql_install_db")
    if not found or not installer:
        raise _missing("mariadb", "mariadbd or mariadb-install-db is missing")
    return _program("mariadb", (found,), partial(_fill_mariadb, installer))


def _mysql() -> ServerProgram:
    found = find_command("mysqld")
    if found and not _is_mariadb(found):
        return _program("mysql", (found,), partial(_fill_mysql, (found,)))
    try:
        with exclusive(LOCAL / "mysql" / "unpack.lock"):
            if not MYSQL_ROOT.is_dir():
                unpack_mysql(MYSQL_ROOT)
    except LocalSetupError as error:
        raise _missing("mysql", error) from error
    command = unpacked_command(MYSQL_ROOT)
    return _program("mysql", command, partial(_fill_mysql, command))


def _missing(kind: Kind, reason: object) -> LocalSetupError:
    return LocalSetupError(WHAT_TO_DO.format(title=TITLES[kind], reason=reason, install=INSTALL[kind]))


def unpacked_command(root: Path) -> tuple[str, ...]:
    """Return the command that runs the unpacked server with the loader and libraries of its own folder."""
    folders = [folder for part in ("usr/lib", "lib") for folder in sorted((root / part).glob("*-linux-gnu"))]
    loader = next((loader for folder in folders for loader in sorted(folder.glob("ld-linux*.so.*"))), None)
    if loader is None or not (root / "usr/sbin/mysqld").is_file():
        raise LocalSetupError(f"{root} is incomplete: delete it and try again")
    share = root / "usr/share/mysql"
    files = (f"--lc-messages-dir={share}", f"--character-sets-dir={share / 'charsets'}", f"--plugin-dir={root / 'usr/lib/mysql/plugin'}")
    return (str(loader), "--library-path", ":".join(str(folder) for folder in folders), str(root / "usr/sbin/mysqld"), "--no-defaults", *files)


def _is_mariadb(program: str) -> bool:
    return "MariaDB" in run([program, "--version"])


def _program(kind: Kind, command: tuple[str, ...], fill: Callable[[Path], object]) -> ServerProgram:
    if "--no-defaults" not in command:
        command = (*command, "--no-defaults")
    answer = run([*command, "--version"])
    version = re.search(r"Ver (\d+)\.(\d+)\.(\d+)", answer)
    if not version:
        raise LocalSetupError(f"`{command[0]} --version` names no version: {answer.strip()}")
    if (int(version[1]), int(version[2])) < OLDEST[kind]:
        oldest = ".".join(str(part) for part in OLDEST[kind])
        raise LocalSetupError(
            f"{TITLES[kind]} {version[0].removeprefix('Ver ')} is too old, {oldest} is the oldest that works: install a newer one or set WFE_DATABASE_URL"
        )
    return ServerProgram(kind=kind, version=version[0].removeprefix("Ver "), command=command, fill=fill)


def _fill_mariadb(installer: str, data: Path) -> None:
    # The server's root logs in through the socket, as the system user: nobody reaches it over the network.
    run(
        [
            installer,
            "--no-defaults",
            *as_user(),
            f"--datadir={data}",
            "--skip-test-db",
            "--auth-root-authentication-method=socket",
            "--innodb-log-file-size=64M",
        ]
    )


def _fill_mysql(command: tuple[str, ...], data: Path) -> None:
    defaults = () if "--no-defaults" in command else ("--no-defaults",)
    run([*command, *defaults, *as_user(), f"--datadir={data}", "--secure-file-priv=NULL", "--innodb-redo-log-capacity=64M", "--initialize-insecure"])
    # A server's identity; each copy makes its own.
    (data / "auto.cnf").unlink(missing_ok=True)
