"""The pages are complete: what the code has, they name; what they name, exists."""

import ast
import json
import re
from dataclasses import fields

import pytest

from tests.docs.pages import DOCS, ROOT, anchors, blocks, files, links, page, pages, prose, rows, section
from workflow_engine.entry.counting import _ACK_METRICS, _MONITOR_METRICS
from workflow_engine.entry.settings import PREFIX, Settings
from workflow_engine.models.enums import AckOutcome, AckStatus, InstanceStatus, NoticeCode, RefusalReason
from workflow_engine.options import WorkFlowEngineOptions

PACKAGE = ROOT / "layers/workflow_engine/python/workflow_engine"
OPENAPI = json.loads(page("docs/openapi.json"))
TEMPLATE = page("template.yaml")
ROUTES = [(method.upper(), path, operation["tags"][0]) for path, methods in OPENAPI["paths"].items() for method, operation in methods.items()]
ALARMS = re.findall(r"^  (\w+):\n    Type: AWS::CloudWatch::Alarm$", TEMPLATE, re.MULTILINE)
TARGETS = re.findall(r"^([a-z-]+):.*## ", page("Makefile"), re.MULTILINE)
VARIABLES = sorted({*(PREFIX + name.upper() for name in Settings.model_fields), *re.findall(r"^\s+((?:WFE|POWERTOOLS)_\w+):", TEMPLATE, re.MULTILINE)})
_LOCAL_SOURCE = "".join(file.read_text("utf-8") for file in sorted((ROOT / "local").rglob("*.py")))
LOCAL_VARIABLES = sorted({*re.findall(r'["\'](WFE_[A-Z_]+)["\']', _LOCAL_SOURCE), "DB", "DEMO", "NO_COLOR", "PYENV_ROOT"})
LOCAL_ROUTES = sorted(set(re.findall(r'["\'](/_local(?:/\w+)?)["\']', _LOCAL_SOURCE)))
METRICS = sorted(
    {
        *_ACK_METRICS.values(),
        *_MONITOR_METRICS,
        *(
            name
            for file in (PACKAGE / "entry").glob("*.py")
            for call in re.findall(r"(?:count|measure_seconds)\((.*)\)", file.read_text("utf-8"))
            for name in re.findall(r'"([A-Z]\w+)"', call)
        ),
    }
)
TABLES = sorted(re.findall(r"^CREATE TABLE (?:IF NOT EXISTS )?(\w+)", "".join(file.read_text("utf-8") for file in (ROOT / "sql").glob("*.sql")), re.MULTILINE))
WORDS = sorted({*(reason.value for reason in RefusalReason), *(outcome.value for outcome in AckOutcome), *(status.label for status in InstanceStatus)})
_STATUS_BY_PREFIX = {"INVALID_": 400, "NOT_OWNER": 403, "METHOD_NOT_ALLOWED": 405, "TOO_LARGE": 413, "INTERNAL": 500, "UNAVAILABLE": 503}
# Put together, or this file would name them itself.
_HOSTS = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "npm" + "js.",
    "registry" + ".yarnpkg",
    "deb." + "debian.org",
    "archive.ubuntu" + ".com",
    "gh" + "cr.io",
    "jfrog" + ".io",
]
_MACHINE_PATH = re.compile(r"(?<![\w.$}/-])/(?:home|Users|root|work|tmp)/\w|[A-Z]:\\Users")
_TEXT = frozenset({".md", ".py", ".json", ".yaml", ".yml", ".toml", ".sql", ".txt", ".sh", ".mk", ".cfg", "", ".html", ".svg"})


@pytest.mark.parametrize("code", NoticeCode)
def test_every_notice_has_its_section_with_when_data_and_what_to_do(code):
    text = section("docs/notices.md", f"`{code.value}`")
    assert [word for word in ("**When:**", "**Do:**") if word not in text] == []
    assert "**data:**" in text or "**Names, data:**" in text


@pytest.mark.parametrize("code", NoticeCode)
def test_every_notice_is_listed_with_its_kind(code):
    assert [row[1] for row in rows("docs/notices.md", code.value)] == [code.kind.value]


@pytest.mark.parametrize("name", [*(code.value for code in NoticeCode), *ALARMS])
def test_every_notice_and_alarm_has_its_runbook_entry_with_a_command(name):
    text = section("docs/runbook.md", f"`{name}`")
    assert [word for word in ("**Symptom:**", "**Look:**", "**Do:**", "```\n") if word not in text] == []


