"""The last resort: the server of an official image, run with our own command line and our own data folder."""

import hashlib
import os
import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from local.database.programs import TITLES, Kind, Seat, ServerProgram, checked_version, fill
from local.machine import LocalSetupError, find_command, run_shown, say

IMAGES: dict[Kind, str] = {"mariadb": "mariadb:10.11", "mysql": "mysql:8.4"}
SERVERS: dict[Kind, str] = {"mariadb": "mariadbd", "mysql": "mysqld"}
FILLERS: dict[Kind, str] = {"mariadb": "mariadb-install-db", "mysql": "mysqld"}
SECONDS_TO_ANSWER = 30

# The data folder is shared with the host, where some systems allow no sockets.
SOCKET_FOLDER = "/run/server"

SILENT = """docker is there, but its daemon does not answer:
{answer}
start it (Docker Desktop, `colima start`, `systemctl start docker`) until `docker info` works for you"""

NOT_PULLED = """the image {image} cannot be pulled:
{answer}
check the network and try `docker pull {image}` by hand"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Docker:
    """How containers are run here: with our own user, so that the files they write stay ours."""

    program: str
    image: str
    user: str

    def run(self, program: str, folder: Path | None = None, *options: str) -> tuple[str, ...]:
        """Return the command that runs a program of the image and sees the folder where the host has it."""
        shared = ("--mount", f"type=bind,source={folder},target={folder}", "--workdir", str(folder)) if folder else ()
        # Never: the image is there, and its progress was shown.
        start = (self.program, "run", "--rm", "--pull=never", "--user", self.user, *shared, *options, "--entrypoint", program, self.image, "--no-defaults")
        return (*start, "--user=root") if self.user.startswith("0:") else start

    def serve(self, program: str, seat: Seat) -> tuple[str, ...]:
        """Return the command that runs the server: it listens to everybody inside, and Docker lets in who comes through the seat's address."""
        options = ("--name", container_name(seat.directory), "--publish", f"{seat.address}:{seat.port}:{seat.port}", "--tmpfs", SOCKET_FOLDER)
        return (*self.run(program, seat.directory, *options), f"--socket={SOCKET_FOLDER}/server.sock", "--bind-address=0.0.0.0")

    def remove(self, folder: Path) -> tuple[str, ...]:
        return (self.program, "rm", "--force", "--volumes", container_name(folder))


def container_name(folder: Path) -> str:
    """The same folder has the same name, so that what was left by a killed client is found by the next start."""
    return f"wfe-{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"


def docker_program(kind: Kind) -> ServerProgram:
    """Return the server of the official image, pulling it first when it is not here."""
    program = find_command("docker")
    if not program:
        raise LocalSetupError("there is no docker command")
    docker = Docker(program=program, image=IMAGES[kind], user=_user(program))
    _ensure_image(docker)
    say(f"{TITLES[kind]}: runs in Docker, image {docker.image}")
    version = checked_version(kind, docker.run(SERVERS[kind]))
    return ServerProgram(kind=kind, version=version, command=partial(docker.serve, SERVERS[kind]), fill=partial(_fill, kind, docker), removal=docker.remove)


def _fill(kind: Kind, docker: Docker, data: Path) -> None:
    data.parent.mkdir(parents=True, exist_ok=True)
    fill(kind, docker.run(FILLERS[kind], data.parent), data)


def _user(program: str) -> str:
    """Return whom a container must run as to be us outside: a daemon without root makes us its root."""
    try:
        asked = subprocess.run(
            [program, "info", "--format", "{{.SecurityOptions}}"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS_TO_ANSWER,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise LocalSetupError(SILENT.format(answer=f"no answer within {SECONDS_TO_ANSWER} s")) from error
    if asked.returncode:
        raise LocalSetupError(SILENT.format(answer=asked.stderr.strip()))
    return "0:0" if "rootless" in asked.stdout else f"{os.getuid()}:{os.getgid()}"


def _ensure_image(docker: Docker) -> None:
    known = subprocess.run([docker.program, "image", "inspect", docker.image], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if known.returncode == 0:
        return
    say(f"Docker: pulling {docker.image}, once (100 to 250 MB)")
    try:
        run_shown([docker.program, "pull", docker.image])
    except LocalSetupError as error:
        raise LocalSetupError(NOT_PULLED.format(image=docker.image, answer=error)) from error
