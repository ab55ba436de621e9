"""What a named statement may say (guidelines 1.1, 1.2, 1.4, 1.5). Each check gives back what is wrong, or None."""

import re
from collections.abc import Callable, Iterator

from tests.rules.constants import Constant
from tests.rules.source import Violation
from tests.rules.sql_text import PLACEHOLDER, flat, placeholders, top_level

VERBS = {
    "GET": ("SELECT ", "WITH "),
    "LIST": ("SELECT ",),
    "EXISTS": ("SELECT ",),
    "COUNT": ("SELECT COUNT(",),
    "INSERT": ("INSERT INTO ",),
    "UPDATE": ("UPDATE ",),
    "DELETE": ("DELETE FROM ",),
}
READS = frozenset({"GET", "LIST", "EXISTS", "COUNT"})
# The frame around a unit of work, and the database's accounts: neither reads nor writes rows.
OTHER_STATEMENTS = frozenset({"QRY_TRANSACTION", "QRY_RUNTIME_USER"})
# The migrator's two connections set their own patience.
SESSION_SETTINGS = frozenset({"QRY_SCHEMA_VERSION.SET_LOCK_WAIT", "QRY_SCHEMA_VERSION.SET_IDLE_WAIT"})
# A row is locked by its unique key or by a literal list of ids. Import and migration lock one row and never an instance.
LOCKABLE = frozenset({"instance", "definition", "schema_version"})
PRIMARY_KEYS = {"instance": ("id",), "ack_consumer": ("ack_id", "consumer_id")}
# One step of one lane: as many rows as the step has hooks, and one.
BOUNDED_OTHERWISE = frozenset({"QRY_ACK_CONSUMER.LIST_LOWEST_HELD", "QRY_ACK_CONSUMER.LIST_LOWEST_HELD_BY_ACK_GUID"})

_CODED = r"\b(?:flags|status|kinds?|gave_up|suspended_by|on_exhausted|mode|state_due_kind)"
_TIME = r"\b(?:NOW|SYSDATE|CURDATE|CURTIME|UNIX_TIMESTAMP)\(|\b(?:CURRENT_(?:TIMESTAMP|DATE|TIME)|LOCALTIME(?:STAMP)?|UTC_(?:TIMESTAMP|DATE|TIME))\b"
FORBIDDEN = {
    r";": "one constant is one statement, without a semicolon",
    r"SELECT (?:DISTINCT |STRAIGHT_JOIN )*\*|\w\.\*|, \*": "name the columns instead of *",
    r"\bON DUPLICATE\b|\bREPLACE INTO\b|\bINSERT IGNORE\b": "look, then insert; a duplicate key restarts the unit",
    r"\bLAST_INSERT_ID\b": "ids are known before the insert (dal.unit_ids)",
    r"\bROW_COUNT\b|\bFOUND_ROWS\b": "the packet's answer says how many rows changed",
    r"\bRETURNING\b": "MySQL has no RETURNING; read in the same packet",
    r"\bFOR SHARE\b|\bLOCK IN SHARE MODE\b|\bFOR UPDATE OF\b": "MariaDB has neither FOR SHARE nor FOR UPDATE OF; lock the instance row",
    r"\bGET_LOCK\b|\bRELEASE_LOCK\b": "locks are rows",
    r"@": "no user or system variables",
    r"VALUES \(.*\) AS ": "MariaDB has no row alias",
    rf"{_CODED} (?:=|<>|!=|<=>|<=|>=|<|>|&|\||IN) ?\(?\d|\d (?:&|\|) (?:\w+\.)?(?:flags|kinds)\b": "flags and statuses are parameters, no digits",
    _TIME: "the time is a parameter (NOW): tests move the clock",
    r"\b(?:UUID|RAND)\(": "what is made up is made in Python and passed in",
}
_BARE = frozenset({"ID", "NAME", "DISPLAY_NAME", "CODE", "GUID"})
_KEYWORDS = re.compile(
    r"select|from|where|and|or|not|in|is|null|join|left|right|inner|outer|cross|on|as|order|by|group|having|limit|offset|union|all|distinct|insert|into|values|update|set"
    r"|delete|exists|between|like|case|when|then|else|end|with|recursive|for|skip|locked|using|force|index|asc|desc|interval|straight_join|div|escape|over|partition",
)
_WORD = re.compile(r"(?<![.\w])([A-Za-z_]\w*)(\(?)")


