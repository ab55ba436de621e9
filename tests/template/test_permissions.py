"""Who may do what: least privilege for each function, topics that only the engine publishes to, policies for callers."""

from fnmatch import fnmatch

import pytest
import yaml

from tests.template.cloudformation import DEFAULT_ROUTE, PARAMETER_SETS, TEMPLATE, TEXT, as_list, deployed, references, routes, statements

LOGIN = "rds-db:connect"
SECRET = "secretsmanager:GetSecretValue"
PUBLISH = {LOGIN, "sns:Publish", SECRET}
ACTIONS = {
    "TriggerFunction": PUBLISH,
    "AckFunction": PUBLISH,
    "AdminFunction": PUBLISH,
    "MonitorFunction": PUBLISH | {"sqs:SendMessage"},
    "ImportFunction": {LOGIN},
    "QueryFunction": {LOGIN},
    "RuntimeFunction": {LOGIN},
    "HeartbeatFunction": {LOGIN, SECRET, "sns:Subscribe", "sns:Unsubscribe", "sns:GetSubscriptionAttributes", "sns:SetSubscriptionAttributes"},
    "MigrateFunction": {SECRET},
}
AWS_MANAGED = {"AWSLambdaBasicExecutionRole", "AWSLambdaVPCAccessExecutionRole", "AWSXrayWriteOnlyAccess"}
CALLERS = {
    "ApplicationPolicy": {"trigger", "runtime"},
    "ImporterPolicy": {"import"},
    "ConsumerPolicy": {"ack", "register", "heartbeat"},
    "ReaderPolicy": {"read"},
    "OperatorPolicy": {"admin"},
}


def allowed(resources, function):
    """Return the statements of the function's role: its own and those of our managed policies."""
    role = resources[f"{function}Role"]["Properties"]
    shared = [arn["Ref"] for arn in role["ManagedPolicyArns"] if "Ref" in arn]
    own = [statement for policy in role.get("Policies", []) for statement in policy["PolicyDocument"]["Statement"]]
    return own + [statement for name in shared for statement in resources[name]["Properties"]["PolicyDocument"]["Statement"]]


@pytest.mark.parametrize("function", ACTIONS)
def test_a_function_may_do_what_it_does_and_no_more(function):
    granted = allowed(deployed("iam-own-dev")["Resources"], function)
    assert {action for statement in granted for action in as_list(statement["Action"])} == ACTIONS[function]


@pytest.mark.parametrize("function", ACTIONS)
def test_with_a_password_nobody_asks_iam_for_a_login(function):
    granted = allowed(deployed("iam-existing-secret-dev")["Resources"], function)
    assert {action for statement in granted for action in as_list(statement["Action"])} == ACTIONS[function] - {LOGIN} | {SECRET}


def test_a_key_of_ones_own_may_be_used_by_those_who_publish():
    resources = deployed("iam-own-prod")["Resources"]
    with_key = {function for function in ACTIONS if any("kms:GenerateDataKey" in as_list(statement["Action"]) for statement in allowed(resources, function))}
    assert with_key == {function for function, actions in ACTIONS.items() if "sns:Publish" in actions}


@pytest.mark.parametrize("parameter_set", PARAMETER_SETS)
def test_of_awss_own_policies_a_function_has_only_those_for_logs_traces_and_the_network(parameter_set):
    for name, resource in deployed(parameter_set)["Resources"].items():
        if resource["Type"] == "AWS::IAM::Role":
            given = {str(next(iter(arn.values()))) for arn in map(_as_reference, resource["Properties"].get("ManagedPolicyArns", [])) if "Ref" not in arn}
            assert {arn.rsplit("/", 1)[-1] for arn in given} <= AWS_MANAGED, name


def _as_reference(arn):
    return arn if isinstance(arn, dict) else {"Arn": arn}


@pytest.mark.parametrize("database", ["own", "existing-iam"])
def test_the_login_is_for_one_user_of_one_database(database):
    (statement,) = (part for _, part in statements(deployed(f"iam-{database}-dev")["Resources"]) if part["Action"] == LOGIN)
    assert "*" not in str(statement["Resource"])
    assert "workflow_engine" in str(statement["Resource"]) or "DatabaseUser" in str(statement["Resource"])


