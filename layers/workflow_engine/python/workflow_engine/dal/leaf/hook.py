"""Statements of `hook`."""

from collections.abc import Sequence
from datetime import datetime

from workflow_engine.dal.packet import Statement, bulk
from workflow_engine.models.transition import NewHook
from workflow_engine.queries.hook import QRY_HOOK


class HookDAL:
    def insert(self, lifecycle_id: int, instance_id: int, hooks: Sequence[NewHook], now: datetime) -> Statement:
        return bulk(
            QRY_HOOK.INSERT,
            [
                {
                    "HOOK_ID": hook.hook_id,
                    "LIFECYCLE_ID": lifecycle_id,
                    "INSTANCE_ID": instance_id,
                    "POSITION": hook.position,
                    "ROUTE": hook.route,
                    "LABEL": hook.label,
                    "ON_ENTRY": hook.on_entry,
                    "HOOK_TYPE": hook.hook_type,
                    "HOOK_ORDER": hook.order,
                    "HOOK_GROUP": hook.group,
                    "ACK_MODE": hook.ack_mode,
                    "SEND": hook.send,
                    "NOT_BEFORE": hook.not_before,
                    "HOOK_DEADLINE": hook.deadline,
                    "ON_SUCCESS": hook.on_success,
                    "ON_FAILURE": hook.on_failure,
                    "NOW": now,
                }
                for hook in hooks
            ],
        )
