"""Definitions and policies for tests; every call gives a fresh copy, and a test names only what it is about."""

from copy import deepcopy
from typing import Any

Json = dict[str, Any]

# The definition that the acceptance list calls L.
_L: Json = {
    "name": "Leave",
    "version": 1,
    "description": "A request that is submitted and decided on",
    "states": [
        {"name": "Draft", "is_initial": True, "category": "Intake"},
        {"name": "Submitted", "category": "Decision"},
        {"name": "Review", "category": "Decision", "timeout_minutes": 60, "timeout_event": 30},
        {"name": "Approved", "is_final": True, "category": "Outcome"},
        {"name": "Rejected", "is_final": True, "category": "Outcome"},
    ],
    "events": [{"code": 10, "name": "Submit"}, {"code": 20, "name": "Approve"}, {"code": 30, "name": "Reject"}, {"code": 40}],
    "transitions": [
        {"from": "Draft", "event": 10, "to": "Submitted"},
        {"from": "Submitted", "event": 20, "to": "Approved"},
        {"from": "Submitted", "event": 30, "to": "Rejected"},
        {"from": "Submitted", "event": 40, "to": "Review"},
        {"from": "Review", "event": 20, "to": "Approved"},
        {"from": "Review", "event": 30, "to": "Rejected"},
    ],
}

_L_POLICY: Json = {
    "policy_name": "leave.policy",
    "for": {"definition": "Leave", "version": 1},
    "params": [
        {"code": "PARAMS.LEAVE.DECIDE", "data": {"approval": {"rule": "any", "selector": {"value": "manager", "mode": "role"}}}},
        {"code": "PARAMS.LEAVE.TELL", "data": {"channels": ["mail", "chat"]}},
    ],
    "rules": [
        {
            "state": "Submitted",
            "params": ["PARAMS.LEAVE.DECIDE"],
            "complete": {"success": 20, "failure": 30},
            "emit": [{"route": "APP.LEAVE.DECIDE", "label": "Decide", "complete": {"success": 20, "failure": 30}}],
        },
        {"state": "Review", "via": 40, "emit": [{"route": "APP.LEAVE.REVIEW", "params": ["PARAMS.LEAVE.TELL"]}]},
    ],
}

# A definition of our own with the states and the codes that the sample policy of the guidelines (6.1) names.
_VENDOR: Json = {
    "definition": {"name": "VendorRegistration", "version": 1, "description": "From a vendor's request to its account"},
    "states": [
        {"name": "Received", "is_initial": True},
        {"name": "CheckVendorRegistered"},
        {"name": "PendingPQValidation"},
        {"name": "Overdue"},
        {"name": "AwaitingApproval"},
        {"name": "Registered", "is_final": True},
        {"name": "Rejected", "is_final": True},
    ],
    "events": [
        {"code": 1000, "name": "Start"},
        {"code": 1001, "name": "Accept"},
        {"code": 1002, "name": "Decline"},
        {"code": 1010, "name": "ValidationLate"},
        {"code": 1011, "name": "RemindApprover"},
    ],
    "transitions": [
        {"from": "Received", "event": 1000, "to": "CheckVendorRegistered"},
        {"from": "CheckVendorRegistered", "event": 1001, "to": "PendingPQValidation"},
        {"from": "CheckVendorRegistered", "event": 1002, "to": "Rejected"},
        {"from": "PendingPQValidation", "event": 1001, "to": "AwaitingApproval"},
        {"from": "PendingPQValidation", "event": 1002, "to": "Rejected"},
        {"from": "PendingPQValidation", "event": 1010, "to": "Overdue"},
        {"from": "Overdue", "event": 1001, "to": "AwaitingApproval"},
        {"from": "Overdue", "event": 1002, "to": "Rejected"},
        {"from": "AwaitingApproval", "event": 1001, "to": "Registered"},
        {"from": "AwaitingApproval", "event": 1002, "to": "Rejected"},
        {"from": "AwaitingApproval", "event": 1011, "to": "AwaitingApproval"},
    ],
}

_VENDOR_POLICY: Json = {
    "policy_name": "vendorregistration.policy",
    "for": {"definition": "vendorregistration", "version": 1},
    "params": [{"code": "PARAMS.REG.PQ.VALIDATE", "data": {"approval": {"rule": "all", "by": ["procurement", "quality"]}}}],
    "rules": [
        {
            "state": "CheckVendorRegistered",
            "complete": {"success": 1001, "failure": 1002},
            "emit": [{"event": "APP.REG.CHECK.VENDOR_REGISTERED", "complete": {"success": 1001, "failure": 1002}, "params": ["PARAMS.REG.PQ.VALIDATE"]}],
        },
        {"state": "Overdue", "via": 1010, "emit": [{"event": "APP.REG.OVERDUE.NOTIFY", "complete": {"success": 1001, "failure": 1002}}]},
    ],
    "timeouts": [
        {"state": "PendingPQValidation", "timeout": "P2D", "timeout_event": 1010},
        {"state": "AwaitingApproval", "timeout_minutes": 60, "timeout_mode": "repeat", "timeout_event": 1011},
    ],
}

