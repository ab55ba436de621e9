"""SQL of table `notice`."""


class QRY_NOTICE:
    INSERT = "INSERT INTO notice (id, code, kind, env_code, instance_id, instance_guid, external_ref, consumer_id, consumer, ack_guid, occurred_at, data) VALUES (%(NOTICE_ID)s, %(NOTICE_CODE)s, %(NOTICE_KIND)s, %(ENV_CODE)s, %(INSTANCE_ID)s, %(INSTANCE_GUID)s, %(EXTERNAL_REF)s, %(CONSUMER_ID)s, %(CONSUMER)s, %(ACK_GUID)s, %(OCCURRED_AT)s, %(DATA)s)"
