"""SQL of table `transition`."""


class QRY_TRANSITION:
    INSERT = "INSERT INTO transition (id, def_version_id, from_state, to_state, event_id, flags) VALUES (%(TRANSITION_ID)s, %(DEF_VERSION_ID)s, %(FROM_STATE_ID)s, %(TO_STATE_ID)s, %(EVENT_ID)s, %(TRANSITION_FLAGS)s)"
