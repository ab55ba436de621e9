"""SQL of the health answer: every count reads what it counts, and no more than its bound."""


class QRY_HEALTH:
    # Deleted consumers stay in until the monitor has closed their rows, so that "due" misses nothing that is still in the table.
    LIST_CONSUMERS = "SELECT id AS consumer_id, deleted_id, beat_seconds, is_always_live, last_beat FROM consumer WHERE deleted_id = %(NOT_DELETED)s OR closed_ack_id IS NOT NULL ORDER BY id LIMIT %(TAKE)s"

    # One literal consumer a statement: joined with the consumers, the same count reads all their open and closed rows.
    GET_DUE_BY_CONSUMER = "SELECT COUNT(*) AS due, MIN(d.next_due) AS oldest_due FROM (SELECT ac.next_due FROM ack_consumer ac WHERE ac.consumer_id = %(CONSUMER_ID)s AND ac.next_due <= %(NOW)s ORDER BY ac.next_due LIMIT %(TAKE)s) d"
    COUNT_SUSPENDED = "SELECT COUNT(*) AS count FROM (SELECT i.id FROM instance i WHERE i.suspended_by IS NOT NULL LIMIT %(TAKE)s) d"
