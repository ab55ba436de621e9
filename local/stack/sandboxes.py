"""Sandboxes: threads that run handlers one call at a time, each with an engine and a connection of its own, as Lambda's do."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

from workflow_engine.entry import container

COUNT = 16


class Sandboxes:
    """As many calls at once as there are sandboxes; the rest waits for one, where Lambda would start more."""

    def __init__(self, count: int = COUNT) -> None:
        self._calls: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._threads = [threading.Thread(target=self._work, name=f"sandbox-{number}", daemon=True) for number in range(count)]
        for thread in self._threads:
            thread.start()

    def run(self, call: Callable[[], Any]) -> Any:
        """Run the call in a sandbox and return what it returns."""
        return self.begin(call).result()

    def begin(self, call: Callable[[], Any]) -> "Future[Any]":
        future: Future[Any] = Future()
        self._calls.put((future, call))
        return future

    def close(self, patience: float = 10.0) -> None:
        """Let what runs come to its end, and close the connections."""
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join(patience)

    def _work(self) -> None:
        try:
            while (task := self._calls.get()) is not None:
                _fulfil(*task)
        finally:
            container.reset()


def _fulfil(future: "Future[Any]", call: Callable[[], Any]) -> None:
    try:
        future.set_result(call())
    except BaseException as error:  # noqa: BLE001  # a sandbox survives its call; whoever waits gets the error
        future.set_exception(error)
