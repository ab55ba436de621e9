"""SQL of table `category`."""


class QRY_CATEGORY:
    LIST_BY_KEYS = "SELECT id AS category_id, name AS category_name, CONVERT(name_key USING utf8mb4) AS name_key FROM category WHERE name_key IN %(CATEGORY_KEYS)s ORDER BY name_key LIMIT %(TAKE)s"
    INSERT = "INSERT INTO category (id, name, name_key) VALUES (%(CATEGORY_ID)s, %(CATEGORY_NAME)s, %(CATEGORY_KEY)s)"
