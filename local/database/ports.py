"""Where a private server listens: the loopback, or the address that WFE_BIND names so that containers reach it too."""

import os
import socket

from local.machine import LocalSetupError

LOOPBACK = "127.0.0.1"
EVERYWHERE = "0.0.0.0"  # noqa: S104  # only when somebody asks for it
BIND = "WFE_BIND"

NOT_OURS = "nothing can listen on {address}, which {bind} names ({error}): name an IPv4 address of this machine, or unset {bind} for {loopback}"


def bind_address() -> str:
    return os.environ.get(BIND) or LOOPBACK


def reached_at(address: str) -> str:
    """Return the address to connect to: who listens everywhere is reached on the loopback."""
    return LOOPBACK if address == EVERYWHERE else address


def free_port(address: str = LOOPBACK) -> int:
    with socket.socket() as probe:
        try:
            probe.bind((address, 0))
        except OSError as error:
            raise LocalSetupError(NOT_OURS.format(address=address, bind=BIND, error=error, loopback=LOOPBACK)) from error
        return int(probe.getsockname()[1])


def check_port(address: str, port: int) -> None:
    """Refuse a chosen port that somebody listens on: the server would say so only in its log."""
    free_port(address)
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            raise LocalSetupError(f"port {port} is in use: choose another one or stop the program that listens there") from error