def plain_percent(constant: Constant) -> str | None:
    rest = PLACEHOLDER.sub("", constant.sql).replace("%%", "")
    return "a percent sign that is no placeholder is written %%" if "%" in rest else None


def placeholder_names(constant: Constant) -> str | None:
    bad = sorted(
        name for name in placeholders(constant.sql) if not re.fullmatch(r"[A-Z][A-Z0-9_]*", name) or name in {"ID", "NAME", "DISPLAY_NAME", "CODE", "GUID"}
    )
    return f"placeholders say what the value is, in upper case: {', '.join(bad)}" if bad else None


def forbidden(constant: Constant) -> str | None:
    text = flat(constant.sql)
    return next((advice for pattern, advice in FORBIDDEN.items() if re.search(pattern, text, re.IGNORECASE)), None)


def verb(constant: Constant) -> str | None:
    if not re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", constant.name):
        return "names are upper case: verb, what, BY keys"
    if constant.verb not in VERBS:
        return f"the name begins with one of {', '.join(VERBS)}"
    return None if constant.sql.startswith(VERBS[constant.verb]) else f"a statement called {constant.verb} begins with {' or '.join(VERBS[constant.verb])}"


def spaces(constant: Constant) -> str | None:
    return "single spaces, on one line" if constant.sql != " ".join(constant.sql.split()) or " ," in constant.sql else None


def keywords(constant: Constant) -> str | None:
    small = {found for found, bracket in _WORD.findall(flat(constant.sql)) if found != found.upper() and (bracket or _KEYWORDS.fullmatch(found.lower()))}
    return f"keywords and functions are upper case: {', '.join(sorted(small))}" if small else None


def order_and_bound(constant: Constant) -> str | None:
    if constant.verb != "LIST":
        return None
    top = top_level(constant.sql)
    if " ORDER BY " not in top:
        return "a list has an ORDER BY"
    is_bounded = " LIMIT " in top or " GROUP BY " in top or re.search(r" IN %\(\w+\)s", constant.sql) or constant.full_name in BOUNDED_OTHERWISE
    return None if is_bounded else "a list has a bound: LIMIT %(TAKE)s, a list of keys, or one row a group"


def primary_key(constant: Constant) -> str | None:
    change = re.match(r"(?:UPDATE|DELETE FROM) (\w+) ", constant.sql)
    keys = PRIMARY_KEYS.get(change[1], ()) if change else ()
    where = constant.sql.partition(" WHERE ")[2]
    missing = [key for key in keys if not re.search(rf"(?<![\w.]){key} (?:=|IN) %\(", where)]
    return f"a change of {change[1]} names its primary key ({', '.join(keys)}): locks are taken by key alone" if change and missing else None


def locks(constant: Constant) -> str | None:
    if "FOR UPDATE" not in constant.sql:
        return None
    top = top_level(constant.sql)
    locked = re.search(r" FROM (\w+) .*FOR UPDATE(?: SKIP LOCKED)?$", top)
    return None if locked and locked[1] in LOCKABLE and " JOIN " not in top else "only rows of instance are locked, by one table's key"


FORM = (plain_percent, placeholder_names, spaces)
CHECKS: tuple[Callable[[Constant], str | None], ...] = (*FORM, forbidden, verb, keywords, order_and_bound, primary_key, locks)


def broken(constant: Constant) -> Iterator[Violation]:
    """Check all; statements that are neither reads nor writes keep the rules of form alone."""
    is_other = constant.owner in OTHER_STATEMENTS or constant.full_name in SESSION_SETTINGS
    problems = (check(constant) for check in (FORM if is_other else CHECKS))
    return (constant.says(problem) for problem in problems if problem)
