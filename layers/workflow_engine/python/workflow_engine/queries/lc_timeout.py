"""SQL of table `lc_timeout`: how often a stay's timeout fired."""


class QRY_LC_TIMEOUT:
    # The last firing by the key's own order: an aggregate over the time would read every firing of the stay.
    GET_FIRINGS = "SELECT COALESCE((SELECT t.n FROM lc_timeout t WHERE t.instance_id = %(INSTANCE_ID)s AND t.stay_id = %(STAY_ID)s ORDER BY t.n DESC LIMIT 1), 0) AS n, (SELECT t.created FROM lc_timeout t WHERE t.instance_id = %(INSTANCE_ID)s AND t.stay_id = %(STAY_ID)s ORDER BY t.n DESC LIMIT 1) AS last_fired_at"
    INSERT = "INSERT INTO lc_timeout (instance_id, stay_id, n, lifecycle_id, created) VALUES (%(INSTANCE_ID)s, %(STAY_ID)s, %(FIRING)s, %(LIFECYCLE_ID)s, %(NOW)s)"  # fmt: skip
