"""SQL of table `admin_audit`."""


class QRY_ADMIN_AUDIT:
    GET = "SELECT id AS audit_id FROM admin_audit WHERE id = %(AUDIT_ID)s"
    INSERT = "INSERT INTO admin_audit (id, action, actor, reason, env_code, target, data, created) VALUES (%(AUDIT_ID)s, %(ACTION)s, %(ACTOR)s, %(REASON)s, %(ENV_CODE)s, %(TARGET)s, %(DATA)s, %(NOW)s)"
