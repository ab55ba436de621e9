"""Settings of a private server: like the deployed database where behaviour is concerned, small and quick for the rest."""

from typing import Literal

from local.database.programs import Kind

Profile = Literal["durable", "fast"]

USER = "wfe"
DATABASE = "wfe"

COMMON = (
    "--skip-name-resolve",
    "--skip-log-bin",
    "--character-set-server=utf8mb4",
    "--collation-server=utf8mb4_unicode_ci",
    "--default-time-zone=+00:00",
    "--transaction-isolation=READ-COMMITTED",
    "--wait-timeout=60",
    "--innodb-lock-wait-timeout=5",
    "--max-allowed-packet=64M",
    "--max-connections=300",
    "--innodb-buffer-pool-size=256M",
)

# Without secure-file-priv MySQL demands a system folder that only its full package makes.
BY_KIND: dict[Kind, tuple[str, ...]] = {
    "mariadb": ("--innodb-log-file-size=64M",),
    "mysql": ("--innodb-redo-log-capacity=64M", "--secure-file-priv=NULL", "--performance-schema=OFF", "--mysqlx=OFF"),
}

BY_PROFILE: dict[Profile, tuple[str, ...]] = {
    "durable": ("--innodb-flush-log-at-trx-commit=1",),
    "fast": ("--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0"),
}

# Run by the server before it listens, so nothing needs its root user. The user may create users and grant: `migrate` makes the runtime's user with it.
INIT = """CREATE DATABASE IF NOT EXISTS {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
CREATE USER IF NOT EXISTS '{user}'@'%' IDENTIFIED BY '{password}';
ALTER USER '{user}'@'%' IDENTIFIED BY '{password}';
GRANT ALL PRIVILEGES ON *.* TO '{user}'@'%' WITH GRANT OPTION;
"""
