"""SQL of table `subscription`."""


class QRY_SUBSCRIPTION:
    INSERT = "INSERT INTO subscription (env_id, definition_key, consumer_id) VALUES (%(ENV_ID)s, %(DEF_KEY)s, %(CONSUMER_ID)s)"
    DELETE_BY_CONSUMER = "DELETE FROM subscription WHERE consumer_id = %(CONSUMER_ID)s"
