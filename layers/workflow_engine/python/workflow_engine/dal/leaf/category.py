"""Statements of `category`."""

from collections.abc import Sequence

from workflow_engine.dal.packet import Query, Statement, bulk, query
from workflow_engine.models.new_blueprint import CategoryRow
from workflow_engine.queries.category import QRY_CATEGORY


class CategoryDAL:
    def list_by_keys(self, keys: Sequence[str]) -> Query[CategoryRow]:
        # An empty IN list is no SQL; no category has an empty key.
        return query(QRY_CATEGORY.LIST_BY_KEYS, CategoryRow, CATEGORY_KEYS=list(keys) or [""], TAKE=len(keys) + 1)

    def insert(self, rows: Sequence[CategoryRow]) -> Statement:
        """Look first; when two insert at once, the duplicate key restarts the second unit."""
        return bulk(QRY_CATEGORY.INSERT, [{"CATEGORY_ID": row.category_id, "CATEGORY_NAME": row.category_name, "CATEGORY_KEY": row.name_key} for row in rows])
