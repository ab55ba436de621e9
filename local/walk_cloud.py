"""What a walk needs around it: a private database with the schema, moto for AWS, and a queue for each consumer."""

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from moto import mock_aws

from local.database import running_server
from local.database.url import DatabaseUrl
from local.machine import ROOT
from workflow_engine.adapters import aws
from workflow_engine.adapters.database import url_target
from workflow_engine.dal.migrator import apply_migrations
from workflow_engine.entry import container

SQL_FOLDER = ROOT / "sql"
REGION = "eu-central-1"
CONSUMERS = ("registry", "audit")
_AWS = {"AWS_DEFAULT_REGION": REGION, "AWS_REGION": REGION, "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
_POWERTOOLS = {
    "POWERTOOLS_SERVICE_NAME": "walk",
    "POWERTOOLS_METRICS_NAMESPACE": "WorkFlowEngine",
    "POWERTOOLS_LOG_LEVEL": "CRITICAL",
    "POWERTOOLS_METRICS_DISABLED": "true",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mailbox:
    """A consumer's own queue."""

    queue_url: str
    queue_arn: str

    def take(self) -> list[dict[str, Any]]:
        """Take what is there, in the order of its arrival."""
        sqs, found = aws.client("sqs"), list[dict[str, Any]]()
        while messages := sqs.receive_message(QueueUrl=self.queue_url, MaxNumberOfMessages=10, MessageAttributeNames=["All"]).get("Messages"):
            for message in messages:
                attributes = {name: value.get("StringValue", "") for name, value in message.get("MessageAttributes", {}).items()}
                found.append({"body": json.loads(message.get("Body", "{}")), "attributes": attributes})
                sqs.delete_message(QueueUrl=self.queue_url, ReceiptHandle=message.get("ReceiptHandle", ""))
        return found


@contextmanager
def walk_environment(database_url: str | None = None) -> Generator[dict[str, Mailbox]]:
    """Set everything up and leave nothing behind; without an address a scratch server is started."""
    if database_url is not None:
        with _environment(database_url) as mailboxes:
            yield mailboxes
        return
    with running_server("mariadb", profile="fast") as server:
        url = DatabaseUrl.parse(server.url).with_name("walk")
        url.with_name("").execute("CREATE DATABASE walk CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci")
        apply_migrations(url_target(str(url)), SQL_FOLDER)
        with _environment(str(url)) as mailboxes:
            yield mailboxes


@contextmanager
def _environment(database_url: str) -> Generator[dict[str, Mailbox]]:
    before = dict(os.environ)
    os.environ.update(_AWS | _POWERTOOLS)
    with mock_aws():
        try:
            os.environ.update(_topics(database_url))
            container.reset()
            yield {consumer: _mailbox(consumer) for consumer in CONSUMERS}
        finally:
            os.environ.clear()
            os.environ.update(before)
            # After the environment: a new sandbox reads its log level from it.
            container.reset()


def _topics(database_url: str) -> dict[str, str]:
    sns = aws.client("sns")
    secret = aws.client("secretsmanager").create_secret(Name="signing", SecretString=json.dumps({"current": "a-master-secret-for-a-walk-only"}))
    return {
        "WFE_DATABASE_URL": database_url,
        "WFE_WORK_TOPIC_ARN": sns.create_topic(Name="work")["TopicArn"],
        "WFE_NOTICE_TOPIC_ARN": sns.create_topic(Name="notices")["TopicArn"],
        "WFE_SIGNING_SECRET_ARN": secret["ARN"],
    }


def _mailbox(consumer: str) -> Mailbox:
    sqs = aws.client("sqs")
    url = sqs.create_queue(QueueName=consumer)["QueueUrl"]
    return Mailbox(queue_url=url, queue_arn=sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"])