def test_the_runbook_has_no_entry_for_what_does_not_exist():
    assert set(re.findall(r"^### `(.+)`$", page("docs/runbook.md"), re.MULTILINE)) == {*(code.value for code in NoticeCode), *ALARMS}


def test_every_field_of_a_notices_data_is_explained():
    assert sorted(name for name in notice_data_fields() if f"`{name}" not in prose("docs/notices.md")) == []


@pytest.mark.parametrize("code", OPENAPI["components"]["schemas"]["Problem"]["properties"]["code"]["enum"])
def test_every_error_code_is_listed_with_its_status(code):
    assert [row[1] for row in rows("docs/api.md", code)] == [str(status_of(code))]


def test_every_code_of_a_single_error_is_named():
    codes = {
        code
        for file in PACKAGE.rglob("*.py")
        for code in re.findall(r'ErrorItem\([^)]*code="([A-Z_]+)"|_refusal\("([A-Z_]+)"', file.read_text("utf-8"))
        for code in code
        if code
    }
    assert codes > {"INVALID_JSON", "INVALID_CURSOR"}
    assert sorted(code for code in codes if f"`{code}`" not in page("docs/api.md")) == []


@pytest.mark.parametrize(("method", "path", "function"), ROUTES)
def test_every_route_is_listed_with_its_function(method, path, function):
    assert [row[1] for row in rows("docs/api.md", f"{method} {path}")] == [function]


def test_no_route_is_listed_that_does_not_exist():
    listed = set(re.findall(r"^\| `((?:GET|PUT|POST|DELETE) /v1/[^`]+)`", page("docs/api.md"), re.MULTILINE))
    assert listed == {f"{method} {path}" for method, path, _ in ROUTES}


@pytest.mark.parametrize("option", [field.name for field in fields(WorkFlowEngineOptions)])
def test_every_option_is_named_with_its_variable_and_its_default(option):
    text = section("docs/operations.md", "Options")
    assert f"`{option}`" in text
    cells = next(re.split(r"\s*\|\s*", line) for line in text.splitlines() if f"`{PREFIX}{option.upper()}`" in line)
    default = Settings.model_fields[option].default
    assert cells[3].strip("`") == ("empty: any" if default == () else f"{default:g}" if isinstance(default, (int, float)) and default < 1e5 else str(default))


@pytest.mark.parametrize("variable", VARIABLES)
def test_every_environment_variable_is_named(variable):
    assert f"`{variable}`" in section("docs/operations.md", "Options")


@pytest.mark.parametrize("variable", LOCAL_VARIABLES)
def test_every_variable_of_the_local_stack_is_named(variable):
    assert f"`{variable}`" in page("docs/local.md") or f"`{variable}`" in section("docs/operations.md", "Options")


@pytest.mark.parametrize("variable", re.findall(r"^# (\w+)=", page("Makefile"), re.MULTILINE))
def test_every_variable_of_the_makefile_is_explained(variable):
    assert f"`{variable}=" in page("CONTRIBUTING.md")


@pytest.mark.parametrize("variable", re.findall(r"^(\w+) \?=", page("Makefile"), re.MULTILINE))
def test_every_setting_of_the_makefile_is_named(variable):
    assert re.search(rf"`(?:[^`]* )?{variable}\b", page("CONTRIBUTING.md"))


def test_what_is_asked_of_the_local_page_is_found_in_the_code():
    assert len(LOCAL_ROUTES) == 4
    assert {"WFE_PORT", "WFE_KEEP", "WFE_BIND", "WFE_DATABASE_URL", "WFE_AWS_ENDPOINT_URL"} <= set(LOCAL_VARIABLES)


@pytest.mark.parametrize("path", LOCAL_ROUTES)
def test_every_local_route_is_explained(path):
    assert re.search(rf"`[A-Z]+ {path}[?`]", page("docs/local.md"))


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_is_named(metric):
    assert f"`{metric}`" in section("docs/operations.md", "Metrics")


@pytest.mark.parametrize("alarm", ALARMS)
def test_every_alarm_has_its_row(alarm):
    assert len(rows("docs/operations.md", alarm)) == 1


@pytest.mark.parametrize("target", TARGETS)
def test_every_make_target_is_explained(target):
    assert len(rows("CONTRIBUTING.md", f"make {target}")) == 1


def test_no_page_names_a_make_target_that_does_not_exist():
    named = {
        (name, target)
        for name in pages()
        for target in re.findall(r"`make ([a-z]+)[^`]*`|^make ([a-z]+)", page(name), re.MULTILINE)
        for target in target
        if target
    }
    assert sorted(pair for pair in named if pair[1] not in TARGETS) == []


