"""The database: WorkFlowDAL is the only way in."""

from workflow_engine.dal.db import DatabaseTarget, Db
from workflow_engine.dal.ids import UnitIds
from workflow_engine.dal.load import DbExecutionLoad, Deadline
from workflow_engine.dal.packet import Query, Statement
from workflow_engine.dal.workflow_dal import WorkFlowDAL

__all__ = ["DatabaseTarget", "Db", "DbExecutionLoad", "Deadline", "Query", "Statement", "UnitIds", "WorkFlowDAL"]
