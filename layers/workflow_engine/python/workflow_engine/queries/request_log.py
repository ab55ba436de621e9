"""SQL of table `request_log`."""


class QRY_REQUEST_LOG:
    GET_BY_REF = "SELECT unit_id, fingerprint, answer FROM request_log WHERE instance_id = (SELECT i.id FROM instance i WHERE i.definition_id = %(DEFINITION_ID)s AND i.external_ref = %(EXTERNAL_REF)s) AND request_id = %(REQUEST_ID)s"
    GET_BY_GUID = "SELECT unit_id, fingerprint, answer FROM request_log WHERE instance_id = (SELECT i.id FROM instance i WHERE i.guid = %(INSTANCE_GUID)s) AND request_id = %(REQUEST_ID)s"
    INSERT = "INSERT INTO request_log (instance_id, request_id, unit_id, fingerprint, answer, created) VALUES (%(INSTANCE_ID)s, %(REQUEST_ID)s, %(UNIT_ID)s, %(FINGERPRINT)s, %(ANSWER)s, %(NOW)s)"
