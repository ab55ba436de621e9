"""Runs the Lambda consumer against `make serve`, which has no Lambda: makes its table and secret, registers it, hands it what SNS publishes."""

import json
import os
import sys
import time
from pathlib import Path
from urllib import request

import boto3

API_URL = os.environ["API_URL"]
WHO = {"env_code": int(os.environ.setdefault("ENV_CODE", "1")), "consumer": os.environ.setdefault("CONSUMER", "vendor-lambda")}
WANTS = {"definitions": ["VendorRegistration"], "kinds": ["transition", "hook"], "beat_seconds": None, "return_key": True}


class Context:
    """What the handler asks Lambda's context for."""

    @staticmethod
    def get_remaining_time_in_millis() -> int:
        return 30_000


def call(path: str, body: dict | None = None) -> list | dict:
    data = json.dumps(body).encode() if body else None
    with request.urlopen(request.Request(API_URL + path, data, {"content-type": "application/json"}), timeout=30) as answer:  # noqa: S310  # our own setting
        return json.load(answer)


def prepare(signing_key: str) -> dict[str, str]:
    """What template.yaml makes in AWS, under a name of its own for every start."""
    name, key = f"{WHO['consumer']}-{time.time_ns()}", {"AttributeName": "ack_guid"}
    table = {"KeySchema": [{**key, "KeyType": "HASH"}], "AttributeDefinitions": [{**key, "AttributeType": "S"}], "BillingMode": "PAY_PER_REQUEST"}
    aws = boto3.Session(region_name=os.environ["AWS_REGION"])
    aws.client("dynamodb").create_table(TableName=name, **table)
    return {"TABLE_NAME": name, "SIGNING_SECRET_ARN": aws.client("secretsmanager").create_secret(Name=name, SecretString=signing_key)["ARN"]}


def sns_event(message: dict) -> dict:
    attributes = {name: {"Type": "String", "Value": value} for name, value in message["attributes"].items()}
    return {"Records": [{"EventSource": "aws:sns", "Sns": {"MessageId": str(message["n"]), "Message": message["body"], "MessageAttributes": attributes}}]}


if __name__ == "__main__":
    os.environ.update(prepare(call("/v1/consumers", {**WHO, **WANTS})["signing_key"]))
    sys.path.insert(0, str(Path(__file__).with_name("src")))
    from consumer import handler  # it reads its settings when it is loaded

    last = max((message["n"] for message in call("/_local/published")), default=0)
    print("ready", WHO["consumer"], flush=True)
    while True:
        for message in call(f"/_local/published?after={last}"):
            last = message["n"]
            place = (message["topic"], message["attributes"].get("env"), message["attributes"].get("consumer"))
            if place == ("WorkEvents", str(WHO["env_code"]), WHO["consumer"]):  # what the subscription and its filter policy do in AWS
                handler(sns_event(message), Context())
        sys.stdout.flush()
        time.sleep(0.2)
