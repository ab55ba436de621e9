"""SQL of table `state`."""


class QRY_STATE:
    INSERT = "INSERT INTO state (id, def_version_id, category_id, name, name_key, flags) VALUES (%(STATE_ID)s, %(DEF_VERSION_ID)s, %(CATEGORY_ID)s, %(STATE_NAME)s, %(STATE_KEY)s, %(STATE_FLAGS)s)"
