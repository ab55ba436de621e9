"""The Lambda consumer's own template: what the tools say of it, and what CloudFormation would get."""

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests.examples.place import CONSUMERS, LAMBDA
from tests.support.stack import ROOT
from tests.template.cloudformation import REGION, Loader, as_list, sam_program, statements
from workflow_engine.options import WorkFlowEngineOptions

TEMPLATE = CONSUMERS / "lambda" / "template.yaml"
GIVEN = {"EnvCode": "7", "Consumer": "billing", "ApiId": "abc123", "SigningSecretArn": "arn:aws:secretsmanager:eu-central-1:111122223333:secret:key"}


def written():
    return yaml.load(TEMPLATE.read_text("utf-8"), Loader)  # noqa: S506  # a SafeLoader


@cache
def transformed():
    source = written()
    source["Resources"]["ConsumerFunction"]["Properties"]["CodeUri"] = "s3://bucket/key"
    values = {name: GIVEN.get(name, parameter.get("Default", "given")) for name, parameter in source["Parameters"].items()}
    given = {"template": source, "region": REGION, "parameter_sets": {"one": values}}
    command = [str(sam_program().with_name("python")), str(ROOT / "tests/template/sam_transform.py")]
    result = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["one"]["Resources"]


def of_type(kind):
    (found,) = [resource["Properties"] for resource in transformed().values() if resource["Type"] == kind]
    return found


@pytest.mark.parametrize("command", ["sam validate --template", "sam validate --lint --template", "cfn-lint"])
def test_the_tools_find_nothing_wrong_with_the_template(command, tmp_path):
    programs = {"sam": sam_program(), "cfn-lint": Path(sys.executable).with_name("cfn-lint")}
    name, *options = command.split()
    environment = os.environ | {"SAM_CLI_TELEMETRY": "0", "AWS_DEFAULT_REGION": REGION}
    result = subprocess.run([str(programs[name]), *options, str(TEMPLATE)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_function_gets_its_own_events_and_nobody_elses():
    subscription = of_type("AWS::SNS::Subscription")
    assert (subscription["Protocol"], subscription["TopicArn"]) == ("lambda", {"Ref": "WorkTopicArn"})
    assert subscription["FilterPolicy"] == {"env": [{"Ref": "EnvCode"}], "consumer": [{"Ref": "Consumer"}]}
    assert subscription.get("FilterPolicyScope", "MessageAttributes") == "MessageAttributes"


def test_only_the_topic_may_call_the_function():
    permission = of_type("AWS::Lambda::Permission")
    assert (permission["Principal"], permission["SourceArn"]) == ("sns.amazonaws.com", {"Ref": "WorkTopicArn"})


def test_the_function_may_do_what_its_code_does_and_no_more():
    allowed = {
        (action, json.dumps(resource)) for _, one in statements(transformed()) for action in as_list(one["Action"]) for resource in as_list(one.get("Resource"))
    }
    routes = {re.search(r"\$default/([A-Z]+/v1/[a-z*/]+)", resource)[1] for action, resource in allowed if action == "execute-api:Invoke"}
    called = {f"{method}{path}" for method, path in re.findall(r'call\("([A-Z]+)", f?"(/v1/[a-z/]+)', LAMBDA.read_text("utf-8"))}
    assert routes == {path.removesuffix("/") + "/*" if path.endswith("/") else path for path in called}
    others = {action for action, _ in allowed} - {"execute-api:Invoke", "sts:AssumeRole"}
    assert others == {"dynamodb:GetItem", "dynamodb:PutItem", "secretsmanager:GetSecretValue"}
    assert not [resource for _, resource in allowed if resource == '"*"']


def test_the_code_finds_its_settings_in_the_template():
    variables = written()["Resources"]["ConsumerFunction"]["Properties"]["Environment"]["Variables"]
    read = set(re.findall(r'os\.environ\["(\w+)"\]', LAMBDA.read_text("utf-8")))
    assert read - {"AWS_REGION"} == variables.keys()  # Lambda sets the region by itself


def test_the_table_forgets_by_the_time_that_the_code_writes():
    table = of_type("AWS::DynamoDB::Table")
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}
    assert table["KeySchema"] == [{"AttributeName": "ack_guid", "KeyType": "HASH"}]


def test_the_function_ends_before_the_engine_sends_again():
    assert of_type("AWS::Lambda::Function")["Timeout"] < WorkFlowEngineOptions().ack_pending_resend_seconds


def test_the_handler_is_where_the_template_says():
    function = written()["Resources"]["ConsumerFunction"]["Properties"]
    module, name = function["Handler"].split(".")
    assert TEMPLATE.parent / function["CodeUri"] / f"{module}.py" == LAMBDA
    assert f"\ndef {name}(" in LAMBDA.read_text("utf-8")
