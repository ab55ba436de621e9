"""SQL of table `instance`: the row that every unit of work locks first."""


class QRY_INSTANCE:
    GET_LOCKED_BY_REF = "SELECT id AS instance_id, guid AS instance_guid, definition_id, def_version_id, policy_id, CONVERT(external_ref USING utf8mb4) AS external_ref, current_state AS current_state_id, last_event AS last_event_id, flags, suspended_by, message, seq, stay_id, state_entered_at, stale_at, state_due_at, created FROM instance WHERE definition_id = %(DEFINITION_ID)s AND external_ref = %(EXTERNAL_REF)s FOR UPDATE"
    GET_LOCKED_BY_GUID = "SELECT id AS instance_id, guid AS instance_guid, definition_id, def_version_id, policy_id, CONVERT(external_ref USING utf8mb4) AS external_ref, current_state AS current_state_id, last_event AS last_event_id, flags, suspended_by, message, seq, stay_id, state_entered_at, stale_at, state_due_at, created FROM instance WHERE guid = %(INSTANCE_GUID)s FOR UPDATE"

    # The subselect locks nothing: a locking read locks only the table it names.
    GET_LOCKED_BY_ACK_GUID = "SELECT id AS instance_id, guid AS instance_guid, definition_id, def_version_id, policy_id, CONVERT(external_ref USING utf8mb4) AS external_ref, current_state AS current_state_id, last_event AS last_event_id, flags, suspended_by, message, seq, stay_id, state_entered_at, stale_at, state_due_at, created FROM instance WHERE id = (SELECT a.instance_id FROM ack a WHERE a.guid = %(ACK_GUID)s) FOR UPDATE"

    # A literal list on the primary key locks in ascending order; a subselect in its place deadlocked against those who do.
    LIST_LOCKED_BY_IDS = "SELECT id AS instance_id, guid AS instance_guid, definition_id, def_version_id, policy_id, CONVERT(external_ref USING utf8mb4) AS external_ref, current_state AS current_state_id, last_event AS last_event_id, flags, suspended_by, message, seq, stay_id, state_entered_at, stale_at, state_due_at, created FROM instance FORCE INDEX (PRIMARY) WHERE id IN %(INSTANCE_IDS)s ORDER BY id FOR UPDATE"

    # The monitor leaves what somebody else is working on to its next page.
    LIST_UNLOCKED_BY_IDS = "SELECT id AS instance_id, guid AS instance_guid, definition_id, def_version_id, policy_id, CONVERT(external_ref USING utf8mb4) AS external_ref, current_state AS current_state_id, last_event AS last_event_id, flags, suspended_by, message, seq, stay_id, state_entered_at, stale_at, state_due_at, created FROM instance FORCE INDEX (PRIMARY) WHERE id IN %(INSTANCE_IDS)s ORDER BY id FOR UPDATE SKIP LOCKED"
    LIST_EXISTING = "SELECT id AS instance_id FROM instance WHERE id IN %(INSTANCE_IDS)s ORDER BY id"
    LIST_IDS_BY_ACK_GUIDS = "SELECT a.guid AS ack_guid, a.instance_id FROM ack a WHERE a.guid IN %(ACK_GUIDS)s ORDER BY a.instance_id"

    # Passes A and C: only what is due, by keyset, in the order of the index. A stay that began at creation has no step: seq 0 then.
    LIST_DUE_PAGED = "SELECT i.id AS instance_id, i.guid AS instance_guid, i.stay_id, COALESCE((SELECT l.seq FROM lifecycle l WHERE l.id = i.stay_id), 0) AS stay_seq, i.state_due_at FROM instance i FORCE INDEX (ix_instance_due) WHERE i.state_due_kind = %(STATE_DUE_KIND)s AND i.state_due_at <= %(NOW)s AND i.state_due_at >= %(AFTER_DUE)s AND (i.state_due_at > %(AFTER_DUE)s OR i.id > %(AFTER_INSTANCE_ID)s) ORDER BY i.state_due_at, i.id LIMIT %(TAKE)s"

    INSERT = "INSERT INTO instance (id, guid, definition_id, def_version_id, policy_id, external_ref, current_state, last_event, flags, seq, stay_id, state_entered_at, stale_at, state_due_kind, state_due_at, created, modified) VALUES (%(INSTANCE_ID)s, %(INSTANCE_GUID)s, %(DEFINITION_ID)s, %(DEF_VERSION_ID)s, %(POLICY_ID)s, %(EXTERNAL_REF)s, %(STATE_ID)s, %(EVENT_ID)s, %(FLAGS)s, %(SEQ)s, %(STAY_ID)s, %(STATE_ENTERED_AT)s, %(STALE_AT)s, %(STATE_DUE_KIND)s, %(STATE_DUE_AT)s, %(NOW)s, %(NOW)s)"

    # Compare-and-set. It changing no row is no error to the server: the lifecycle row's keys are what stops the packet then.
    UPDATE_STATE_CAS = "UPDATE instance SET current_state = %(STATE_ID)s, last_event = %(EVENT_ID)s, flags = %(FLAGS)s, seq = %(SEQ)s, stay_id = %(STAY_ID)s, state_entered_at = %(STATE_ENTERED_AT)s, stale_at = %(STALE_AT)s, state_due_kind = %(STATE_DUE_KIND)s, state_due_at = %(STATE_DUE_AT)s, modified = %(NOW)s WHERE id = %(INSTANCE_ID)s AND current_state = %(FROM_STATE_ID)s AND seq = %(FROM_SEQ)s AND flags = %(FROM_FLAGS)s"
    UPDATE_FLAGS = "UPDATE instance SET flags = %(FLAGS)s, suspended_by = %(SUSPENDED_BY)s, message = %(MESSAGE)s, state_due_kind = %(STATE_DUE_KIND)s, state_due_at = %(STATE_DUE_AT)s, modified = %(NOW)s WHERE id = %(INSTANCE_ID)s"
    UPDATE_DUE = "UPDATE instance SET stale_at = %(STALE_AT)s, state_due_kind = %(STATE_DUE_KIND)s, state_due_at = %(STATE_DUE_AT)s WHERE id = %(INSTANCE_ID)s"
