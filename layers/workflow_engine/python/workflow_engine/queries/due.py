"""SQL of passes A and C beside the instances themselves: open acks of the present stay, and what was given up in it."""


class QRY_DUE:
    # One EXISTS a status, so that each stops at the first entry of the lane index. A stay that began at creation has no lifecycle: seq 0 then.
    LIST_STAYS = "SELECT i.id AS instance_id, (SELECT l.id FROM lifecycle l WHERE l.instance_id = i.id AND l.seq = i.seq) AS lifecycle_id, (EXISTS (SELECT 1 FROM ack_consumer h WHERE h.instance_id = i.id AND h.status = %(HELD)s AND h.seq >= COALESCE((SELECT l.seq FROM lifecycle l WHERE l.id = i.stay_id), 0)) OR EXISTS (SELECT 1 FROM ack_consumer p WHERE p.instance_id = i.id AND p.status = %(PENDING)s AND p.seq >= COALESCE((SELECT l.seq FROM lifecycle l WHERE l.id = i.stay_id), 0)) OR EXISTS (SELECT 1 FROM ack_consumer d WHERE d.instance_id = i.id AND d.status = %(DELIVERED)s AND d.seq >= COALESCE((SELECT l.seq FROM lifecycle l WHERE l.id = i.stay_id), 0))) AS has_open FROM instance i WHERE i.id IN %(INSTANCE_IDS)s ORDER BY i.id"
    LIST_CLOSED_BADLY = "SELECT ac.instance_id, ac.consumer_id, COUNT(*) AS count FROM instance i JOIN ack_consumer ac ON ac.instance_id = i.id WHERE i.id IN %(INSTANCE_IDS)s AND ac.status IN %(ACK_STATUSES)s AND ac.seq >= COALESCE((SELECT l.seq FROM lifecycle l WHERE l.id = i.stay_id), 0) GROUP BY ac.instance_id, ac.consumer_id ORDER BY ac.instance_id, ac.consumer_id"

    # Closing a deleted consumer's rows: those with a due time first, then the others by keyset over the same index.
    LIST_DUE_OF_DELETED = "SELECT ack_id, instance_id FROM ack_consumer FORCE INDEX (ix_ack_consumer_due) WHERE consumer_id = %(CONSUMER_ID)s AND next_due IS NOT NULL ORDER BY next_due, ack_id LIMIT %(TAKE)s"
    LIST_OTHERS_OF_DELETED = "SELECT ack_id, instance_id FROM ack_consumer FORCE INDEX (ix_ack_consumer_due) WHERE consumer_id = %(CONSUMER_ID)s AND next_due IS NULL AND ack_id > %(AFTER_ACK_ID)s ORDER BY ack_id LIMIT %(TAKE)s"
    LIST_BY_ACK_IDS = "SELECT ac.ack_id, a.guid AS ack_guid, ac.consumer_id, ac.instance_id, ac.seq, ac.kind, ac.status, ac.next_due, ac.trigger_count, ac.sends, ac.retry_count, ac.first_sent_at, ac.delivered_at, ac.processed_at, ac.gave_up, ac.created, ac.modified FROM ack_consumer ac JOIN ack a ON a.id = ac.ack_id WHERE ac.ack_id IN %(ACK_IDS)s AND ac.consumer_id = %(CONSUMER_ID)s ORDER BY ac.ack_id"
