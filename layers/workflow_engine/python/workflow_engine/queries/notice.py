"""SQL of table `notice`."""


class QRY_NOTICE:
    INSERT = "INSERT INTO notice (id, code, kind, env_code, instance_id, instance_guid, external_ref, consumer_id, consumer, ack_guid, occurred_at, data) VALUES (%(NOTICE_ID)s, %(NOTICE_CODE)s, %(NOTICE_KIND)s, %(ENV_CODE)s, %(INSTANCE_ID)s, %(INSTANCE_GUID)s, %(EXTERNAL_REF)s, %(CONSUMER_ID)s, %(CONSUMER)s, %(ACK_GUID)s, %(OCCURRED_AT)s, %(DATA)s)"

    # A filter that is not given is `NULL IS NULL` to the server, which drops it before it chooses an index. Kinds come as their codes, because codes have an index.
    LIST_PAGED = "SELECT n.id AS notice_id, n.code, n.kind, n.env_code, n.instance_id, n.instance_guid, CONVERT(n.external_ref USING utf8mb4) AS external_ref, n.consumer_id, CONVERT(n.consumer USING utf8mb4) AS consumer, n.ack_guid, n.occurred_at, n.data FROM notice n WHERE (%(ENV_CODE)s IS NULL OR n.env_code = %(ENV_CODE)s) AND (%(FIRST_NOTICE_CODE)s IS NULL OR n.code IN %(NOTICE_CODES)s) AND (%(INSTANCE_GUID)s IS NULL OR n.instance_guid = %(INSTANCE_GUID)s) AND (%(CONSUMER)s IS NULL OR n.consumer = %(CONSUMER)s) AND n.occurred_at <= %(BEFORE)s AND (n.occurred_at < %(BEFORE)s OR n.id < %(BEFORE_NOTICE_ID)s) ORDER BY n.occurred_at DESC, n.id DESC LIMIT %(TAKE)s"

    # Oldest first and a page at a time: a long lock on old notices must not make a trigger wait that writes a new one.
    DELETE_BEFORE = "DELETE FROM notice WHERE occurred_at < %(BEFORE)s ORDER BY occurred_at LIMIT %(TAKE)s"
