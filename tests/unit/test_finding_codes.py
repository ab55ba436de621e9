"""The import page lists every finding there is, and its examples are good."""

import ast
import json
import re
from pathlib import Path

from tests.support.reading import read_definition, read_policy

ROOT = Path(__file__).parents[2]
RULES = ROOT / "layers/workflow_engine/python/workflow_engine/engine/rules"
CODE = re.compile(r"[A-Z]+(_[A-Z]+)+")


def codes_in_source():
    """Constants that look like a code inside the calls that report findings, and the pairs chosen just before them."""
    found = set()
    for path in RULES.glob("*.py"):
        source = path.read_text()
        if "indings" not in source:
            continue
        found |= {
            node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value)
        }
    return found - {"VERSION_CONFLICT"}


def test_every_finding_has_a_line_in_the_documentation_and_no_line_is_left_over():
    page = (ROOT / "docs/import.md").read_text().partition("## Findings")[2]
    listed = re.findall(r"^\| `([A-Z_]+)` \|", page, re.MULTILINE)
    assert sorted(listed) == sorted(codes_in_source())


def test_the_examples_of_the_documentation_have_nothing_to_complain_of():
    definition, policy = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", (ROOT / "docs/import.md").read_text(), re.DOTALL))
    assert read_definition(definition)[1] == []
    assert read_policy(policy, definition)[1] == []
