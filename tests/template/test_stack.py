"""The stack as a whole: may exist twice, exports what others need, and is described as it is."""

import re
import tomllib

import pytest

from tests.template.cloudformation import FUNCTIONS, PARAMETER_SETS, ROOT, TEMPLATE, deployed, parameters_of

NAMES = re.compile(
    r"^((Function|Layer|Topic|Queue|Role|Policy|ManagedPolicy|LogGroup|Alarm|Group|Schedule|Secret|Stack|Rule|Bucket|Table|Api|Key)Name|Name"
    r"|DBClusterIdentifier|DBInstanceIdentifier|DBClusterParameterGroupName|DBSubnetGroupName|AliasName)$"
)
SAMCONFIG = tomllib.loads((ROOT / "samconfig.toml").read_text())
# Attributes that refer to another resource of the stack; SAM names a permission's function and a layer by reference too.
REFERENCES = {"FunctionName", "DBClusterIdentifier", "DBClusterParameterGroupName", "DBSubnetGroupName"}


@pytest.mark.parametrize("parameter_set", PARAMETER_SETS)
def test_no_resource_has_a_name_of_its_own_so_that_two_stacks_fit_into_one_region(parameter_set):
    named = []
    for logical_id, resource in deployed(parameter_set)["Resources"].items():
        for attribute, value in resource["Properties"].items():
            if NAMES.match(attribute) and not (attribute in REFERENCES and isinstance(value, dict)):
                named.append((logical_id, attribute, value))
    # Layer versions are numbered, and the API's title is no key: both may be equal in two stacks.
    assert [entry for entry in named if entry[1] != "LayerName"] == []


def test_every_output_is_exported_under_the_stacks_name():
    for name, output in TEMPLATE["Outputs"].items():
        assert output["Export"]["Name"] == {"Fn::Sub": f"${{AWS::StackName}}-{name}"}


def test_the_outputs_name_api_topics_and_the_policies_for_callers():
    wanted = {"ApiUrl", "WorkTopicArn", "NoticeTopicArn", "AlarmTopicArn"}
    wanted |= {f"{who}PolicyArn" for who in ("Application", "Importer", "Consumer", "Reader", "Operator")}
    assert wanted <= TEMPLATE["Outputs"].keys()


def test_every_parameter_has_a_default_and_a_description():
    assert [name for name, parameter in TEMPLATE["Parameters"].items() if {"Default", "Description"} - parameter.keys()] == []


def test_every_parameter_is_used():
    body = {section: value for section, value in TEMPLATE.items() if section != "Parameters"}
    assert [name for name in TEMPLATE["Parameters"] if not re.search(rf"\b{name}\b", str(body))] == []


@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_samconfig_has_a_parameter_set_for_each_stage(stage):
    given = dict(entry.split("=", 1) for entry in SAMCONFIG[stage]["deploy"]["parameters"]["parameter_overrides"])
    assert given.keys() <= TEMPLATE["Parameters"].keys()
    values = parameters_of(given)
    assert (values["Stage"], values["MonitorState"]) == (stage, {"dev": "DISABLED", "prod": "ENABLED"}[stage])
    assert (float(values["DatabaseMinCapacity"]) == 0) == (stage == "dev")
    assert SAMCONFIG[stage]["deploy"]["parameters"]["capabilities"] == "CAPABILITY_IAM"


@pytest.mark.parametrize("environment", ["default", "dev", "prod"])
def test_samconfig_builds_in_the_tree_and_from_scratch(environment):
    assert SAMCONFIG[environment]["build"]["parameters"] == {"build_in_source": True, "parallel": True}


def test_the_deployment_guide_lists_every_parameter_with_its_default():
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", (ROOT / "docs" / "deploy.md").read_text(), re.MULTILINE)
    defaults = {name: default.strip("`") for name, default in rows if name in TEMPLATE["Parameters"]}
    assert defaults == {name: str(parameter["Default"]) or "empty" for name, parameter in TEMPLATE["Parameters"].items()}


def test_the_deployment_guide_names_every_output_and_function():
    guide = (ROOT / "docs" / "deploy.md").read_text()
    names = [*TEMPLATE["Outputs"], *(name.removesuffix("Function").lower() for name in FUNCTIONS)]
    assert [name for name in names if f"`{name}`" not in guide] == []
