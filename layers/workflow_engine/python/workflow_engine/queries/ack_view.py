"""SQL that shows a consumer an event that was addressed to it."""


class QRY_ACK_VIEW:
    GET_EVENT = "SELECT a.guid AS ack_guid, ac.status, a.body FROM ack a JOIN ack_consumer ac ON ac.ack_id = a.id WHERE a.guid = %(ACK_GUID)s AND ac.consumer_id = %(CONSUMER_ID)s"

    # An event belongs to a step by itself or through its hook.
    GET_PAYLOAD = "SELECT ld.payload FROM ack a LEFT JOIN lc_ack la ON la.ack_id = a.id LEFT JOIN hook_ack ha ON ha.ack_id = a.id LEFT JOIN hook h ON h.id = ha.hook_id JOIN lifecycle_data ld ON ld.lifecycle_id = COALESCE(la.lifecycle_id, h.lifecycle_id) WHERE a.guid = %(ACK_GUID)s"
