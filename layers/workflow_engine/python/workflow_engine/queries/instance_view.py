"""SQL that shows instances: one, and the list, newest first by (created, id)."""


class QRY_INSTANCE_VIEW:
    GET_BY_GUID = "SELECT i.id AS instance_id, i.guid AS instance_guid, e.code AS env_code, CONVERT(i.external_ref USING utf8mb4) AS external_ref, d.name AS definition, v.version AS def_version, p.hash AS policy_hash, s.name AS current_state, i.flags, i.message, i.seq, ev.code AS event_code, ev.name AS event_name, i.created, i.modified, i.state_entered_at, i.state_due_at FROM instance i JOIN definition d ON d.id = i.definition_id JOIN environment e ON e.id = d.env_id JOIN def_version v ON v.id = i.def_version_id JOIN state s ON s.id = i.current_state LEFT JOIN policy p ON p.id = i.policy_id LEFT JOIN events ev ON ev.id = i.last_event WHERE i.guid = %(INSTANCE_GUID)s"
    # Joined in this order: MariaDB would rather begin with the few definitions and read all their instances.
    LIST_BY_IDS = "SELECT STRAIGHT_JOIN i.id AS instance_id, i.guid AS instance_guid, e.code AS env_code, CONVERT(i.external_ref USING utf8mb4) AS external_ref, d.name AS definition, v.version AS def_version, p.hash AS policy_hash, s.name AS current_state, i.flags, i.message, i.seq, ev.code AS event_code, ev.name AS event_name, i.created, i.modified, i.state_entered_at, i.state_due_at FROM instance i FORCE INDEX (PRIMARY) JOIN definition d ON d.id = i.definition_id JOIN environment e ON e.id = d.env_id JOIN def_version v ON v.id = i.def_version_id JOIN state s ON s.id = i.current_state LEFT JOIN policy p ON p.id = i.policy_id LEFT JOIN events ev ON ev.id = i.last_event WHERE i.id IN %(INSTANCE_IDS)s ORDER BY i.created DESC, i.id DESC"

    # What the filters mean: definitions, and with a state its ids, one for each version that has it.
    LIST_DEFINITIONS = "SELECT d.id AS definition_id, NULL AS state_id FROM definition d JOIN environment e ON e.id = d.env_id WHERE (%(ENV_CODE)s IS NULL OR e.code = %(ENV_CODE)s) AND (%(DEF_KEY)s IS NULL OR d.name_key = %(DEF_KEY)s) ORDER BY d.id LIMIT %(TAKE)s"
    LIST_STATES = "SELECT d.id AS definition_id, s.id AS state_id FROM definition d JOIN environment e ON e.id = d.env_id JOIN def_version v ON v.definition_id = d.id JOIN state s ON s.def_version_id = v.id AND s.name_key = %(STATE_KEY)s WHERE (%(ENV_CODE)s IS NULL OR e.code = %(ENV_CODE)s) AND (%(DEF_KEY)s IS NULL OR d.name_key = %(DEF_KEY)s) ORDER BY d.id, v.version DESC LIMIT %(TAKE)s"

    # No filter, or one that means too many definitions or states to read each by itself: ix_instance_created.
    LIST_KEYS_NEWEST = "SELECT id AS instance_id, created, definition_id, current_state AS state_id, flags, CONVERT(external_ref USING utf8mb4) AS external_ref FROM instance FORCE INDEX (ix_instance_created) WHERE created <= %(BEFORE_CREATED)s AND (created < %(BEFORE_CREATED)s OR id < %(BEFORE_INSTANCE_ID)s) ORDER BY created DESC, id DESC LIMIT %(TAKE)s"

    # One state of one version: ix_instance_state.
    LIST_KEYS_BY_STATE = "SELECT id AS instance_id, created, definition_id, current_state AS state_id, flags, CONVERT(external_ref USING utf8mb4) AS external_ref FROM instance FORCE INDEX (ix_instance_state) WHERE definition_id = %(DEFINITION_ID)s AND current_state = %(STATE_ID)s AND created <= %(BEFORE_CREATED)s AND (created < %(BEFORE_CREATED)s OR id < %(BEFORE_INSTANCE_ID)s) ORDER BY created DESC, id DESC LIMIT %(TAKE)s"

    # One status of one definition, and a definition or environment alone, status by status: ix_instance_status.
    LIST_KEYS_BY_STATUS = "SELECT id AS instance_id, created, definition_id, current_state AS state_id, flags, CONVERT(external_ref USING utf8mb4) AS external_ref FROM instance FORCE INDEX (ix_instance_status) WHERE definition_id = %(DEFINITION_ID)s AND status = %(INSTANCE_STATUS)s AND created <= %(BEFORE_CREATED)s AND (created < %(BEFORE_CREATED)s OR id < %(BEFORE_INSTANCE_ID)s) ORDER BY created DESC, id DESC LIMIT %(TAKE)s"

    # A reference, whole or by its beginning: uq_instance_ref. A range follows the reference's order, so it serves only where it holds few rows.
    LIST_KEYS_BY_REF = "SELECT id AS instance_id, created, definition_id, current_state AS state_id, flags, CONVERT(external_ref USING utf8mb4) AS external_ref FROM instance FORCE INDEX (uq_instance_ref) WHERE definition_id IN %(DEFINITION_IDS)s AND external_ref = %(EXTERNAL_REF)s ORDER BY created DESC, id DESC LIMIT %(TAKE)s"
    LIST_KEYS_BY_PREFIX = "SELECT id AS instance_id, created, definition_id, current_state AS state_id, flags, CONVERT(external_ref USING utf8mb4) AS external_ref FROM instance i FORCE INDEX (uq_instance_ref) WHERE definition_id = %(DEFINITION_ID)s AND i.external_ref >= %(REF_FROM)s AND i.external_ref < %(REF_TO)s ORDER BY i.external_ref LIMIT %(TAKE)s"