@pytest.mark.parametrize("folder", sorted(path.name for path in (ROOT / "events").iterdir()))
def test_every_folder_of_events_is_listed(folder):
    assert len(rows("docs/api.md", f"events/{folder}")) == 1


@pytest.mark.parametrize("word", WORDS)
def test_every_reason_outcome_and_status_is_explained(word):
    assert re.search(rf"[`*]{word}[`*]", page("docs/concepts.md"))


@pytest.mark.parametrize("status", AckStatus)
def test_every_stored_status_is_explained(status):
    assert f"| {status.value} {status.name.lower()} | {status.label} |" in page("docs/schema.md")


@pytest.mark.parametrize("table", TABLES)
def test_every_table_is_explained(table):
    assert rows("docs/schema.md", table)


@pytest.mark.parametrize("decision", sorted(file.name for file in (DOCS / "adr").glob("0*.md")))
def test_every_decision_is_listed_and_has_its_three_parts(decision):
    assert f"]({decision})" in page("docs/adr/README.md")
    assert re.findall(r"^## (\w+)", page(f"docs/adr/{decision}"), re.MULTILINE) == ["Context", "Decision", "Consequence"]


@pytest.mark.parametrize("name", pages())
def test_no_relative_link_is_broken(name):
    assert [link for link in links(name) if not leads_somewhere(name, link)] == []


@pytest.mark.parametrize("name", pages())
def test_every_block_of_json_and_python_can_be_read(name):
    readers = {"json": json.loads, "python": ast.parse}
    for block in blocks(name):
        readers.get(block.language, str)(block.text)


def test_every_page_is_reached_from_the_readme():
    reached, waiting = set(), ["README.md"]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += [target for link in links(name) if (target := target_of(name, link)).endswith(".md")]
    assert sorted(set(pages()) - reached) == []


def test_nothing_names_a_path_of_a_machine_or_the_host_of_a_package_registry():
    assert [found for file in files() if file.suffix in _TEXT for found in machine_names(file.read_text("utf-8", "replace"), str(file.relative_to(ROOT)))] == []


@pytest.mark.parametrize(
    ("text", "is_bad"), [("cd /ho" + "me/me/x", True), ("a/work/b and /v1/work", False), ("see " + _HOSTS[0], True), ("/usr/share/x", False)]
)
def test_a_path_of_a_machine_or_a_registry_is_found(text, is_bad):
    assert bool(machine_names(text, "planted")) is is_bad


def machine_names(text: str, where: str) -> list[str]:
    lines = enumerate(text.splitlines(), 1)
    return [f"{where}:{number}" for number, line in lines if _MACHINE_PATH.search(line) or any(host in line.lower() for host in _HOSTS)]


def status_of(code: str) -> int:
    if code.endswith("_NOT_FOUND"):
        return 404
    return next((status for prefix, status in _STATUS_BY_PREFIX.items() if code.startswith(prefix)), 409)


def target_of(name: str, link: str) -> str:
    path = link.partition("#")[0]
    target = ((ROOT / name).parent / path).resolve() if path else ROOT / name
    return str(target.relative_to(ROOT)) if target.is_relative_to(ROOT) else ""


def leads_somewhere(name: str, link: str) -> bool:
    if re.match(r"[a-z]+:", link):
        return link.startswith("https://")
    target, anchor = target_of(name, link), link.partition("#")[2]
    return bool(target) and (ROOT / target).exists() and (not anchor or anchor in anchors(target))


def notice_data_fields() -> set[str]:
    """The keys of every dictionary that becomes a notice's data: passed as `data`, or to a helper that makes notices."""
    found: set[str] = set()
    for file in (PACKAGE / "engine").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            found |= _keys_of_data(node)
    return found


def _keys_of_data(node: ast.AST) -> set[str]:
    keys = [key for value in _data_of(node) for part in ast.walk(value) if isinstance(part, ast.Dict) for key in part.keys]
    return {str(key.value) for key in keys if isinstance(key, ast.Constant)}


def _data_of(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "LifeCycleNotice":
        return [keyword.value for keyword in node.keywords if keyword.arg == "data"]
    if isinstance(node, ast.Call) and ast.unparse(node.func) in {"notice_of", "_notice"}:
        return list(node.args)
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    is_data = any(ast.unparse(target) == "data" for target in targets)
    return [node.value] if is_data and isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None else []
