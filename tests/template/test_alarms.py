"""Alarms: on metrics that exist, with the dimensions they have, to a topic that CloudWatch may publish to."""

import pytest

from tests.template.cloudformation import FUNCTIONS, PARAMETER_SETS, ROOT, TEMPLATE, deployed

OWN = "WorkFlowEngine"
SERVICE = [{"Name": "service", "Value": {"Ref": "AWS::StackName"}}]
EXPECTED = {
    "MonitorSilentAlarm": "MonitorPasses",
    "MonitorFailedAlarm": "ApproximateNumberOfMessagesVisible",
    "PublishFailuresAlarm": "PublishFailures",
    "SuspendedInstancesAlarm": "InstancesSuspended",
    "OldestDueAlarm": "OldestDueSeconds",
    "ServerErrorsAlarm": "5xx",
}


def alarms(parameter_set):
    return {name: resource["Properties"] for name, resource in deployed(parameter_set)["Resources"].items() if resource["Type"] == "AWS::CloudWatch::Alarm"}


@pytest.mark.parametrize("parameter_set", PARAMETER_SETS)
def test_there_is_an_alarm_for_each_way_to_fail(parameter_set):
    silent = {"MonitorSilentAlarm"} if parameter_set.endswith("dev") else set()
    assert {name: alarm["MetricName"] for name, alarm in alarms(parameter_set).items()} == {name: EXPECTED[name] for name in EXPECTED.keys() - silent}


def test_a_monitor_that_says_nothing_raises_an_alarm():
    alarm = alarms("iam-own-prod")["MonitorSilentAlarm"]
    assert (alarm["TreatMissingData"], alarm["ComparisonOperator"], alarm["Threshold"]) == ("breaching", "LessThanThreshold", 1)


def test_the_dimension_of_our_metrics_is_the_one_that_the_functions_write():
    variables = TEMPLATE["Globals"]["Function"]["Environment"]["Variables"]
    ours = [alarm for alarm in alarms("iam-own-prod").values() if alarm["Namespace"] == OWN]
    assert len(ours) == 4
    assert [alarm["Dimensions"] for alarm in ours] == [SERVICE] * 4
    assert variables["POWERTOOLS_SERVICE_NAME"] == SERVICE[0]["Value"]
    assert variables["POWERTOOLS_METRICS_NAMESPACE"] == OWN
    assert not [name for name, function in FUNCTIONS.items() if "POWERTOOLS_SERVICE_NAME" in str(function["Properties"].get("Environment"))]


def test_the_engine_writes_the_metrics_that_alarms_watch():
    package = ROOT / "layers" / "workflow_engine" / "python" / "workflow_engine"
    code = "\n".join(path.read_text() for path in package.rglob("*.py"))
    watched = [alarm["MetricName"] for alarm in alarms("iam-own-prod").values() if alarm["Namespace"] == OWN]
    assert [name for name in watched if f'"{name}"' not in code] == []


@pytest.mark.parametrize("parameter_set", PARAMETER_SETS)
def test_alarms_go_to_the_given_topic_or_to_one_of_the_stack(parameter_set):
    target = PARAMETER_SETS[parameter_set].get("AlarmTopicArn", {"Ref": "Alarms"})
    assert [alarm["AlarmActions"] for alarm in alarms(parameter_set).values()] == [[target]] * len(alarms(parameter_set))


def test_cloudwatch_may_publish_to_the_stacks_own_topic_and_use_its_key():
    resources = deployed("iam-own-dev")["Resources"]
    assert resources["Alarms"]["Properties"]["KmsMasterKeyId"] == {"Fn::GetAtt": ["AlarmKey", "Arn"]}
    for policy, actions in (("AlarmsPolicy", "sns:Publish"), ("AlarmKey", ["kms:GenerateDataKey", "kms:Decrypt"])):
        document = resources[policy]["Properties"].get("PolicyDocument") or resources[policy]["Properties"]["KeyPolicy"]
        (statement,) = (part for part in document["Statement"] if part["Principal"] == {"Service": "cloudwatch.amazonaws.com"})
        assert (statement["Effect"], statement["Action"]) == ("Allow", actions)


def test_only_alarms_of_this_account_and_region_publish_to_the_stacks_own_topic():
    statements = deployed("iam-own-dev")["Resources"]["AlarmsPolicy"]["Properties"]["PolicyDocument"]["Statement"]
    (allowed,) = (statement for statement in statements if statement["Effect"] == "Allow")
    source = "arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:*"
    assert allowed["Condition"] == {"ArnLike": {"aws:SourceArn": {"Fn::Sub": source}}}


def test_an_address_is_subscribed_when_one_is_given():
    assert "AlarmSubscription" in deployed("iam-own-prod-alarms")["Resources"]
    assert "AlarmSubscription" not in deployed("iam-own-dev")["Resources"]
