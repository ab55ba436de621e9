"""Query strings that belong to one route alone; lists have theirs beside their answers in `models`."""

from workflow_engine.models.base import WorkFlowModel
from workflow_engine.models.consumer import ConsumerName
from workflow_engine.models.trigger import EnvCode


class EnvQuery(WorkFlowModel):
    env_code: EnvCode


class AckQuery(WorkFlowModel):
    """Whose copy of the event is read."""

    env_code: EnvCode
    consumer: ConsumerName
