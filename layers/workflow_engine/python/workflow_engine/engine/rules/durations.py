"""Durations become whole minutes, rounded up."""

import math
import re
from fractions import Fraction

# A hundred years; more is a mistake, and a due time must stay a valid date.
MAX_MINUTES = 52_560_000
_NUMBER = r"([0-9]{1,9}(?:[.,][0-9]{1,9})?)"
_ISO = re.compile(rf"P(?:{_NUMBER}W)?(?:{_NUMBER}D)?(?:T(?=[0-9])(?:{_NUMBER}H)?(?:{_NUMBER}M)?(?:{_NUMBER}S)?)?", re.IGNORECASE)
_SECONDS = (604_800, 86_400, 3_600, 60, 1)


def minutes_from_iso(text: str) -> int | None:
    """`P2D` gives 2880; None for what is no duration, is not longer than nothing, or has no fixed length (years, months)."""
    found = _ISO.fullmatch(text.strip())
    parts = found.groups() if found else ()
    given = [part for part in parts if part is not None]
    # ISO 8601 allows a fraction in the last part only.
    if not given or any(not part.isdigit() for part in given[:-1]):
        return None
    seconds = sum(Fraction(part.replace(",", ".")) * unit for part, unit in zip(parts, _SECONDS, strict=True) if part is not None)
    return _whole_minutes(Fraction(seconds) / 60)


def minutes_from_number(value: float) -> int | None:
    return _whole_minutes(Fraction(value)) if isinstance(value, int) or math.isfinite(value) else None


def _whole_minutes(minutes: Fraction) -> int | None:
    return math.ceil(minutes) if 0 < minutes <= MAX_MINUTES else None
