"""Strategies for property tests: any JSON, and a good document with one place spoiled."""

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

# Surrogates are legal in JSON text ("\ud800"), so they are among the characters.
_texts = st.text(st.characters(exclude_categories=()), max_size=12)
_leaves = st.none() | st.booleans() | st.integers() | st.floats() | _texts | st.sampled_from(["A", "Draft", "1", "P1D", "", " "])
any_json = st.recursive(_leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_texts, inner, max_size=4), max_leaves=12)


def _places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [path]
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        found += _places(child, (*path, key))
    return found


def _replace(document: Any, path: tuple[str | int, ...], value: Any, *, is_removed: bool) -> Any:
    if not path:
        return value
    copy = deepcopy(document)
    parent = copy
    for token in path[:-1]:
        parent = parent[token]
    if is_removed:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return copy


def damaged(document: Any) -> st.SearchStrategy[Any]:
    """The document with one value replaced by any JSON, or taken away."""
    return st.builds(
        lambda path, value, is_removed: _replace(document, path, value, is_removed=is_removed), st.sampled_from(_places(document)), any_json, st.booleans()
    )
