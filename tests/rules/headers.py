"""Headers of functions and classes that are broken over several lines."""

import io
import tokenize
from collections.abc import Iterator

from tests.rules.source import Module, Violation

_QUIET = {tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING}
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


def wrapped_headers(module: Module) -> list[Violation]:
    """A header begins at `def`, `async def` or `class` and ends at the colon that no bracket holds."""
    found = []
    for line in _logical_lines(module.text):
        if line[0].string in {"def", "class"} or [token.string for token in line[:2]] == ["async", "def"]:
            end = _colon(line)
            if end.start[0] != line[0].start[0]:
                name = next(token.string for token in line if token.type == tokenize.NAME and token.string not in {"async", "def", "class"})
                found.append(Violation(path=module.path, line=line[0].start[0], message=f"the header of '{name}' ends on line {end.start[0]}"))
    return found


def _logical_lines(text: str) -> Iterator[list[tokenize.TokenInfo]]:
    line: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NEWLINE:
            if line:
                yield line
            line = []
        elif token.type not in _QUIET:
            line.append(token)


def _colon(line: list[tokenize.TokenInfo]) -> tokenize.TokenInfo:
    depth = 0
    for token in line:
        if token.type != tokenize.OP:
            continue
        depth += (token.string in _OPEN) - (token.string in _CLOSE)
        if token.string == ":" and depth == 0:
            return token
    return line[-1]
