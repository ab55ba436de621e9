"""Query strings that belong to one route alone; lists have theirs beside their answers in `models`."""

from workflow_engine.models.base import WorkFlowModel
from workflow_engine.models.consumer import ConsumerName, PageSize
from workflow_engine.models.trigger import QueryEnvCode


class EnvQuery(WorkFlowModel):
    env_code: QueryEnvCode


class AckQuery(WorkFlowModel):
    """Whose copy of the event is read."""

    env_code: QueryEnvCode
    consumer: ConsumerName


class ListDefinitionsQuery(WorkFlowModel):
    env_code: QueryEnvCode | None = None
    limit: PageSize = 50
    cursor: str | None = None


class ListVersionsQuery(WorkFlowModel):
    env_code: QueryEnvCode
    limit: PageSize = 50
    cursor: str | None = None
