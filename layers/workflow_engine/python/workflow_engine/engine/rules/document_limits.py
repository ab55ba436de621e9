"""Limits of imported documents, and the one look at the raw JSON that keeps everything after it safe.

| what | limit |
|---|---|
| names (definition, state, event, category, policy), param codes, groups | 1-120 characters after trimming |
| routes, labels | 1-200 characters |
| description | 4,000 characters |
| states, events, timeouts, params | 1,000 |
| transitions | 5,000 |
| rules | 2,000 |
| emits of a rule, params of a rule or emit | 100 |
| params of a rule or emit together, as ASCII JSON | 150 KiB |
| event codes | 0-2,147,483,647 |
| versions, max_retry | 1-2,147,483,647 |
| order | 32-bit signed |
| durations | more than 0, at most 100 years |
| nesting of arrays and objects | 64 |
| findings reported | 1,000 |
"""

import math

from pydantic import JsonValue

from workflow_engine.engine.rules.findings import Findings, Path

MAX_NAME = 120
MAX_ROUTE = 200
MAX_DESCRIPTION = 4_000
MAX_STATES = 1_000
MAX_EVENTS = 1_000
MAX_TRANSITIONS = 5_000
MAX_RULES = 2_000
MAX_EMITS = 100
MAX_PARAMS = 1_000
MAX_PARAM_CODES = 100
MAX_PARAMS_BYTES = 150 * 1024
MAX_INT = 2_147_483_647
MIN_INT = -2_147_483_648
MAX_DEPTH = 64
_MAX_NUMBER_BITS = 1_024


def scan(value: JsonValue, path: Path, findings: Findings) -> bool:
    """Report text and numbers that cannot be stored; False when the nesting is too deep to go on. Walks without recursion."""
    waiting: list[tuple[JsonValue, Path, int]] = [(value, path, 1)]
    while waiting:
        node, where, depth = waiting.pop()
        if isinstance(node, (dict, list)) and depth > MAX_DEPTH:
            findings.error("TOO_DEEP", where[: len(path) + MAX_DEPTH], f"arrays and objects may be nested {MAX_DEPTH} deep")
            return False
        if isinstance(node, dict):
            waiting.extend((child, (*where, key), depth + 1) for key, child in node.items() if _is_good_key(key, where, findings))
        elif isinstance(node, list):
            waiting.extend((child, (*where, index), depth + 1) for index, child in enumerate(node))
        else:
            _scan_leaf(node, where, findings)
    return True


def is_storable_text(text: str) -> bool:
    """Half of a surrogate pair is legal JSON but no Unicode text."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _is_good_key(key: str, where: Path, findings: Findings) -> bool:
    if is_storable_text(key):
        return True
    findings.error("INVALID_TEXT", where, "a key holds half of a surrogate pair")
    return False


def _scan_leaf(value: JsonValue, where: Path, findings: Findings) -> None:
    if isinstance(value, str):
        if not is_storable_text(value):
            findings.error("INVALID_TEXT", where, "the text holds half of a surrogate pair")
    elif isinstance(value, float):
        if not math.isfinite(value):
            findings.error("INVALID_NUMBER", where, "the number is not finite")
    elif isinstance(value, int) and value.bit_length() > _MAX_NUMBER_BITS:
        findings.error("INVALID_NUMBER", where, "the number is too large")
