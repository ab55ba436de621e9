"""SQL of passes A and C beside the instances themselves: the acks of the present stay."""


class QRY_DUE:
    LIST_LAST_STEPS = "SELECT i.id AS instance_id, l.id AS lifecycle_id FROM instance i LEFT JOIN lifecycle l ON l.instance_id = i.id AND l.seq = i.seq WHERE i.id IN %(INSTANCE_IDS)s ORDER BY i.id"

    # From the steps of the stay to their acks: by status and seq a lane of a hundred thousand held rows would be read to its end. A statement an instance, because only a literal seq is a range to the server.
    LIST_STAY_ACKS = "SELECT STRAIGHT_JOIN ac.consumer_id, ac.status, COUNT(*) AS count FROM lifecycle l JOIN lc_ack la ON la.lifecycle_id = l.id JOIN ack_consumer ac ON ac.ack_id = la.ack_id WHERE l.instance_id = %(INSTANCE_ID)s AND l.seq >= %(SEQ)s GROUP BY ac.consumer_id, ac.status UNION ALL SELECT STRAIGHT_JOIN ac.consumer_id, ac.status, COUNT(*) AS count FROM lifecycle l JOIN hook h ON h.lifecycle_id = l.id JOIN hook_ack ha ON ha.hook_id = h.id JOIN ack_consumer ac ON ac.ack_id = ha.ack_id WHERE l.instance_id = %(INSTANCE_ID)s AND l.seq >= %(SEQ)s GROUP BY ac.consumer_id, ac.status ORDER BY consumer_id, status"

    # Closing a deleted consumer's rows: those with a due time first, then the others by keyset over the same index.
    LIST_DUE_OF_DELETED = "SELECT ack_id, instance_id FROM ack_consumer FORCE INDEX (ix_ack_consumer_due) WHERE consumer_id = %(CONSUMER_ID)s AND next_due IS NOT NULL ORDER BY next_due, ack_id LIMIT %(TAKE)s"
    LIST_OTHERS_OF_DELETED = "SELECT ack_id, instance_id FROM ack_consumer FORCE INDEX (ix_ack_consumer_due) WHERE consumer_id = %(CONSUMER_ID)s AND next_due IS NULL AND ack_id > %(AFTER_ACK_ID)s ORDER BY ack_id LIMIT %(TAKE)s"
    LIST_BY_ACK_IDS = "SELECT STRAIGHT_JOIN ac.ack_id, a.guid AS ack_guid, ac.consumer_id, ac.instance_id, ac.seq, ac.kind, ac.status, ac.next_due, ac.trigger_count, ac.sends, ac.retry_count, ac.first_sent_at, ac.delivered_at, ac.processed_at, ac.gave_up, ac.created, ac.modified FROM ack_consumer ac FORCE INDEX (PRIMARY) JOIN ack a FORCE INDEX (PRIMARY) ON a.id = ac.ack_id WHERE ac.ack_id IN %(ACK_IDS)s AND ac.consumer_id = %(CONSUMER_ID)s ORDER BY ac.ack_id"
