"""`sam local invoke`: the one file it needs has what every function needs, and every command line that a page shows can be run."""

import json
import os
import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from local.database.url import DatabaseUrl
from local.lambdas import sam_env
from local.lambdas.sam_env import PLACES, main, sam_environment
from local.machine import LocalSetupError
from local.stack import StackSettings, running_stack
from local.stack.cloud import REGION
from tests.docs.pages import page, pages
from tests.template.cloudformation import FUNCTIONS, ROOT, TEMPLATE, sam_program
from workflow_engine.entry.settings import Settings

SHARED = TEMPLATE["Globals"]["Function"]["Environment"]["Variables"]
DECLARED = {name: {*SHARED, *function["Properties"].get("Environment", {}).get("Variables", {})} for name, function in FUNCTIONS.items()}
# An address that is not the usual one, as Docker's bridge is not; a Mac has no second one, and needs none.
ADDRESS = "127.0.0.2" if sys.platform == "linux" else "127.0.0.1"
COMMANDS = [(name, line) for name in pages() for line in re.findall(r"(?:^|`|\s)\S*sam local invoke( \w+Function\b[^`\n]*)", page(name))]
STACK = {
    "WFE_DATABASE_URL": "mysql://me:127.0.0.1@127.0.0.1:3307/wfe",
    "WFE_AWS_ENDPOINT_URL": "http://127.0.0.1:4566",
    "WFE_WORK_TOPIC_ARN": "arn:aws:sns:eu-central-1:123456789012:WorkEvents",
}


def by_sam(script: str, given: object) -> object:
    """Ask SAM's own code, in its own interpreter."""
    command = [str(sam_program().with_name("python")), str(Path(__file__).with_name(script))]
    keys = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("WFE_", "AWS_"))} | keys
    result = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def stack():
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("WFE_DATABASE_URL", raising=False)
        patch.setenv("WFE_BIND", ADDRESS)
        with running_stack(StackSettings(port=0, kind=os.environ.get("DB") or "mariadb", address=ADDRESS)) as running:
            yield running


@pytest.fixture
def written(stack, monkeypatch, tmp_path, capsys):
    """The file as `make samenv` writes it."""
    monkeypatch.setenv("WFE_PORT", stack.url.rpartition(":")[2])
    monkeypatch.setattr(sam_env, "PATH", tmp_path / "sam_env.json")
    monkeypatch.setattr(sam_env, "LOCAL", tmp_path / "any")
    assert main() == 0
    assert capsys.readouterr().out == "sam_env.json\n"
    return tmp_path / "sam_env.json"


def test_the_file_has_a_value_for_every_variable_of_every_function_and_no_other(written):
    content = json.loads(written.read_text())
    assert content.keys() == {"Parameters"}
    assert content["Parameters"].keys() == set().union(*DECLARED.values())
    assert {type(value) for value in content["Parameters"].values()} == {str}
    assert stat.S_IMODE(written.stat().st_mode) == 0o600


def test_every_function_declares_what_the_stack_gives_it(stack):
    given = {name for name in stack.environment if not name.startswith("AWS_")}
    assert {name: given - declared for name, declared in DECLARED.items() if not given <= declared} == {}


def test_sam_hands_every_function_all_that_it_needs_to_work_against_the_stack(stack, written):
    handed = by_sam("sam_environment.py", {"template": "template.yaml", "region": REGION, "env_vars": json.loads(written.read_text())})
    assert handed.keys() == FUNCTIONS.keys()
    for name, variables in handed.items():
        assert variables | {key: value for key, value in stack.environment.items() if key not in PLACES} == variables, name
        settings = Settings.from_environment(variables)
        assert (settings.work_topic_arn, settings.notice_topic_arn) == (stack.topics["work"], stack.topics["notices"]), name
        assert DECLARED[name] <= variables.keys(), name


