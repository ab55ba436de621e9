"""What can be read from a statement's text without a server."""

import re
from collections.abc import Iterator
from itertools import pairwise

PLACEHOLDER = re.compile(r"%\((\w+)\)s")
_LITERAL = re.compile(r"'[^']*'")
_NO_ALIAS = "SET|WHERE|FORCE|JOIN|LEFT|ON|ORDER|GROUP|LIMIT|FOR|UNION|SELECT|VALUES"
_TABLE = re.compile(rf"\b(?:FROM|JOIN|UPDATE|INTO) (\w+)(?: (?!(?:{_NO_ALIAS})\b)(\w+))?")
_MEETS = re.compile(r"([\w.]+) (?:=|<=>|<>|<=|>=|<|>|IN) (:\w+)")
_MEETS_LIST = re.compile(r"([\w.]+) IN \(([^()]+)\)")
_INSERT = re.compile(r"INSERT (?:IGNORE )?INTO (\w+) \(([^)]*)\) (?:VALUES \((.*)\)$|(SELECT .*))")


def placeholders(sql: str) -> set[str]:
    return set(PLACEHOLDER.findall(sql))


def flat(sql: str) -> str:
    """Quoted texts emptied and placeholders as :NAME, so that brackets mean nesting alone."""
    return PLACEHOLDER.sub(r":\1", _LITERAL.sub("''", sql))


def top_level(sql: str) -> str:
    """With every bracket emptied: what is left belongs to the outermost statement."""
    return "".join(letter for depth, letter in _depths(flat(sql)) if depth == 0)


def columns(sql: str) -> list[str]:
    """The names under which the outermost SELECT gives its columns back."""
    return [re.split(r" AS |\.", part)[-1] for part in select_list(sql)]


def select_list(sql: str) -> list[str]:
    """What the outermost SELECT lists, flat."""
    text = flat(sql)
    outside = "".join(letter if depth == 0 else "\0" for depth, letter in _depths(text))
    listed = re.search(r"SELECT (?:DISTINCT |STRAIGHT_JOIN )*(.*?)(?: FROM |$)", outside)
    if listed is None:
        return []
    edges = [listed.start(1) - 1, *(place for place in range(*listed.span(1)) if outside[place] == ","), listed.end(1)]
    return [text[left + 1 : right].strip() for left, right in pairwise(edges)]


def meetings(sql: str) -> Iterator[tuple[str, str]]:
    """(table.column, placeholder) wherever a value is compared with a column or stored in it."""
    text = flat(sql)
    tables: dict[str, set[str]] = {}
    for table, alias in _TABLE.findall(text):
        tables.setdefault(alias or table, set()).add(table)
    for column, values in [*_MEETS.findall(text), *_MEETS_LIST.findall(text)]:
        owner, _, name = column.rpartition(".")
        for table in tables.get(owner, set()) if owner else {next(iter(tables), "")}:
            yield from ((f"{table}.{name}", placeholder) for placeholder in re.findall(r":(\w+)", values))
    yield from _stored(text)


def _stored(text: str) -> Iterator[tuple[str, str]]:
    insert = _INSERT.match(text)
    if insert is None:
        return
    table, names, values, select = insert.groups()
    for column, value in zip(names.split(", "), values.split(", ") if values else select_list(select), strict=True):
        if value.startswith(":"):
            yield f"{table}.{column}", value.removeprefix(":")


def _depths(text: str) -> Iterator[tuple[int, str]]:
    """Each letter with the number of brackets around it; the brackets themselves count as outside."""
    depth = 0
    for letter in text:
        depth -= letter == ")"
        yield depth, letter
        depth += letter == "("
