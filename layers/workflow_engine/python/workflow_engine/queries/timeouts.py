"""SQL of table `timeouts`."""


class QRY_TIMEOUTS:
    INSERT = "INSERT INTO timeouts (id, def_version_id, policy_id, state_name, state_key, duration, mode, event_code, max_retry) VALUES (%(TIMEOUT_ID)s, %(DEF_VERSION_ID)s, %(POLICY_ID)s, %(STATE_NAME)s, %(STATE_KEY)s, %(DURATION_MINUTES)s, %(TIMEOUT_MODE)s, %(EVENT_CODE)s, %(MAX_RETRY)s)"
