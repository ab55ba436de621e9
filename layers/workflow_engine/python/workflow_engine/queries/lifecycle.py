"""SQL of `lifecycle`, `lifecycle_data` and `hook`: the timeline's rows."""


class QRY_LIFECYCLE:
    GET_STAMP = "SELECT id AS lifecycle_id, seq, created FROM lifecycle WHERE id = %(LIFECYCLE_ID)s"

    # Finds its instance only where the compare-and-set before it worked.
    INSERT_AFTER_CAS = "INSERT INTO lifecycle (id, instance_id, seq, from_state, to_state, event_id, flags, occurred_at, created) SELECT %(LIFECYCLE_ID)s, i.id, i.seq, %(FROM_STATE_ID)s, %(STATE_ID)s, %(EVENT_ID)s, %(LOG_FLAGS)s, %(OCCURRED_AT)s, %(NOW)s FROM instance i WHERE i.id = %(INSTANCE_ID)s AND i.seq = %(SEQ)s AND i.current_state = %(STATE_ID)s"


class QRY_LIFECYCLE_DATA:
    INSERT = "INSERT INTO lifecycle_data (lifecycle_id, actor, request_id, payload) VALUES (%(LIFECYCLE_ID)s, %(ACTOR)s, %(REQUEST_ID)s, %(PAYLOAD)s)"


class QRY_HOOK:
    INSERT = "INSERT INTO hook (id, lifecycle_id, instance_id, position, route, label, on_entry, hook_type, hook_order, hook_group, ack_mode, send, not_before, deadline, on_success, on_failure, created) VALUES (%(HOOK_ID)s, %(LIFECYCLE_ID)s, %(INSTANCE_ID)s, %(POSITION)s, %(ROUTE)s, %(LABEL)s, %(ON_ENTRY)s, %(HOOK_TYPE)s, %(HOOK_ORDER)s, %(HOOK_GROUP)s, %(ACK_MODE)s, %(SEND)s, %(NOT_BEFORE)s, %(HOOK_DEADLINE)s, %(ON_SUCCESS)s, %(ON_FAILURE)s, %(NOW)s)"


class QRY_REQUEST_LOG:
    GET_BY_REF = "SELECT unit_id, fingerprint, answer FROM request_log WHERE instance_id = (SELECT i.id FROM instance i WHERE i.definition_id = %(DEFINITION_ID)s AND i.external_ref = %(EXTERNAL_REF)s) AND request_id = %(REQUEST_ID)s"
    GET_BY_GUID = "SELECT unit_id, fingerprint, answer FROM request_log WHERE instance_id = (SELECT i.id FROM instance i WHERE i.guid = %(INSTANCE_GUID)s) AND request_id = %(REQUEST_ID)s"
    INSERT = "INSERT INTO request_log (instance_id, request_id, unit_id, fingerprint, answer, created) VALUES (%(INSTANCE_ID)s, %(REQUEST_ID)s, %(UNIT_ID)s, %(FINGERPRINT)s, %(ANSWER)s, %(NOW)s)"