# The oldest shape: policies and routes.
_VENDOR_LEGACY_POLICY: Json = {
    "policy_name": "vendorregistration.policy",
    "for": {"definition": "vendorregistration", "version": 1},
    "policies": [{"code": "PARAMS.REG.PQ.VALIDATE", "params": {"approval": {"rule": "all", "by": ["procurement", "quality"]}}}],
    "routes": [
        {
            "state": "CheckVendorRegistered",
            "policy": "PARAMS.REG.PQ.VALIDATE",
            "emit": [{"event": "APP.REG.CHECK.VENDOR_REGISTERED", "blocking": True, "complete": {"success": 1001, "failure": 1002}}],
        },
        {"state": "Overdue", "via": 1010, "emit": [{"event": "APP.REG.OVERDUE.NOTIFY"}]},
    ],
    "timeouts": [{"state": "PendingPQValidation", "timeout": "P2D", "timeout_event": 1010}],
}


def definition_l(**changes: Any) -> Json:
    """L of the acceptance list: Draft -10 Submit-> Submitted -20-> Approved, -30-> Rejected, -40-> Review (60 minutes, then 30)."""
    return deepcopy(_L) | changes


def policy_l(**changes: Any) -> Json:
    return deepcopy(_L_POLICY) | changes


def definition_vendor(**changes: Any) -> Json:
    """The wrapper form; made for the guidelines' sample policy."""
    return deepcopy(_VENDOR) | changes


def policy_vendor(**changes: Any) -> Json:
    """The sample policy of the guidelines, section 6.1."""
    return deepcopy(_VENDOR_POLICY) | changes


def policy_vendor_legacy(**changes: Any) -> Json:
    return deepcopy(_VENDOR_LEGACY_POLICY) | changes


def definition_large(steps: int = 60) -> Json:
    """A long way with a side track at every step: 2 x steps + 3 states, 4 x steps + 2 transitions."""
    states: list[Json] = [{"name": "Start", "is_initial": True}, {"name": "Done", "is_final": True}, {"name": "Cancelled", "is_final": True}]
    transitions: list[Json] = [{"from": "Start", "event": 1, "event_name": "Next", "to": "Step 1"}, {"from": "Start", "event": 2, "to": "Cancelled"}]
    for step in range(1, steps + 1):
        name, side, after = f"Step {step}", f"Waiting {step}", f"Step {step + 1}" if step < steps else "Done"
        states += [{"name": name, "category": f"Part {step % 7}"}, {"name": side, "timeout": f"PT{step}H", "timeout_event": 4, "timeout_mode": "repeat"}]
        transitions += [{"from": name, "event": 1, "to": after}, {"from": name, "event": 3, "event_name": "Hold", "to": side}]
        transitions += [{"from": side, "event": 4, "eventName": "Remind", "to": side}, {"from": side, "event": 1, "to": name}]
    return {"name": "Long Way", "states": states, "transitions": transitions}


def policy_large(steps: int = 60) -> Json:
    """Every key that a policy may have, many times."""
    rules: list[Json] = []
    for step in range(1, steps + 1):
        gate = {"route": f"APP.STEP.{step}", "type": "gate", "order": 1, "group": "work", "ack_mode": "all", "complete": {"success": "next", "failure": 3}}
        effect = {"route": "APP.AUDIT", "label": "Audit", "type": "effect", "order": 2, "send": "always", "params": [], "on_entry": False, "deadline": "PT4H"}
        rules.append({"state": f"Step {step}", "params": [f"P{step % 5}"], "complete": {"success": 1}, "emit": [gate, effect]})
        rules.append({"state": f"Waiting {step}", "via": "Remind", "emit": [{"route": "APP.REMIND", "not_before": "2026-01-01T08:00:00Z"}]})
    params = [{"code": f"P{number}", "data": {"z": number, "a": [3, 1, 2], "label": "x", "description": None}} for number in range(5)]
    timeouts = [{"state": f"Waiting {step}", "timeout": "P1D", "timeout_mode": "repeat", "timeout_event": 4, "max_retry": 3} for step in range(1, steps + 1, 2)]
    return {"policy_name": "long.policy", "defName": "long way", "params": params, "rules": rules, "timeouts": timeouts}
