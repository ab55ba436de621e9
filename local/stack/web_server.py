"""A WSGI server in a thread, on a port that was taken before anything was started for it."""

import errno
import logging
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from local.database.ports import BIND, LOOPBACK, NOT_OURS, reached_at
from local.machine import LocalSetupError

_log = logging.getLogger(__name__)


@contextmanager
def listening(address: str, port: int) -> Generator[socket.socket]:
    """Take the port before anything is started for it."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address, port))
            listener.listen(128)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise LocalSetupError(NOT_OURS.format(address=address, bind=BIND, error=error, loopback=LOOPBACK)) from error
            raise LocalSetupError(
                f"{address}:{port} cannot be listened on ({error.strerror}): stop the program that uses it, or choose another port with WFE_PORT=…"
            ) from error
        yield listener


class _QuietRequestHandler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002  # its name in werkzeug
        _log.debug("%s " + message, type, *args)


@contextmanager
def served(app: Any, listener: socket.socket) -> Generator[str]:
    address, port = listener.getsockname()[:2]
    server: BaseWSGIServer = make_server(address, port, app, threaded=True, request_handler=_QuietRequestHandler, fd=listener.fileno())
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, name=f"server-{port}", daemon=True)
    thread.start()
    try:
        yield f"http://{reached_at(address)}:{port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
