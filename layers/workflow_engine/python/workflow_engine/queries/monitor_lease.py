"""SQL of table `monitor_lease`."""


class QRY_MONITOR_LEASE:
    GET = "SELECT owner, expires_at, last_pass_at FROM monitor_lease WHERE name = %(LEASE_NAME)s"

    # Taking and renewing are one: whoever holds the lease, or finds it run out, gets it. A read in the same packet tells who that was.
    UPDATE_OWNER = "UPDATE monitor_lease SET owner = %(LEASE_OWNER)s, expires_at = %(EXPIRES_AT)s WHERE name = %(LEASE_NAME)s AND (owner = %(LEASE_OWNER)s OR owner IS NULL OR expires_at <= %(NOW)s)"
    UPDATE_RELEASED = "UPDATE monitor_lease SET owner = NULL, expires_at = %(NOW)s WHERE name = %(LEASE_NAME)s AND owner = %(LEASE_OWNER)s"
    UPDATE_LAST_RUN = "UPDATE monitor_lease SET last_pass_at = %(NOW)s WHERE name = %(LEASE_NAME)s"
