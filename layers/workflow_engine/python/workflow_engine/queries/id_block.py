"""SQL of table `id_block`."""


class QRY_ID_BLOCK:
    UPDATE_NEXT = "UPDATE id_block SET next_id = next_id + %(BLOCK_SIZE)s WHERE name = %(BLOCK_NAME)s"
    GET_NEXT = "SELECT next_id FROM id_block WHERE name = %(BLOCK_NAME)s"
