"""WorkFlowEngineOptions: timings, limits and page sizes; every one is a template parameter."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFlowEngineOptions:
    ack_pending_resend_seconds: int = 40
    ack_delivered_resend_seconds: int = 240
    max_retry_count: int = 12
    consumer_ttl_seconds: int = 30
    consumer_down_recheck_seconds: int = 60
    monitor_page_size: int = 200
    default_state_stale_seconds: int = 86_400
    monitor_interval_seconds: int = 10
    notice_ttl_days: int = 14
    # 1 gives the fixed window of v0.6.
    backoff_factor: float = 2.0
    backoff_cap_seconds: int = 900
    backoff_jitter_percent: int = 10
    overdue_recheck_seconds: int = 60
    # Whose queues, functions and hosts may be registered as endpoints; empty: any.
    endpoint_accounts: tuple[str, ...] = ()
    endpoint_hosts: tuple[str, ...] = ()
    # DISABLED: nobody runs the monitor, so its age says nothing about health.
    monitor_state: str = "ENABLED"
