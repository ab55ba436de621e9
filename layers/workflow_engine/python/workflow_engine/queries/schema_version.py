"""SQL of table `schema_version`, and of the runtime user that `migrate` keeps."""


class QRY_SCHEMA_VERSION:
    EXISTS_TABLE = "SELECT COUNT(*) AS count FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = %(TABLE_NAME)s"
    LIST_ALL = "SELECT version, name, checksum, statements_done, applied_at FROM schema_version ORDER BY version LIMIT %(TAKE)s"
    # The lock of the migration: held by a second connection, because DDL would end its transaction.
    GET_FOR_UPDATE = "SELECT version FROM schema_version WHERE version = %(SCHEMA_VERSION)s FOR UPDATE"
    INSERT = "INSERT INTO schema_version (version, name, checksum, statements_done, applied_at) VALUES (%(SCHEMA_VERSION)s, %(FILE_NAME)s, %(CHECKSUM)s, %(STATEMENTS_DONE)s, %(APPLIED_AT)s)"
    UPDATE_PROGRESS = "UPDATE schema_version SET checksum = %(CHECKSUM)s, statements_done = %(STATEMENTS_DONE)s, applied_at = %(APPLIED_AT)s WHERE version = %(SCHEMA_VERSION)s"

    # An ALTER that waits for somebody's open read makes everybody after it wait: give up soon and say so.
    SET_LOCK_WAIT = "SET SESSION lock_wait_timeout = %(SECONDS)s"
    # The lock's connection says nothing while the other one builds an index; the server would end it after its ordinary minute.
    SET_IDLE_WAIT = "SET SESSION wait_timeout = %(SECONDS)s"


class QRY_RUNTIME_USER:
    """An account is neither row nor table; ON * means the connection's own schema."""

    CREATE_IAM = "CREATE USER IF NOT EXISTS %(RUNTIME_USER)s@'%%' IDENTIFIED WITH AWSAuthenticationPlugin AS 'RDS'"
    ALTER_REQUIRE_TLS = "ALTER USER %(RUNTIME_USER)s@'%%' REQUIRE SSL"
    CREATE_LOGIN = "CREATE USER IF NOT EXISTS %(RUNTIME_USER)s@'%%' IDENTIFIED BY %(USER_PASSWORD)s"
    ALTER_LOGIN = "ALTER USER %(RUNTIME_USER)s@'%%' IDENTIFIED BY %(USER_PASSWORD)s"
    GRANT_ROWS = "GRANT SELECT, INSERT, UPDATE, DELETE ON * TO %(RUNTIME_USER)s@'%%'"
