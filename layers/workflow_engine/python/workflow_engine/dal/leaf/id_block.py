"""Statements of `id_block`."""

from workflow_engine.dal.packet import Query, Statement, query, statement
from workflow_engine.models.rows import NextIdRow
from workflow_engine.queries.id_block import QRY_ID_BLOCK

_BLOCK_NAME = "ids"


class IdBlockDAL:
    def advance(self, size: int) -> Statement:
        return statement(QRY_ID_BLOCK.UPDATE_NEXT, BLOCK_SIZE=size, BLOCK_NAME=_BLOCK_NAME)

    def get_next(self) -> Query[NextIdRow]:
        return query(QRY_ID_BLOCK.GET_NEXT, NextIdRow, BLOCK_NAME=_BLOCK_NAME)
