"""A database's rows, to be put back as often as a test wants the same ids again."""

from typing import Any

from local.database.url import DatabaseUrl

# Written by the migration, or kept from sandbox to sandbox.
NOT_OURS = {"schema_version", "id_block", "monitor_lease"}
COLUMNS = (
    "SELECT c.table_name, c.column_name FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name) "
    "WHERE table_schema = DATABASE() AND t.table_type = 'BASE TABLE' AND c.extra NOT LIKE '%GENERATED%' ORDER BY c.table_name, c.ordinal_position"
)


class Snapshot:
    """The rows of now."""

    def __init__(self, database_url: str) -> None:
        self._url = DatabaseUrl.parse(database_url)
        self._inserts: dict[str, Any] = {}
        connection = self._url.connect()
        try:
            with connection.cursor() as cursor:
                for table, columns in self._columns(cursor).items():
                    cursor.execute(f"SELECT {', '.join(columns)} FROM {table}")
                    self._inserts[f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(['%s'] * len(columns))})"] = cursor.fetchall()
        finally:
            connection.close()

    def restore(self) -> None:
        """Put the rows into the emptied tables."""
        connection = self._url.connect()
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET foreign_key_checks = 0")
                for statement, rows in self._inserts.items():
                    cursor.executemany(statement, rows)
            connection.commit()
        finally:
            connection.close()

    @staticmethod
    def _columns(cursor: Any) -> dict[str, list[str]]:
        cursor.execute(COLUMNS)
        found: dict[str, list[str]] = {}
        for table, column in cursor.fetchall():
            if table not in NOT_OURS:
                found.setdefault(table, []).append(column)
        return found
