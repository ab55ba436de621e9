"""Request bodies, query strings and callers: what is taken, and what is refused before anything else happens."""

import json
from base64 import b64encode
from typing import Any

import pytest

from workflow_engine.entry.identity import principal_of
from workflow_engine.entry.json_body import MAX_DEPTH, json_object
from workflow_engine.entry.query_string import query_values, refuse_all
from workflow_engine.errors import InvalidRequestError, NotOwnerError, TooLargeError


def body(text: str | bytes, *, is_base64: bool = False, max_bytes: int = 100_000) -> dict[str, Any]:
    raw = b64encode(text.encode() if isinstance(text, str) else text).decode() if is_base64 else text
    return json_object({"body": raw, "isBase64Encoded": is_base64}, max_bytes)


def nested(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


@pytest.mark.parametrize("is_base64", [True, False])
def test_a_body_comes_plain_or_in_base64(is_base64):
    assert body('{"b": [1, 2.5, null, "é\\ud83d\\ude00"], "a": {}}', is_base64=is_base64) == {"b": [1, 2.5, None, "é😀"], "a": {}}


REFUSED = {
    "nothing": ("", "INVALID_JSON"),
    "half an object": ("{", "INVALID_JSON"),
    "an array": ("[1]", "INVALID_JSON"),
    "null": ("null", "INVALID_JSON"),
    "a text": ('"text"', "INVALID_JSON"),
    "single quotes": ("{'a': 1}", "INVALID_JSON"),
    "two documents": ('{"a": 1} {}', "INVALID_JSON"),
    "a byte order mark": ('\ufeff{"a": 1}', "INVALID_JSON"),
    "not a number": ('{"a": NaN}', "INVALID_JSON"),
    "infinity": ('{"a": -Infinity}', "INVALID_JSON"),
    "a float that overflows": ('{"a": 1e999}', "INVALID_JSON"),
    "an integer that no float holds": ('{"a": ' + "9" * 309 + "}", "INVALID_JSON"),
    "an integer of thousands of digits": ('{"a": ' + "9" * 5000 + "}", "INVALID_JSON"),
    "a doubled name": ('{"a": 1, "a": 1}', "INVALID_JSON"),
    "a doubled name inside": ('{"a": [{"b": 1, "b": 2}]}', "INVALID_JSON"),
    "half a surrogate pair": ('{"a": "\\ud800"}', "INVALID_ENCODING"),
    "half a surrogate pair in a name": ('{"a": [{"\\udfff": 1}]}', "INVALID_ENCODING"),
    "half a surrogate pair, not escaped": ('{"a": "\ud800"}', "INVALID_ENCODING"),
    "one level too deep": (nested(MAX_DEPTH + 1), "TOO_DEEP"),
    "objects without end": (nested(10_000), "TOO_DEEP"),
    "arrays without end": ('{"a":' + "[" * 20_000 + "]" * 20_000 + "}", "TOO_DEEP"),
}


@pytest.mark.parametrize(("text", "code"), REFUSED.values(), ids=REFUSED)
def test_what_could_not_be_stored_or_sent_on_as_it_came_is_refused(text, code):
    with pytest.raises(InvalidRequestError) as caught:
        body(text)
    assert [item.code for item in caught.value.errors] == [code]


@pytest.mark.parametrize("raw", [b'{"a": "\xff"}', b"\xff\xfe{\x00}\x00"])
def test_bytes_that_are_not_utf8_are_refused(raw):
    with pytest.raises(InvalidRequestError):
        body(raw, is_base64=True)


@pytest.mark.parametrize("raw", ["not base64!", "YQ", None, 7, {"a": 1}])
def test_a_body_that_is_not_what_it_says_is_refused(raw):
    with pytest.raises(InvalidRequestError):
        json_object({"body": raw, "isBase64Encoded": True}, 1000)


@pytest.mark.parametrize("is_base64", [True, False])
def test_the_size_is_counted_in_bytes_after_decoding(is_base64):
    text = json.dumps({"a": "é" * 100}, ensure_ascii=False)
    size = len(text.encode())
    assert body(text, is_base64=is_base64, max_bytes=size)
    with pytest.raises(TooLargeError):
        body(text, is_base64=is_base64, max_bytes=size - 1)


def test_the_deepest_body_and_the_longest_number_are_taken():
    assert body(nested(MAX_DEPTH))
    assert body('{"a": ' + "9" * 308 + "}") == {"a": int("9" * 308)}


def test_a_refusal_does_not_repeat_the_body():
    with pytest.raises(InvalidRequestError) as caught:
        body('{"password": "hunter2", oops}')
    assert "hunter2" not in str(caught.value) + str(caught.value.errors)


def test_query_parameters_are_decoded_once():
    assert query_values({"rawQueryString": "a=1&b=x%20y%2Bz&c=&d=1%2C2"}) == {"a": "1", "b": "x y+z", "c": "", "d": "1,2"}
    assert query_values({}) == query_values({"rawQueryString": ""}) == {}


@pytest.mark.parametrize("raw", ["a=1&a=2", "a=%ff", "&".join(f"p{number}=1" for number in range(51))])
def test_doubled_unreadable_or_endless_parameters_are_refused(raw):
    with pytest.raises(InvalidRequestError):
        query_values({"rawQueryString": raw})


def test_a_route_without_parameters_takes_none():
    refuse_all({})
    with pytest.raises(InvalidRequestError) as caught:
        refuse_all({"x/y": "1"})
    assert [item.pointer for item in caught.value.errors] == ["/x~1y"]


def event(authorizer: object) -> dict[str, Any]:
    return {"requestContext": {"authorizer": authorizer}}


def iam(arn: str, **more: object) -> dict[str, Any]:
    return event({"iam": {"accountId": "123456789012", "userArn": arn, "cognitoIdentity": None, **more}})


CALLERS = [
    (iam("arn:aws:sts::123456789012:assumed-role/billing/session-1"), "iam:123456789012:role/billing"),
    (iam("arn:aws:sts::123456789012:assumed-role/billing/session-2"), "iam:123456789012:role/billing"),
    (iam("arn:aws-cn:sts::123456789012:assumed-role/other/i-0abc"), "iam:123456789012:role/other"),
    (iam("arn:aws:iam::123456789012:user/ann"), "iam:123456789012:user/ann"),
    (iam("arn:aws:iam::123456789012:user/team/ann"), "iam:123456789012:user/ann"),
    (iam("arn:aws:iam::123456789012:root"), "iam:123456789012:root"),
    (iam("arn:aws:sts::123456789012:federated-user/bob"), "iam:123456789012:federated-user/bob"),
    (
        iam("arn:aws:sts::123456789012:assumed-role/pool/CognitoIdentityCredentials", cognitoIdentity={"identityId": "eu-central-1:abc"}),
        "cognito:eu-central-1:abc",
    ),
    (event({"jwt": {"claims": {"iss": "https://issuer.example", "sub": "u-1"}, "scopes": None}}), "jwt:https://issuer.example|u-1"),
]


@pytest.mark.scenario(113)
@pytest.mark.parametrize(("caller", "principal"), CALLERS, ids=range(len(CALLERS)))
def test_the_caller_is_named_without_its_session(caller, principal):
    assert principal_of(caller) == principal


STRANGERS = [
    {},
    {"requestContext": None},
    event(None),
    event({}),
    event({"iam": {}}),
    event({"iam": {"userArn": None}}),
    iam("arn:aws:sts::123456789012:assumed-role/billing"),
    iam("arn:aws:s3:::bucket"),
    event({"jwt": {"claims": {"iss": "https://issuer.example"}}}),
    event({"jwt": {"claims": {"iss": "", "sub": "x"}}}),
    event({"jwt": {"claims": {"iss": "https://issuer.example", "sub": "x" * 600}}}),
    event({"jwt": {"claims": {"iss": "https://issuer.example", "sub": "é"}}}),
    event({"lambda": {"principal": "iam:123456789012:role/billing"}}),
]


@pytest.mark.parametrize("caller", STRANGERS, ids=range(len(STRANGERS)))
def test_a_caller_that_is_not_recognised_is_refused(caller):
    with pytest.raises(NotOwnerError):
        principal_of(caller)
