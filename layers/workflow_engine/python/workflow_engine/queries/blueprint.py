"""SQL that loads a definition version and its policy as the engine uses them."""


class QRY_BLUEPRINT:
    GET_DEFINITION = "SELECT d.id AS definition_id, d.env_id, e.code AS env_code, d.name AS def_name, CONVERT(d.name_key USING utf8mb4) AS name_key FROM definition d JOIN environment e ON e.id = d.env_id WHERE e.code = %(ENV_CODE)s AND d.name_key = %(DEF_KEY)s"
    GET_LATEST = "SELECT d.active_version AS def_version_id, (SELECT p.policy_id FROM def_policy p WHERE p.def_version_id = d.active_version ORDER BY p.stamp DESC LIMIT 1) AS policy_id FROM definition d WHERE d.id = %(DEFINITION_ID)s"
    GET_VERSION = "SELECT d.id AS definition_id, v.id AS def_version_id, d.env_id, e.code AS env_code, d.name AS def_name, CONVERT(d.name_key USING utf8mb4) AS name_key, v.version FROM def_version v JOIN definition d ON d.id = v.definition_id JOIN environment e ON e.id = d.env_id WHERE v.id = %(DEF_VERSION_ID)s"
    LIST_STATES = "SELECT id AS state_id, name, CONVERT(name_key USING utf8mb4) AS name_key, flags FROM state WHERE def_version_id = %(DEF_VERSION_ID)s ORDER BY id LIMIT %(TAKE)s"
    LIST_EVENTS = "SELECT id AS event_id, code, name, CONVERT(name_key USING utf8mb4) AS name_key FROM events WHERE def_version_id = %(DEF_VERSION_ID)s ORDER BY id LIMIT %(TAKE)s"
    LIST_EDGES = "SELECT from_state AS from_state_id, to_state AS to_state_id, event_id FROM transition WHERE def_version_id = %(DEF_VERSION_ID)s ORDER BY id LIMIT %(TAKE)s"
    LIST_TIMEOUTS_BY_VERSION = "SELECT state_name, CONVERT(state_key USING utf8mb4) AS state_key, duration AS duration_minutes, mode, event_code, max_retry FROM timeouts WHERE def_version_id = %(DEF_VERSION_ID)s ORDER BY id LIMIT %(TAKE)s"
    LIST_TIMEOUTS_BY_POLICY = "SELECT state_name, CONVERT(state_key USING utf8mb4) AS state_key, duration AS duration_minutes, mode, event_code, max_retry FROM timeouts WHERE policy_id = %(POLICY_ID)s ORDER BY id LIMIT %(TAKE)s"
    GET_POLICY = "SELECT id AS policy_id, hash AS policy_hash, resolved FROM policy WHERE id = %(POLICY_ID)s"
