"""The API: which routes there are, who answers them, and that nobody gets in without auth."""

import json

import pytest

from tests.template.cloudformation import DEFAULT_ROUTE, FUNCTIONS, PARAMETER_SETS, ROOT, TEMPLATE, deployed, references, routes

OPEN_ROUTE = ("get", "/v1/openapi.json")
BODY = TEMPLATE["Resources"]["HttpApi"]["Properties"]["DefinitionBody"]
SCOPES = {"trigger", "import", "ack", "register", "heartbeat", "read", "runtime", "admin"}


def deployed_body(parameter_set):
    return deployed(parameter_set)["Resources"]["HttpApi"]["Properties"]["Body"]


def function_of(operation):
    (name,) = set(references(operation["x-amazon-apigateway-integration"])) & FUNCTIONS.keys()
    return name


@pytest.mark.parametrize("parameter_set", PARAMETER_SETS)
def test_every_route_but_the_api_description_asks_for_auth(parameter_set):
    body = deployed_body(parameter_set)
    (scheme,) = body["components"]["securitySchemes"]
    unguarded = [route for route, operation in routes(body).items() if [list(entry) for entry in operation.get("security", [])] != [[scheme]]]
    assert unguarded == [OPEN_ROUTE]
    assert "security" not in routes(body)[OPEN_ROUTE]


@pytest.mark.parametrize("parameter_set", [name for name in PARAMETER_SETS if name.startswith("iam")])
def test_by_default_requests_are_signed_with_iam(parameter_set):
    body = deployed_body(parameter_set)
    expected = {"type": "apiKey", "name": "Authorization", "in": "header", "x-amazon-apigateway-authtype": "awsSigv4"}
    assert body["components"]["securitySchemes"] == {"iam": expected}


@pytest.mark.parametrize("parameter_set", [name for name in PARAMETER_SETS if name.startswith("jwt")])
def test_with_jwt_issuer_audience_and_a_scope_for_every_route_are_checked(parameter_set):
    body = deployed_body(parameter_set)
    authorizer = body["components"]["securitySchemes"]["jwt"]["x-amazon-apigateway-authorizer"]
    assert authorizer["jwtConfiguration"] == {"issuer": "https://issuer.example", "audience": ["one", "two"]}
    assert (authorizer["type"], authorizer["identitySource"]) == ("jwt", "$request.header.Authorization")
    scopes = {route: operation["security"][0]["jwt"] for route, operation in routes(body).items() if route != OPEN_ROUTE}
    assert scopes.pop(DEFAULT_ROUTE) == []
    assert {scope for given in scopes.values() for scope in given} == {f"workflow/{name}" for name in SCOPES}
    assert [route for route, given in scopes.items() if len(given) != 1] == []


def test_registering_a_consumer_has_a_scope_of_its_own():
    scopes = {route: operation["security"][0]["jwt"] for route, operation in routes(deployed_body("jwt-own-dev")).items() if operation.get("security")}
    assert [route for route, given in scopes.items() if given == ["workflow/register"]] == [("post", "/v1/consumers"), ("delete", "/v1/consumers/{consumer}")]


def test_the_routes_are_those_of_the_api_description():
    described = json.loads((ROOT / "docs" / "openapi.json").read_text())
    assert set(routes(BODY)) - {DEFAULT_ROUTE} == set(routes(described))


def test_what_no_route_takes_goes_to_query():
    assert routes(BODY)[DEFAULT_ROUTE]["isDefaultRoute"] is True
    assert function_of(routes(BODY)[DEFAULT_ROUTE]) == "QueryFunction"


def test_every_path_parameter_is_declared():
    for (_, path), operation in routes(BODY).items():
        declared = [parameter["name"] for parameter in operation.get("parameters", []) if parameter["in"] == "path"]
        assert declared == [part[1:-1] for part in path.split("/") if part.startswith("{")], path


def test_routes_are_served_by_lambda_with_payload_2_0():
    for route, operation in routes(BODY).items():
        integration = operation["x-amazon-apigateway-integration"]
        assert (integration["type"], integration["httpMethod"], integration["payloadFormatVersion"]) == ("aws_proxy", "POST", "2.0"), route


def test_the_api_may_invoke_exactly_the_functions_it_has_routes_to():
    permissions = {name: resource["Properties"] for name, resource in TEMPLATE["Resources"].items() if resource["Type"] == "AWS::Lambda::Permission"}
    assert {permission["FunctionName"]["Ref"] for permission in permissions.values()} == {function_of(operation) for operation in routes(BODY).values()}
    assert all("HttpApi" in set(references(permission["SourceArn"])) for permission in permissions.values())
    assert {permission["Principal"] for permission in permissions.values()} == {"apigateway.amazonaws.com"}


def test_the_stage_is_throttled_and_logged():
    api = TEMPLATE["Resources"]["HttpApi"]["Properties"]
    assert set(references(api["DefaultRouteSettings"])) == {"ThrottleRate", "ThrottleBurst"}
    assert api["AccessLogSettings"]["DestinationArn"] == {"Fn::GetAtt": ["AccessLog", "Arn"]}


def test_the_access_log_names_the_route_and_neither_path_nor_query():
    logged = json.loads(TEMPLATE["Resources"]["HttpApi"]["Properties"]["AccessLogSettings"]["Format"])
    assert logged["route"] == "$context.routeKey"
    assert not {"$context.path", "$context.http.path", "$context.routeKey.path", "$context.queryString"} & set(logged.values())
