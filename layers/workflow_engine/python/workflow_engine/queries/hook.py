"""SQL of table `hook`."""


class QRY_HOOK:
    INSERT = "INSERT INTO hook (id, lifecycle_id, instance_id, position, route, label, on_entry, hook_type, hook_order, hook_group, ack_mode, send, not_before, deadline, on_success, on_failure, created) VALUES (%(HOOK_ID)s, %(LIFECYCLE_ID)s, %(INSTANCE_ID)s, %(POSITION)s, %(ROUTE)s, %(LABEL)s, %(ON_ENTRY)s, %(HOOK_TYPE)s, %(HOOK_ORDER)s, %(HOOK_GROUP)s, %(ACK_MODE)s, %(SEND)s, %(NOT_BEFORE)s, %(HOOK_DEADLINE)s, %(ON_SUCCESS)s, %(ON_FAILURE)s, %(NOW)s)"
