"""SQL of table `policy`; rows are inserted and never changed."""


class QRY_POLICY:
    # Newest = imported or activated last, for whichever version.
    GET_NEWEST_BY_KEY = "SELECT p.id AS policy_id, p.name AS policy_name, p.document, p.warnings FROM policy p JOIN def_policy l ON l.policy_id = p.id JOIN definition d ON d.id = p.definition_id JOIN environment e ON e.id = d.env_id WHERE e.code = %(ENV_CODE)s AND d.name_key = %(DEF_KEY)s ORDER BY l.stamp DESC LIMIT 1"
    # What new instances of the active version get.
    GET_CURRENT_BY_KEY = "SELECT p.id AS policy_id, p.name AS policy_name, p.document, p.warnings FROM policy p JOIN def_policy l ON l.policy_id = p.id JOIN definition d ON d.active_version = l.def_version_id JOIN environment e ON e.id = d.env_id WHERE e.code = %(ENV_CODE)s AND d.name_key = %(DEF_KEY)s ORDER BY l.stamp DESC LIMIT 1"
    INSERT = "INSERT INTO policy (id, definition_id, name, hash, document, resolved, warnings, created) VALUES (%(POLICY_ID)s, %(DEFINITION_ID)s, %(POLICY_NAME)s, %(CONTENT_HASH)s, %(DOCUMENT)s, %(RESOLVED)s, %(WARNINGS)s, %(NOW)s)"
