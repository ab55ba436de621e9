"""SQL of table `policy`; rows are inserted and never changed."""


class QRY_POLICY:
    # Newest = imported or activated last, for whichever version. The documents stay out of the sort: MySQL 8 runs out of sort memory over long texts.
    GET_NEWEST_BY_KEY = "SELECT n.id AS policy_id, n.name AS policy_name, n.document, n.warnings FROM policy n WHERE n.id = (SELECT l.policy_id FROM def_policy l JOIN policy p ON p.id = l.policy_id JOIN definition d ON d.id = p.definition_id JOIN environment e ON e.id = d.env_id WHERE e.code = %(ENV_CODE)s AND d.name_key = %(DEF_KEY)s ORDER BY l.stamp DESC LIMIT 1)"
    # What new instances of the active version get.
    GET_CURRENT_BY_KEY = "SELECT n.id AS policy_id, n.name AS policy_name, n.document, n.warnings FROM policy n WHERE n.id = (SELECT l.policy_id FROM def_policy l JOIN definition d ON d.active_version = l.def_version_id JOIN environment e ON e.id = d.env_id WHERE e.code = %(ENV_CODE)s AND d.name_key = %(DEF_KEY)s ORDER BY l.stamp DESC LIMIT 1)"
    INSERT = "INSERT INTO policy (id, definition_id, name, hash, document, resolved, warnings, created) VALUES (%(POLICY_ID)s, %(DEFINITION_ID)s, %(POLICY_NAME)s, %(CONTENT_HASH)s, %(DOCUMENT)s, %(RESOLVED)s, %(WARNINGS)s, %(NOW)s)"
