"""The database: created with what the engine expects, or given; and the migration that prepares it."""

import re

import pytest

from tests.template.cloudformation import PARAMETER_SETS, ROOT, TEMPLATE, deployed, references

CREATED = {"AWS::RDS::DBCluster", "AWS::RDS::DBInstance", "AWS::EC2::VPC", "AWS::EC2::Subnet", "AWS::EC2::SecurityGroup", "AWS::EC2::VPCEndpoint"}
DATABASE = TEMPLATE["Resources"]["Database"]
PARAMETERS = TEMPLATE["Resources"]["DatabaseParameters"]["Properties"]["Parameters"]


def types(parameter_set):
    return {resource["Type"] for resource in deployed(parameter_set)["Resources"].values()}


@pytest.mark.parametrize("parameter_set", PARAMETER_SETS)
def test_database_and_network_are_created_or_given_as_a_whole(parameter_set):
    found = CREATED & types(parameter_set)
    assert found == (CREATED if "-own-" in parameter_set else set())


@pytest.mark.parametrize("parameter_set", PARAMETER_SETS)
def test_nothing_refers_to_what_the_parameters_leave_out(parameter_set):
    template = deployed(parameter_set)
    known = template["Resources"].keys() | TEMPLATE["Parameters"].keys() | {name for name in references(template) if name.startswith("AWS::")}
    outputs = {name: output for name, output in template["Outputs"].items() if "Condition" not in output}
    assert set(references(template["Resources"])) | set(references(outputs)) <= known


def test_the_server_is_set_up_as_the_engine_expects():
    assert PARAMETERS["transaction_isolation"] == "READ-COMMITTED"
    assert PARAMETERS["time_zone"] == "UTC"
    assert PARAMETERS["require_secure_transport"] == "ON"
    assert (PARAMETERS["wait_timeout"], PARAMETERS["innodb_lock_wait_timeout"]) == ("60", "5")
    assert "interactive_timeout" not in PARAMETERS
    assert int(PARAMETERS["max_allowed_packet"]) == 64 * 1024 * 1024


def test_the_database_is_encrypted_backed_up_and_kept_as_a_snapshot():
    properties = DATABASE["Properties"]
    assert (DATABASE["DeletionPolicy"], DATABASE["UpdateReplacePolicy"]) == ("Snapshot", "Snapshot")
    assert [properties[name] for name in ("StorageEncrypted", "EnableIAMDatabaseAuthentication", "ManageMasterUserPassword")] == [True, True, True]
    assert "MasterUserPassword" not in properties


@pytest.mark.parametrize(("stage", "protected", "days", "pause"), [("dev", False, 1, 300), ("prod", True, 14, None)])
def test_a_stage_decides_protection_backups_and_pauses(stage, protected, days, pause):
    properties = deployed(f"iam-own-{stage}")["Resources"]["Database"]["Properties"]
    assert (properties["DeletionProtection"], properties["BackupRetentionPeriod"]) == (protected, days)
    assert properties["ServerlessV2ScalingConfiguration"].get("SecondsUntilAutoPause") == pause


def test_no_database_instance_is_public():
    instances = [resource["Properties"] for resource in TEMPLATE["Resources"].values() if resource["Type"] == "AWS::RDS::DBInstance"]
    assert [instance["PubliclyAccessible"] for instance in instances] == [False, False]


def test_no_route_leaves_the_network():
    assert not types("iam-own-prod") & {"AWS::EC2::InternetGateway", "AWS::EC2::NatGateway", "AWS::EC2::Route"}


def test_the_functions_reach_sns_secrets_and_the_answer_bucket_by_endpoints():
    endpoints = [resource["Properties"] for resource in deployed("iam-own-prod")["Resources"].values() if resource["Type"] == "AWS::EC2::VPCEndpoint"]
    services = {endpoint["ServiceName"]["Fn::Sub"].rsplit(".", 1)[1]: endpoint for endpoint in endpoints}
    assert {name: endpoint["VpcEndpointType"] for name, endpoint in services.items()} == {"sns": "Interface", "secretsmanager": "Interface", "s3": "Gateway"}
    assert all(services[name]["PrivateDnsEnabled"] for name in ("sns", "secretsmanager"))


def test_nobody_of_another_account_uses_the_interface_endpoints():
    resources = deployed("iam-own-prod")["Resources"]
    for name in ("SnsEndpoint", "SecretsManagerEndpoint"):
        (statement,) = resources[name]["Properties"]["PolicyDocument"]["Statement"]
        assert statement["Condition"] == {"StringEquals": {"aws:PrincipalAccount": {"Ref": "AWS::AccountId"}}}, name


def test_only_the_functions_reach_database_and_endpoints():
    resources = deployed("iam-own-prod")["Resources"]
    (endpoint,) = resources["EndpointSecurityGroup"]["Properties"]["SecurityGroupIngress"]
    for rule, port in ((resources["DatabaseIngress"]["Properties"], 3306), (endpoint, 443)):
        assert (rule["IpProtocol"], rule["FromPort"], rule["ToPort"]) == ("tcp", port, port)
        assert rule["SourceSecurityGroupId"] == {"Ref": "FunctionSecurityGroup"}
    opened = resources["FunctionSecurityGroup"]["Properties"]["SecurityGroupEgress"]
    assert sorted((rule["FromPort"], rule["ToPort"]) for rule in opened) == [(443, 443), (3306, 3306)]


def test_the_schema_version_is_the_newest_migration():
    numbers = [int(re.match(r"\d+", path.name)[0]) for path in (ROOT / "sql").glob("*.sql")]
    assert TEMPLATE["Resources"]["SchemaMigration"]["Properties"]["SchemaVersion"] == max(numbers)


def test_the_migration_waits_for_what_it_needs_and_outlives_nothing_of_it():
    migration = deployed("iam-own-prod")["Resources"]["SchemaMigration"]["Properties"]
    needed = {"MigrateFunction", "Database", "DatabaseInstance", "DatabaseIngress", "SecretsManagerEndpoint", "S3Endpoint", "SubnetARoutes", "SubnetBRoutes"}
    assert set(references(migration)) == needed
    assert migration["ServiceTimeout"] == 300


def test_the_migration_runs_as_the_master_and_makes_the_user_of_the_functions():
    variables = deployed("iam-own-dev")["Resources"]["MigrateFunction"]["Properties"]["Environment"]["Variables"]
    assert variables["WFE_DB_MASTER_SECRET_ARN"] == {"Fn::GetAtt": ["Database", "MasterUserSecret.SecretArn"]}
    assert variables["WFE_DB_RUNTIME_USER"] == variables["WFE_DB_USER"]
