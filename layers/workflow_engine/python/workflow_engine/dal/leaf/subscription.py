"""Statements of `subscription`."""

from workflow_engine.dal.packet import Statement, bulk, statement
from workflow_engine.models.consumer import Registration
from workflow_engine.queries.subscription import QRY_SUBSCRIPTION


class SubscriptionDAL:
    def insert(self, registration: Registration) -> Statement:
        """Listen to every definition of the registration; a trigger finds its consumers by these rows."""
        ids = {"ENV_ID": registration.env_id, "CONSUMER_ID": registration.consumer_id}
        return bulk(QRY_SUBSCRIPTION.INSERT, [{**ids, "DEF_KEY": key} for key in registration.definition_keys])

    def delete_by_consumer(self, consumer_id: int) -> Statement:
        return statement(QRY_SUBSCRIPTION.DELETE_BY_CONSUMER, CONSUMER_ID=consumer_id)