def test_the_addresses_in_the_file_answer(stack, written):
    values = json.loads(written.read_text())["Parameters"]
    on_this_side = {name: values[name].replace(sam_env.HOST, ADDRESS) for name in PLACES}
    assert on_this_side == {name: stack.environment[name] for name in PLACES}
    assert (
        DatabaseUrl.parse(on_this_side["WFE_DATABASE_URL"]).execute("SELECT COUNT(*) > 10 FROM information_schema.tables WHERE table_schema = DATABASE()") == 1
    )


def test_without_the_file_sam_would_hand_over_names_instead_of_arns():
    handed = by_sam("sam_environment.py", {"template": "template.yaml", "region": REGION, "env_vars": {}})
    assert {variables["WFE_WORK_TOPIC_ARN"] for variables in handed.values()} == {"WorkEvents"}


def test_a_loopback_address_becomes_the_hosts_name_where_docker_has_a_machine_of_its_own():
    values = sam_environment(STACK, platform="darwin")["Parameters"]
    assert [values[name] for name in PLACES] == ["mysql://me:127.0.0.1@host.docker.internal:3307/wfe", "http://host.docker.internal:4566"]


def test_on_linux_a_stack_that_containers_do_not_reach_is_refused_with_what_to_do():
    with pytest.raises(LocalSetupError, match=r"(?s)listens on 127\.0\.0\.1, which containers do not reach.*export WFE_BIND=\$\(docker network.*make serve"):
        sam_environment(STACK, platform="linux")


def test_another_address_stays_as_it_is():
    reached = {name: STACK[name].replace("@127.0.0.1", "@172.17.0.1").replace("//127.0.0.1", "//172.17.0.1") for name in PLACES}
    values = sam_environment(STACK | reached, platform="linux")["Parameters"]
    assert {name: values[name] for name in PLACES} == reached


def test_an_option_of_the_shell_counts(monkeypatch):
    monkeypatch.setenv("WFE_MAX_RETRY_COUNT", "3")
    assert sam_environment(STACK, platform="darwin")["Parameters"]["WFE_MAX_RETRY_COUNT"] == "3"


def test_without_a_stack_nothing_is_written_and_the_message_says_what_to_start(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sam_env, "PATH", tmp_path / "sam_env.json")
    monkeypatch.delenv("WFE_BIND", raising=False)
    monkeypatch.setenv("WFE_PORT", "1")
    assert main() == 1
    assert "no local stack runs on 127.0.0.1:1: start one with `make serve`" in capsys.readouterr().err
    assert not (tmp_path / "sam_env.json").exists()


def test_the_message_shows_the_command_of_the_page():
    command = re.search(r"export WFE_BIND=.*", sam_env.NOT_REACHED.format(address="127.0.0.1"))[0]
    assert f"\n{command}\n" in page("docs/sam_local.md")


def test_every_command_line_of_the_pages_can_be_run():
    read = by_sam("sam_command_lines.py", [shlex.split(line) for _, line in COMMANDS])
    for (name, line), said in zip(COMMANDS, read, strict=True):
        function = said.get("function_logical_id")
        assert function in FUNCTIONS, f"{name}: {line}: {said}"
        assert (ROOT / said["event"]).is_file(), f"{name}: {line}"
        assert said["event"].split("/")[1] == FUNCTIONS[function]["Properties"]["CodeUri"].split("/")[1], f"{name}: {line}"
        assert (said["env_vars"], said["region"]) == (str(sam_env.PATH.relative_to(ROOT)), REGION), f"{name}: {line}"


def test_every_function_has_its_command_line():
    shown = {shlex.split(line)[0] for name, line in COMMANDS if name == "docs/sam_local.md"}
    assert shown == FUNCTIONS.keys()


def test_an_option_that_sam_does_not_know_is_found():
    assert by_sam("sam_command_lines.py", [["TriggerFunction", "--no-such-option"]]) == [{"error": "No such option: --no-such-option"}]
