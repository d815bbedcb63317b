"""Terraform as the tests run it: on copies of terraform/ and policies/, never on the files of the repository."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from tests.terraform.plan import Plan

REPOSITORY = Path(__file__).parents[2]
SOURCES = REPOSITORY / "terraform"
ROOTS = sorted(
    str(path.parent.relative_to(SOURCES))
    for folder in ("modules", "examples", "envs")
    for path in (SOURCES / folder).glob("*/versions.tf")
)

_SECONDS = 600
# what a test adds to an environment: moto answers buckets by path, and now and then drops a connection
_OVERRIDE = """
provider "aws" {
  s3_use_path_style = true
  max_retries       = 4
}
"""
_LEFT_OUT = shutil.ignore_patterns(".terraform*", "*.tfstate*", "backend.tf")


class Failed(Exception):
    """Terraform ended with an error; its text is what it wrote."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """One root directory in a copy of the sources, and the account that its commands talk to."""

    root: Path
    environment: Mapping[str, str] = field(repr=False)

    def init(self) -> None:
        plugins = os.environ.get("TF_PLUGIN_DIR")
        self.run("init", "-backend=false", "-input=false", *([f"-plugin-dir={plugins}"] if plugins else []))

    def run(self, command: str, *arguments: str) -> str:
        found = subprocess.run(
            ["terraform", command, *arguments],
            cwd=self.root,
            env=dict(self.environment),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        if found.returncode != 0:
            raise Failed(f"terraform {command}: {found.stdout}\n{found.stderr}")
        return found.stdout

    def plan(self, **variables: Any) -> Plan:
        """What would be done, as JSON. Several may be made at once: nothing is changed, so nothing is locked."""
        with NamedTemporaryFile(dir=self.root, suffix=".tfplan") as file:
            self.run("plan", "-input=false", "-lock=false", f"-out={file.name}", *_arguments(variables))
            return Plan(json.loads(self.run("show", "-json", file.name)))

    def apply(self, *options: str, **variables: Any) -> None:
        self.run("apply", "-input=false", "-auto-approve", *options, *_arguments(variables))

    def destroy(self, *options: str, **variables: Any) -> None:
        self.run("destroy", "-input=false", "-auto-approve", *options, *_arguments(variables))

    def output(self, name: str) -> Any:
        return json.loads(self.run("output", "-json", name))


def copied(folder: Path) -> Path:
    """The sources in a folder, as they lie in the repository."""
    shutil.copytree(SOURCES, folder / "terraform", ignore=_LEFT_OUT)
    shutil.copytree(REPOSITORY / "policies", folder / "policies")
    for environment in (folder / "terraform" / "envs").iterdir():
        (environment / "test_override.tf").write_text(_OVERRIDE)
    return folder / "terraform"


def workspace(sources: Path, root: str, aws: str | None = None) -> Workspace:
    made = Workspace(sources / root, variables(aws))
    made.init()
    return made


def variables(aws: str | None = None) -> dict[str, str]:
    """The environment of a command: nothing of the developer's own AWS, and no configuration of their Terraform."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("AWS_", "TF_", "GATEWAY_"))}
    keys = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_EC2_METADATA_DISABLED": "true"}
    nobody = {"AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
    quiet = {"TF_IN_AUTOMATION": "1", "TF_CLI_ARGS": "-no-color", "CHECKPOINT_DISABLE": "1"}
    # from the registry the provider is fetched once, not for every root
    kept_provider = {} if os.environ.get("TF_PLUGIN_DIR") else {"TF_PLUGIN_CACHE_DIR": str(_fetched())}
    return {**kept, **keys, **nobody, **quiet, **kept_provider, **({"AWS_ENDPOINT_URL": aws} if aws else {})}


def _fetched() -> Path:
    folder = REPOSITORY / ".engines" / "terraform-providers"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _arguments(variables: Mapping[str, Any]) -> list[str]:
    return [
        f"-var={name}={value if isinstance(value, str) else json.dumps(value)}" for name, value in variables.items()
    ]
