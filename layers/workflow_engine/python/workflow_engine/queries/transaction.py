"""The frame around a unit of work."""


class QRY_TRANSACTION:
    BEGIN = "START TRANSACTION"
    COMMIT = "COMMIT"
    ROLLBACK = "ROLLBACK"

    # READ COMMITTED: under the default level two creators of one instance deadlock on a gap lock, and a restarted look sees an old snapshot.
    SET_ISOLATION = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"
    SET_MODE = "SET SESSION sql_mode = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'"
    SET_ZONE = "SET SESSION time_zone = '+00:00'"
