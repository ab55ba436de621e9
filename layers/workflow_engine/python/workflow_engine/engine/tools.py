"""EngineTools: what every unit of work needs, handed around as one."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workflow_engine.dal import WorkFlowDAL
    from workflow_engine.engine.blueprint_manager import BlueprintManager
    from workflow_engine.engine.outbox import Outbox
    from workflow_engine.engine.ports import Clock
    from workflow_engine.options import WorkFlowEngineOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineTools:
    dal: "WorkFlowDAL"
    blueprints: "BlueprintManager"
    outbox: "Outbox"
    clock: "Clock"
    options: "WorkFlowEngineOptions"
