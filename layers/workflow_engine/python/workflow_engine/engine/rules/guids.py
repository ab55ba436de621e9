"""What a guid looks like, so that nothing else is ever compared with one."""

import re

_GUID = re.compile(r"[0-9A-Za-z-]{36}")


def is_guid(text: str) -> bool:
    """Tell whether a stored guid can equal the text: both servers refuse to compare other alphabets, and ignore spaces at the end."""
    return _GUID.fullmatch(text) is not None
