"""SQL of table `def_version`; rows are inserted and never changed."""


class QRY_DEF_VERSION:
    LIST_BY_KEY = "SELECT v.id AS def_version_id, v.version, v.hash AS content_hash, v.created FROM def_version v JOIN definition d ON d.id = v.definition_id JOIN environment e ON e.id = d.env_id WHERE e.code = %(ENV_CODE)s AND d.name_key = %(DEF_KEY)s ORDER BY v.version DESC LIMIT %(TAKE)s"
    GET_ACTIVE_TEXT_BY_KEY = "SELECT v.id AS def_version_id, v.version, v.document FROM def_version v JOIN definition d ON d.active_version = v.id JOIN environment e ON e.id = d.env_id WHERE e.code = %(ENV_CODE)s AND d.name_key = %(DEF_KEY)s"
    LIST_BY_KEY_PAGED = "SELECT v.version, v.id AS def_version_id, v.hash AS content_hash, d.active_version AS active_version_id, (SELECT p.hash FROM def_policy l JOIN policy p ON p.id = l.policy_id WHERE l.def_version_id = v.id ORDER BY l.stamp DESC LIMIT 1) AS policy_hash, v.created FROM def_version v JOIN definition d ON d.id = v.definition_id JOIN environment e ON e.id = d.env_id WHERE e.code = %(ENV_CODE)s AND d.name_key = %(DEF_KEY)s AND v.version < %(BEFORE_VERSION)s ORDER BY v.version DESC LIMIT %(TAKE)s"
    INSERT = "INSERT INTO def_version (id, definition_id, version, hash, document, created) VALUES (%(DEF_VERSION_ID)s, %(DEFINITION_ID)s, %(DEF_VERSION)s, %(CONTENT_HASH)s, %(DOCUMENT)s, %(NOW)s)"
