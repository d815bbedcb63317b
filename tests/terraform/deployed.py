"""The environment `dev` as `terraform apply` made it, and how to look at it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3

from gateway.sandbox.dev.issuer import TokenIssuer
from tests.terraform.served import issuers
from tests.terraform.tool import SOURCES, Failed, Workspace, workspace

REGION = "eu-west-1"
NAME = "gateway-dev"


@dataclass(frozen=True, slots=True)
class Deployed:
    workspace: Workspace
    url: str
    issuer: TokenIssuer
    # as every later command on the environment gives them
    variables: dict[str, Any]

    def client(self, service: str) -> Any:
        return administrator(service, self.url)

    def pages(self, service: str, operation: str, field: str, **arguments: Any) -> Iterator[Any]:
        for page in self.client(service).get_paginator(operation).paginate(**arguments):
            yield from page[field]


def deploy(sources: Path, url: str, issuer: TokenIssuer, image: str) -> Deployed:
    """As the quick start says: the image is named in a file, which every later apply finds."""
    alarm_emails = {"page_emails": ["on-call@example.com"], "notice_emails": ["team@example.com"]}
    variables = {"issuers": issuers(issuer), **alarm_emails}
    made = Deployed(workspace(sources, "envs/dev", url), url, issuer, variables)
    name, text = quick_start_file()
    (made.workspace.root / name).write_text(text.replace("$image", image))
    made.workspace.apply(**variables)
    return made


def quick_start_file() -> tuple[str, str]:
    """Name and text of the file that the quick start writes before the service runs."""
    found = re.search(r"^cat > (\S+) <<END\n(.*?)^END$", (SOURCES / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1], found[2]


@dataclass(frozen=True, slots=True)
class Undestroyed:
    """What Terraform said when it was told to destroy `prod`, and the table of it alone; what it had made, what is left
    after the first, and which tables are there now."""

    error: str
    error_of_table: str
    made: list[str]
    left: list[str]
    tables: list[str]


def refuse_destruction(sources: Path, url: str) -> Undestroyed:
    """Makes the table of `prod` with what it needs, and tries to destroy it."""
    prod = workspace(sources, "envs/prod", url)
    table = "-target=module.stack.module.table.aws_dynamodb_table.this"
    prod.apply(table, "-target=terraform_data.kept")
    made = prod.run("state", "list").split()
    said = _refused(prod)
    left = prod.run("state", "list").split()
    said_of_table = _refused(prod, table)
    return Undestroyed(said, said_of_table, made, left, administrator("dynamodb", url).list_tables()["TableNames"])


def _refused(environment: Workspace, *options: str) -> str:
    try:
        environment.destroy(*options)
    except Failed as error:
        return str(error).rpartition("Error: ")[2]
    return ""


def administrator(service: str, url: str) -> Any:
    """boto3 with all rights in the account."""
    # typed by the name of the service, which varies here
    session: Any = boto3.Session("testing", "testing", region_name=REGION)
    return session.client(service, endpoint_url=url)
