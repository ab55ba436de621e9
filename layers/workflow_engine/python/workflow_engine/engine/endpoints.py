"""EndpointConnector: keeps SNS in step with what registrations say, after their commit."""

from collections.abc import Iterable
from functools import partial

from workflow_engine.dal import DbExecutionLoad, Deadline, WorkFlowDAL
from workflow_engine.engine.ports import Subscriptions
from workflow_engine.models.consumer import ConsumerRow

NO_SUBSCRIPTION = "none"


class EndpointConnector:
    """The row keeps the ARN of a former subscription until that has been ended, so that every step may be repeated after a failure."""

    def __init__(self, dal: WorkFlowDAL, subscriptions: Subscriptions) -> None:
        self._dal = dal
        self._subscriptions = subscriptions

    def connect(self, row: ConsumerRow, deadline: Deadline) -> str:
        """Subscribe the endpoint, end the subscription of a former one, and tell how far it is: confirmed, pending or none."""
        if row.endpoint_protocol is None or row.endpoint_address is None:
            self._replace(row, None, deadline)
            return NO_SUBSCRIPTION
        subscription_arn = self._subscriptions.subscribe(row.endpoint_protocol, row.endpoint_address, row.env_code, row.consumer)
        self._replace(row, subscription_arn, deadline)
        return self._subscriptions.state(subscription_arn)

    def end(self, deleted: Iterable[ConsumerRow], deadline: Deadline) -> None:
        """End what deleted consumers left behind."""
        for row in deleted:
            self._replace(row, None, deadline)

    def _replace(self, row: ConsumerRow, subscription_arn: str | None, deadline: Deadline) -> None:
        if row.subscription_arn == subscription_arn:
            return
        if row.subscription_arn is not None:
            self._end(row.subscription_arn, row, deadline)
        stored = self._dal.run(deadline, partial(self._store, row, subscription_arn), reserve=0)
        if subscription_arn is not None and stored.subscription_arn != subscription_arn:
            # Changed or deleted while SNS was asked: nobody would ever end this one.
            self._end(subscription_arn, row, deadline)

    def _store(self, row: ConsumerRow, subscription_arn: str | None, load: DbExecutionLoad) -> ConsumerRow:
        consumers = self._dal.consumer
        stored: ConsumerRow = self._dal.write(load, [consumers.update_subscription(row, subscription_arn), consumers.get_by_id(row.consumer_id)])[-1][0]
        return stored

    def _end(self, subscription_arn: str, row: ConsumerRow, deadline: Deadline) -> None:
        """SNS has one subscription per endpoint: one that another consumer has taken over must stay."""
        others = self._dal.run_reading(deadline, lambda load: self._dal.read(load, self._dal.consumer.count_others_on(subscription_arn, row.consumer_id)))
        if not others[0][0].count:
            self._subscriptions.unsubscribe(subscription_arn)
