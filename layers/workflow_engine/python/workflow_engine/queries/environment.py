"""SQL of table `environment`."""


class QRY_ENVIRONMENT:
    GET_BY_CODE = "SELECT id AS env_id, code AS env_code, name AS env_name FROM environment WHERE code = %(ENV_CODE)s"
    INSERT = "INSERT INTO environment (id, code, name, created) VALUES (%(ENV_ID)s, %(ENV_CODE)s, %(ENV_NAME)s, %(NOW)s)"
    UPDATE_NAME = "UPDATE environment SET name = %(ENV_NAME)s WHERE id = %(ENV_ID)s"
