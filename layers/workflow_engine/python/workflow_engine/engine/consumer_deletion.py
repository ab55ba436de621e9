"""The unit of work that deletes a consumer."""

from collections.abc import Sequence

from workflow_engine.dal import DbExecutionLoad, WorkFlowDAL
from workflow_engine.engine.ports import Clock
from workflow_engine.engine.rules.ownership import check_owner, is_owner
from workflow_engine.errors import NotFoundError
from workflow_engine.models.consumer import ConsumerKey, ConsumerRow


class ConsumerDeletionUnit:
    """Remembers what it meant to delete: an attempt whose answer was lost may have done it."""

    def __init__(self, dal: WorkFlowDAL, clock: Clock, key: ConsumerKey, principal: str) -> None:
        self._dal = dal
        self._clock = clock
        self._key = key
        self._principal = principal
        self._attempted: ConsumerRow | None = None

    def apply(self, load: DbExecutionLoad) -> Sequence[ConsumerRow]:
        """Return the deleted consumer first, then others of the name whose subscription is still to be ended."""
        rows, unended = self._dal.read(
            load,
            self._dal.consumer.get_by_name(self._key.env_code, self._key.consumer),
            self._dal.consumer.list_unended(self._key.env_code, self._key.consumer),
        )
        if not rows:
            return self._deleted_before(unended, load)
        check_owner(rows[0].owner, rows[0].principals, self._principal)
        self._attempted = rows[0]
        return [self._delete(rows[0], load), *unended]

    def _delete(self, row: ConsumerRow, load: DbExecutionLoad) -> ConsumerRow:
        """Its ack rows stay as they are: the monitor closes them, in pages."""
        written: ConsumerRow = self._dal.write(
            load,
            [
                self._dal.consumer.update_deleted(row, self._clock.now()),
                self._dal.consumer.stop_unless(row, row.owner, row.consumer_id),
                self._dal.subscription.delete_by_consumer(row.consumer_id),
                self._dal.consumer.get_by_id(row.consumer_id),
            ],
        )[-1][0]
        return written

    def _deleted_before(self, unended: Sequence[ConsumerRow], load: DbExecutionLoad) -> Sequence[ConsumerRow]:
        """A deletion that SNS failed is finished by the same request again."""
        left = [row for row in unended if is_owner(row.owner, row.principals, self._principal)]
        if left:
            return left
        if load.is_uncertain and self._attempted is not None:
            return [self._attempted]
        raise NotFoundError("consumer", f"no consumer {self._key.consumer} in environment {self._key.env_code}")
