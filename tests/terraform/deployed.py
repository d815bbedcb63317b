"""The environment `dev` as `terraform apply` made it, and how to look at it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3

from tests.terraform.tool import Workspace, workspace

REGION = "eu-west-1"
NAME = "gateway-dev"


@dataclass(frozen=True, slots=True)
class Deployed:
    workspace: Workspace
    url: str
    image: str

    def client(self, service: str) -> Any:
        """boto3, as an administrator of the account."""
        return boto3.client(
            service,
            region_name=REGION,
            endpoint_url=self.url,
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )


def deploy(sources: Path, url: str, image: str) -> Deployed:
    made = Deployed(workspace(sources, "envs/dev", url), url, image)
    made.workspace.apply(gateway_image=image)
    return made
