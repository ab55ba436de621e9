"""The server programs: found on the machine, else installed or unpacked below `.local/`, else run in a container."""

from functools import partial
from pathlib import Path

from local.database.docker import docker_program
from local.database.mysql_packages import unpack_mysql
from local.database.programs import TITLES, Kind, Seat, ServerProgram, as_user, checked_version, fill
from local.machine import LOCAL, LocalSetupError, apt_install, brew_install, exclusive, find_command, find_commands, run, say

MYSQL_ROOT = LOCAL / "mysql" / "root"
PACKAGES = ("mariadb-server-core", "mariadb-client-core")

WHAT_TO_DO = """no {title} that works is on this machine, and none could be brought here:
{reasons}
Do one of these and try again:
  - install it: {install}
  - install Docker, or start it
  - name a server you have: WFE_DATABASE_URL=mysql://user:password@host:port/name"""

INSTALL: dict[Kind, str] = {
    "mariadb": "`apt-get install mariadb-server-core mariadb-client-core` as root, `brew install mariadb`; DB=mysql needs no root on Debian and Ubuntu",
    "mysql": "`apt-get install mysql-server-core-8.0` as root on Ubuntu, `brew install mysql`",
}


def default_kind() -> Kind:
    """Return the kind to take when nobody chose: MariaDB, unless a MySQL is what the machine has."""
    return "mysql" if not _of_kind("mariadb") and _of_kind("mysql") else "mariadb"


def ensure_program(kind: Kind) -> ServerProgram:
    """Return the server program, bringing it to the machine when it is missing; an error says what each way lacked."""
    ways = {"this machine": _found, "packages": _from_packages, "Homebrew": _from_homebrew, "Docker": docker_program}
    reasons: list[str] = []
    for name, way in ways.items():
        try:
            return way(kind)
        except LocalSetupError as error:
            reasons.append(f"  - {name}: {error}".replace("\n", "\n    "))
    raise LocalSetupError(WHAT_TO_DO.format(title=TITLES[kind], reasons="\n".join(reasons), install=INSTALL[kind]))


def _found(kind: Kind) -> ServerProgram:
    return _mariadb() if kind == "mariadb" else _mysql()


def _from_packages(kind: Kind) -> ServerProgram:
    if kind == "mysql":
        return _unpacked_mysql()
    if _of_kind("mariadb"):
        raise LocalSetupError("they are there already")
    apt_install("MariaDB", PACKAGES)
    return _mariadb()


def _from_homebrew(kind: Kind) -> ServerProgram:
    brew_install(TITLES[kind], kind)
    return _found(kind)


def _of_kind(kind: Kind) -> str | None:
    """Return the first server program of the kind: MariaDB's is called mysqld too."""
    names = ("mariadbd", "mysqld") if kind == "mariadb" else ("mysqld",)
    return next((program for program in find_commands(*names) if _is_mariadb(program) is (kind == "mariadb")), None)


def _is_mariadb(program: str) -> bool | None:
    """Say which kind the program is; None when it does not run at all."""
    try:
        return "MariaDB" in run([program, "--version"])
    except LocalSetupError as error:
        say(f"{program} is left aside: {error}")
        return None


def _mariadb() -> ServerProgram:
    server, installer = _of_kind("mariadb"), find_command("mariadb-install-db", "mysql_install_db")
    if not server or not installer:
        raise LocalSetupError("there is no mariadbd" if not server else f"{server} is there, but mariadb-install-db is not")
    return _program("mariadb", (server, "--no-defaults"), (installer, "--no-defaults"))


def _mysql() -> ServerProgram:
    server = _of_kind("mysql")
    if not server:
        raise LocalSetupError("there is no mysqld")
    return _program("mysql", (server, "--no-defaults"), (server, "--no-defaults"))


def _unpacked_mysql() -> ServerProgram:
    with exclusive(LOCAL / "mysql" / "unpack.lock"):
        if not MYSQL_ROOT.is_dir():
            unpack_mysql(MYSQL_ROOT)
    command = unpacked_command(MYSQL_ROOT)
    return _program("mysql", command, command)


def unpacked_command(root: Path) -> tuple[str, ...]:
    """Return the command that runs the unpacked server with the loader and libraries of its own folder."""
    folders = [folder for part in ("usr/lib", "lib") for folder in sorted((root / part).glob("*-linux-gnu"))]
    loader = next((loader for folder in folders for loader in sorted(folder.glob("ld-linux*.so.*"))), None)
    if loader is None or not (root / "usr/sbin/mysqld").is_file():
        raise LocalSetupError(f"{root} is incomplete: delete it and try again")
    share = root / "usr/share/mysql"
    files = (f"--lc-messages-dir={share}", f"--character-sets-dir={share / 'charsets'}", f"--plugin-dir={root / 'usr/lib/mysql/plugin'}")
    return (str(loader), "--library-path", ":".join(str(folder) for folder in folders), str(root / "usr/sbin/mysqld"), "--no-defaults", *files)


def _program(kind: Kind, command: tuple[str, ...], filler: tuple[str, ...]) -> ServerProgram:
    version = checked_version(kind, command)
    return ServerProgram(kind=kind, version=version, command=partial(_serve, command), fill=partial(fill, kind, (*filler, *as_user())))


def _serve(command: tuple[str, ...], seat: Seat) -> tuple[str, ...]:
    # Relative to the data folder: the path of a socket may have no more than about a hundred characters.
    return (*command, *as_user(), "--socket=../server.sock", f"--bind-address={seat.address}")
