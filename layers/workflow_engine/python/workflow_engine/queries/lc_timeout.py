"""SQL of table `lc_timeout`: how often a stay's timeout fired."""


class QRY_LC_TIMEOUT:
    GET_FIRINGS = "SELECT COALESCE(MAX(n), 0) AS n, MAX(created) AS last_fired_at FROM lc_timeout WHERE instance_id = %(INSTANCE_ID)s AND stay_id = %(STAY_ID)s"
    INSERT = "INSERT INTO lc_timeout (instance_id, stay_id, n, lifecycle_id, created) VALUES (%(INSTANCE_ID)s, %(STAY_ID)s, %(FIRING)s, %(LIFECYCLE_ID)s, %(NOW)s)"  # fmt: skip
