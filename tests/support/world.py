"""What the world looks like after an operation, to be compared with how it looks after the same one elsewhere."""

import json
import re
from typing import Any

from tests.support.engine import Workbench
from tests.support.facts import deliveries, stands, steps

_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def facts(bench: Workbench, answer: Any = None) -> dict[str, Any]:
    """What the world looks like, without the ids and guids that differ from run to run."""
    refs = [row["ref"] for row in bench.sql("SELECT CONVERT(external_ref USING utf8mb4) AS ref FROM instance ORDER BY external_ref")]
    return {
        "answer": _plain(answer),
        "instances": {ref: (_plain(stands(bench, ref)), steps(bench, ref), deliveries(bench, ref)) for ref in refs},
        "requests": _requests(bench),
        "firings": bench.sql("SELECT n FROM lc_timeout ORDER BY instance_id, n"),
        "audit": bench.sql("SELECT action, actor, reason FROM admin_audit ORDER BY created, action"),
        "consumers": bench.sql(
            "SELECT consumer_guid, owner, kinds, definitions, deleted_id > 0 AS is_deleted, last_beat, closed_ack_id FROM consumer ORDER BY 1"
        ),
        "listening": bench.sql("SELECT c.consumer_guid, s.definition_key FROM subscription s JOIN consumer c ON c.id = s.consumer_id ORDER BY 1, 2"),
        "versions": bench.sql(
            "SELECT d.name, v.version, d.active_version = v.id AS is_active FROM definition d JOIN def_version v ON v.definition_id = d.id ORDER BY 1, 2"
        ),
        "policies": bench.sql("SELECT p.name, COUNT(*) AS n FROM policy p JOIN def_policy l ON l.policy_id = p.id GROUP BY p.name ORDER BY 1"),
        "runtime": bench.sql("SELECT activity, status, is_frozen FROM runtime ORDER BY 1"),
        "sent": bench.sent(),
        "published": sorted(notice.code.value for notice in bench.publisher.notices),
        "stored": sorted({row["code"] for row in bench.sql("SELECT code FROM notice")}),
    }


def unknown_guids(bench: Workbench, answer: Any) -> set[str]:
    """Guids of acks and instances that were answered but are not in the tables."""
    known = {row["guid"] for row in bench.sql("SELECT guid FROM ack UNION ALL SELECT guid FROM instance")}
    return _guids(answer.model_dump(mode="json") if hasattr(answer, "model_dump") else answer) - known


def _guids(value: Any) -> set[str]:
    if isinstance(value, dict):
        named = {value[name] for name in ("ack_guid", "instance_guid") if isinstance(value.get(name), str)}
        return named.union(value.get("hook_ack_guids", []), *(_guids(one) for one in value.values()))
    return set().union(*(_guids(one) for one in value)) if isinstance(value, list) else set()


def _requests(bench: Workbench) -> list[tuple[str, Any]]:
    found = "SELECT CONVERT(r.request_id USING utf8mb4) AS request_id, r.answer FROM request_log r JOIN instance i ON i.id = r.instance_id"
    rows = bench.sql(f"{found} ORDER BY i.external_ref, 1")
    return [(re.sub(r"timeout:\d+", "timeout:…", row["request_id"]), _plain(json.loads(row["answer"]))) for row in rows]


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json")
    elif hasattr(value, "as_dict"):
        value = {name: count for name, count in value.as_dict().items() if name != "seconds"}
    if isinstance(value, dict):
        return {name: "id" if name.endswith("_id") and isinstance(one, int) else _plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, str):
        return re.sub(r"whsec_\d+", "whsec", _GUID.sub("guid", value))
    return value
