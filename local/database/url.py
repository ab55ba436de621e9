"""The address of a database, `mysql://user:password@host:port/name`."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote, unquote, urlsplit

import pymysql

from local.machine import LocalSetupError

if TYPE_CHECKING:
    from pymysql.connections import Connection

DEFAULT_PORT = 3306


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseUrl:
    user: str
    password: str
    host: str
    port: int
    name: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        try:
            parts = urlsplit(text)
            port = parts.port or DEFAULT_PORT
        except ValueError as error:
            raise LocalSetupError(f"a database address looks like mysql://user:password@host:port/name ({error})") from None
        if parts.scheme != "mysql" or not parts.hostname or not parts.username:
            raise LocalSetupError("a database address looks like mysql://user:password@host:port/name")
        user, password = unquote(parts.username), unquote(parts.password or "")
        return cls(user=user, password=password, host=parts.hostname, port=port, name=unquote(parts.path.strip("/")))

    def __str__(self) -> str:
        return f"mysql://{quote(self.user, safe='')}:{quote(self.password, safe='')}@{self.host}:{self.port}/{quote(self.name, safe='')}"

    @property
    def place(self) -> str:
        """Host and port, for messages: never the password."""
        return f"{self.host}:{self.port}"

    @property
    def quoted_name(self) -> str:
        return f"`{self.name.replace('`', '``')}`"

    def with_name(self, name: str) -> Self:
        return replace(self, name=name)

    def connect(self, patience: float = 60) -> "Connection[Any]":
        """Open a connection, over TLS where the server has it: without, MySQL's sha2 logins need the `cryptography` package."""
        return pymysql.connect(
            host=self.host,
            port=self.port,
            user=self.user,
            password=self.password,
            database=self.name or None,
            connect_timeout=min(patience, 5),
            read_timeout=patience,
        )

    def execute(self, statement: str, patience: float = 60) -> Any:
        """Run one statement on a connection of its own and return the first value of its answer."""
        connection = self.connect(patience)
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement)
                row = cursor.fetchone()
        finally:
            connection.close()
        return row[0] if row else None
