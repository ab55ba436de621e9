"""SQL of table `runtime`. Nothing here locks or changes an instance: what applications report never makes a trigger wait."""


class QRY_RUNTIME:
    GET_PLACE = "SELECT i.id AS instance_id, COALESCE(l.to_state, i.current_state) AS state_id, l.id AS lifecycle_id FROM instance i LEFT JOIN lifecycle l ON l.id = %(LIFECYCLE_ID)s AND l.instance_id = i.id WHERE i.guid = %(INSTANCE_GUID)s"
    GET_BY_KEY = "SELECT r.id AS runtime_id, r.status, r.data, r.is_frozen FROM instance i LEFT JOIN lifecycle l ON l.id = %(LIFECYCLE_ID)s AND l.instance_id = i.id JOIN runtime r ON r.instance_id = i.id AND r.lifecycle_id = %(LIFECYCLE_ID)s AND r.state_id = COALESCE(l.to_state, i.current_state) AND r.activity_key = %(ACTIVITY_KEY)s AND r.actor = %(ACTOR)s WHERE i.guid = %(INSTANCE_GUID)s"
    GET_BY_ID = "SELECT id AS runtime_id, status, data, is_frozen FROM runtime WHERE id = %(RUNTIME_ID)s"
    INSERT = "INSERT INTO runtime (id, instance_id, lifecycle_id, state_id, activity, activity_key, actor, status, data, is_frozen, created, modified) VALUES (%(RUNTIME_ID)s, %(INSTANCE_ID)s, %(LIFECYCLE_ID)s, %(STATE_ID)s, %(ACTIVITY)s, %(ACTIVITY_KEY)s, %(ACTOR)s, %(RUNTIME_STATUS)s, %(DATA)s, %(FROZEN)s, %(NOW)s, %(NOW)s)"

    # Frozen in the meantime: no row changes.
    UPDATE_REPORT = "UPDATE runtime SET status = %(RUNTIME_STATUS)s, data = %(DATA)s, modified = %(NOW)s WHERE id = %(RUNTIME_ID)s AND is_frozen = %(FROZEN)s"
    UPDATE_FROZEN = "UPDATE runtime SET is_frozen = %(FROZEN)s, modified = %(NOW)s WHERE id = %(RUNTIME_ID)s AND is_frozen <> %(FROZEN)s"
