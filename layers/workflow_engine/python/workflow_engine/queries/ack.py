"""SQL of `ack`, `lc_ack` and `hook_ack`."""


class QRY_ACK:
    INSERT = "INSERT INTO ack (id, guid, instance_id, body, created) VALUES (%(ACK_ID)s, %(ACK_GUID)s, %(INSTANCE_ID)s, %(BODY)s, %(NOW)s)"

    # Left joins: the event of an instance that somebody deleted by hand is still sent until it is given up.
    LIST_BODIES_BY_IDS = "SELECT a.id AS ack_id, a.guid AS ack_guid, a.instance_id, a.body, h.route, e.code AS env_code, d.name AS definition FROM ack a LEFT JOIN hook_ack ha FORCE INDEX (uq_hook_ack_ack) ON ha.ack_id = a.id LEFT JOIN hook h FORCE INDEX (PRIMARY) ON h.id = ha.hook_id LEFT JOIN instance i FORCE INDEX (PRIMARY) ON i.id = a.instance_id LEFT JOIN definition d FORCE INDEX (PRIMARY) ON d.id = i.definition_id LEFT JOIN environment e FORCE INDEX (PRIMARY) ON e.id = d.env_id WHERE a.id IN %(ACK_IDS)s ORDER BY a.id"


class QRY_LC_ACK:
    INSERT = "INSERT INTO lc_ack (lifecycle_id, ack_id) VALUES (%(LIFECYCLE_ID)s, %(ACK_ID)s)"


class QRY_HOOK_ACK:
    INSERT = "INSERT INTO hook_ack (hook_id, ack_id) VALUES (%(HOOK_ID)s, %(ACK_ID)s)"
