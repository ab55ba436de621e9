"""Watches that nobody is told anything before the commit (guidelines 3.2)."""

from collections.abc import Sequence
from typing import Any

import pytest
from pymysql.constants import SERVER_STATUS

from workflow_engine.dal import Db, Deadline
from workflow_engine.engine.ports import Publisher, PublishFailure
from workflow_engine.models.events import WorkMessage
from workflow_engine.models.notice import LifeCycleNotice


class OutsideTransactions:
    """Hands on to the publisher, and fails the test when the sandbox's connection stands in a transaction meanwhile."""

    def __init__(self, publisher: Publisher, db: Db) -> None:
        self._publisher = publisher
        self._db = db

    def publish(self, messages: Sequence[WorkMessage], deadline: Deadline) -> list[PublishFailure]:
        self._check()
        return self._publisher.publish(messages, deadline)

    def publish_notices(self, notices: Sequence[LifeCycleNotice], deadline: Deadline) -> None:
        self._check()
        self._publisher.publish_notices(notices, deadline)

    def _check(self) -> None:
        # The server says so with every answer.
        connection: Any = self._db._connection
        if connection is not None and connection.server_status & SERVER_STATUS.SERVER_STATUS_IN_TRANS:
            # No Exception: the engine takes those for a publisher that broke.
            pytest.fail("rule broken: commit first, then publish; a transaction is open while the world is told")