def test_every_wildcard_has_its_reason_beside_it():
    without = []
    for node in _mappings(yaml.compose(TEXT, Loader=yaml.SafeLoader)):
        keys = {key.value for key, _ in node.value}
        if {"Effect", "Action"} <= keys or "SourceArn" in keys:
            wild = [key.value for key, value in node.value if key.value in {"Action", "Resource", "Principal", "SourceArn", "NotAction"} and _has_star(value)]
            lines = TEXT.splitlines()[node.start_mark.line - 1 : node.end_mark.line]
            if wild and not any("# Wildcard: " in line for line in lines):
                without.append((node.start_mark.line + 1, wild))
    assert without == []


def _mappings(node):
    if isinstance(node, yaml.MappingNode):
        yield node
        children = [value for _, value in node.value]
    else:
        children = node.value if isinstance(node, yaml.SequenceNode) else []
    for child in children:
        yield from _mappings(child)


def _has_star(node):
    if isinstance(node, yaml.ScalarNode):
        return "*" in node.value
    return any(_has_star(child) for child in ([value for _, value in node.value] if isinstance(node, yaml.MappingNode) else node.value))


@pytest.mark.parametrize("parameter_set", PARAMETER_SETS)
@pytest.mark.parametrize("topic", ["WorkEvents", "Notices"])
def test_only_the_engine_publishes_and_only_over_tls(parameter_set, topic):
    resources = deployed(parameter_set)["Resources"]
    policy = resources[f"{topic}Policy"]["Properties"]
    assert policy["Topics"] == [{"Ref": topic}]
    denied = {statement["Sid"]: statement for statement in policy["PolicyDocument"]["Statement"]}
    assert {(statement["Effect"], statement["Principal"], statement["Resource"]["Ref"]) for statement in denied.values()} == {("Deny", "*", topic)}
    publishers = {name for name, actions in ACTIONS.items() if "sns:Publish" in actions}
    assert set(references(denied["OnlyTheEnginePublishes"]["Condition"]["ArnNotEquals"])) == {f"{name}Role" for name in publishers}
    assert denied["OnlyOverTls"]["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert denied["OnlyToEncryptedEndpoints"]["Condition"] == {"StringEquals": {"sns:Protocol": "http"}}


@pytest.mark.parametrize("parameter_set", PARAMETER_SETS)
def test_topics_and_queues_are_encrypted(parameter_set):
    resources = deployed(parameter_set)["Resources"]
    key = PARAMETER_SETS[parameter_set].get("TopicKeyArn", "alias/aws/sns")
    assert [resources[topic]["Properties"]["KmsMasterKeyId"] for topic in ("WorkEvents", "Notices")] == [key, key]
    assert resources["MonitorFailures"]["Properties"]["SqsManagedSseEnabled"] is True


def test_the_signing_secret_is_long_random_text_under_current():
    generated = TEMPLATE["Resources"]["SigningSecret"]["Properties"]["GenerateSecretString"]
    assert (generated["SecretStringTemplate"], generated["GenerateStringKey"], generated["ExcludePunctuation"]) == ("{}", "current", True)
    assert generated["PasswordLength"] >= 32


@pytest.mark.parametrize("policy", CALLERS)
def test_a_callers_policy_opens_exactly_the_routes_of_its_scopes(policy):
    (statement,) = TEMPLATE["Resources"][policy]["Properties"]["PolicyDocument"]["Statement"]
    assert statement["Action"] == "execute-api:Invoke"
    patterns = [resource["Fn::Sub"].split("${HttpApi}/")[1] for resource in statement["Resource"]]
    operations = routes(deployed("jwt-own-dev")["Resources"]["HttpApi"]["Properties"]["Body"])
    opened = {route for route in operations if any(fnmatch(_arn_path(*route), pattern) for pattern in patterns)}
    expected = {route for route, operation in operations.items() if {scope.removeprefix("workflow/") for scope in _scopes(operation)} & CALLERS[policy]}
    assert opened == expected | {DEFAULT_ROUTE}


def _arn_path(method, path):
    return "$default/$default" if (method, path) == DEFAULT_ROUTE else f"$default/{method.upper()}{path}"


def _scopes(operation):
    return operation["security"][0]["jwt"] if "security" in operation else []
