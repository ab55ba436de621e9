"""SQL of `lifecycle` and `lifecycle_data`: the timeline's rows."""


class QRY_LIFECYCLE:
    GET_STAMP = "SELECT id AS lifecycle_id, seq, created FROM lifecycle WHERE id = %(LIFECYCLE_ID)s"

    # Finds its instance only where the compare-and-set before it worked.
    INSERT_AFTER_CAS = "INSERT INTO lifecycle (id, instance_id, seq, from_state, to_state, event_id, flags, occurred_at, created) SELECT %(LIFECYCLE_ID)s, i.id, i.seq, %(FROM_STATE_ID)s, %(STATE_ID)s, %(EVENT_ID)s, %(LOG_FLAGS)s, %(OCCURRED_AT)s, %(NOW)s FROM instance i WHERE i.id = %(INSTANCE_ID)s AND i.seq = %(SEQ)s AND i.current_state = %(STATE_ID)s"


class QRY_LIFECYCLE_DATA:
    INSERT = "INSERT INTO lifecycle_data (lifecycle_id, actor, request_id, payload) VALUES (%(LIFECYCLE_ID)s, %(ACTOR)s, %(REQUEST_ID)s, %(PAYLOAD)s)"
