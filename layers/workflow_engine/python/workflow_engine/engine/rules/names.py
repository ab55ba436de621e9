"""How names and event references are compared."""

# Event codes are non-negative 32-bit integers.
MAX_EVENT_CODE = 2_147_483_647
_CODE_DIGITS = 10


def name_key(text: str) -> str:
    """The form in which definition, state, event and category names are compared: trimmed, without case."""
    return text.strip().casefold()


def is_code_text(text: str) -> bool:
    """Digits mean a code, anything else a name."""
    stripped = text.strip()
    return stripped.isascii() and stripped.isdigit()


def event_ref(event: int | str) -> int | str:
    """The code for a number or digits, the name key for a name; digits that no code can have stay text, so they match nothing."""
    if isinstance(event, int):
        return event
    key = name_key(event)
    if not is_code_text(key):
        return key
    digits = key.lstrip("0") or "0"
    return int(digits) if len(digits) <= _CODE_DIGITS else key
