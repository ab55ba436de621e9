"""SQL of table `events`."""


class QRY_EVENTS:
    INSERT = "INSERT INTO events (id, def_version_id, code, name, name_key) VALUES (%(EVENT_ID)s, %(DEF_VERSION_ID)s, %(EVENT_CODE)s, %(EVENT_NAME)s, %(EVENT_KEY)s)"  # fmt: skip
