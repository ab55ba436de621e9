"""SQL of table `def_policy`."""


class QRY_DEF_POLICY:
    LIST_BY_KEY = "SELECT l.policy_id, p.name AS policy_name, p.hash AS content_hash, l.def_version_id, l.stamp FROM def_policy l JOIN policy p ON p.id = l.policy_id JOIN definition d ON d.id = p.definition_id JOIN environment e ON e.id = d.env_id WHERE e.code = %(ENV_CODE)s AND d.name_key = %(DEF_KEY)s ORDER BY l.stamp DESC LIMIT %(TAKE)s"
    INSERT = "INSERT INTO def_policy (def_version_id, policy_id, stamp, created) VALUES (%(DEF_VERSION_ID)s, %(POLICY_ID)s, %(STAMP)s, %(NOW)s)"
    UPDATE_STAMP = "UPDATE def_policy SET stamp = %(STAMP)s WHERE def_version_id = %(DEF_VERSION_ID)s AND policy_id = %(POLICY_ID)s"
