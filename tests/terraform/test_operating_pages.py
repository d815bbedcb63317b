"""The pages on environments, image, releases and upgrade: their commands are run, their configuration is read."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.model.role import STANDARD_ROLES
from gateway.settings import Settings
from tests.terraform.conftest import WorkspaceOf
from tests.terraform.served import _IN_IMAGE
from tests.terraform.tool import REPOSITORY, copied, workspace

_DOCS = REPOSITORY / "docs"
_PAGES = ("environments", "image", "releases", "upgrade")


def _blocks(page: str, kind: str) -> list[str]:
    text = (_DOCS / f"{page}.md").read_text(encoding="utf-8")
    return [
        re.sub("^   ", "", block, flags=re.MULTILINE) for block in re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)
    ]


def _shell(text: str, folder: Path, **environment: str) -> str:
    found = subprocess.run(
        ["bash", "-euc", text],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def _git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=test", "-c", "user.email=test@example.com")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True, timeout=60)


def test_a_third_environment_shares_no_name_with_the_one_it_was_copied_from(
    workspace_of: WorkspaceOf, account: str, tmp_path: Path
) -> None:
    sources = copied(tmp_path)
    [commands] = _blocks("environments", "sh")
    _shell(commands, tmp_path)
    staging = workspace(sources, "envs/staging", account)
    plan = staging.plan()
    assert plan.one("aws_dynamodb_table")["name"] == "gateway-staging"
    assert plan.one("aws_dynamodb_table")["tags_all"]["env"] == "staging"
    for kind in ("aws_iam_role", "aws_iam_policy", "aws_sns_topic", "aws_cloudwatch_log_group", "aws_kms_alias"):
        names = [values["name"] for values in plan.of(kind).values()]
        assert names
        assert not [name for name in names if "prod" in name]
    assert "gateway/staging/terraform.tfstate" in (sources / "envs/staging/backend.tf.example").read_text()


def test_the_modules_are_taken_by_git_and_tag_from_another_repository(provider: None, tmp_path: Path) -> None:
    origin, own = tmp_path / "gateway", tmp_path / "own"
    origin.mkdir()
    own.mkdir()
    copied(origin)
    _git(origin, "init", "--quiet")
    _git(origin, "add", "--all")
    _git(origin, "commit", "--quiet", "--message", "release")
    _git(origin, "tag", "v0.1.0")
    [text] = _blocks("environments", "hcl")
    address = "git::https://git.example.com/platform/gateway.git"
    assert f"{address}//terraform/modules/stack?ref=v0.1.0" in text
    (own / "main.tf").write_text(text.replace(address, f"git::file://{origin}"))
    shutil.copy(REPOSITORY / "terraform/table.json", own / "table.json")
    shutil.copytree(REPOSITORY / "policies", own / "policies")
    # init clones the tag, validate reads every module of it
    assert "valid" in workspace(tmp_path, "own").run("validate")


@pytest.mark.parametrize("page", _PAGES)
def test_the_gateways_own_commands_work_on_a_domain_of_ones_own(page: str, tmp_path: Path) -> None:
    blocks = "\n".join(_blocks(page, "sh"))
    commands = sorted({line.strip() for line in blocks.splitlines() if line.strip().startswith("gateway ")})
    if page in ("image", "upgrade"):
        assert len(commands) >= 3
    program = f'gateway() {{ {sys.executable} -m gateway "$@"; }}\n'
    path = os.pathsep.join((str(REPOSITORY), str(REPOSITORY / "examples")))
    _shell(program + "\n".join(commands), tmp_path, PYTHONPATH=path)


def test_the_layer_with_a_domain_of_ones_own_is_an_image_that_can_serve_it(tmp_path: Path) -> None:
    [layer] = _blocks("image", "dockerfile")
    app, here = tmp_path / "app", tmp_path / "here"
    app.mkdir()
    for name in _IN_IMAGE:
        shutil.copytree(REPOSITORY / name, app / name)
    shutil.copytree(REPOSITORY / "examples/helpdesk", here / "helpdesk")
    first, *_ = [line for line in _blocks("image", "sh")[0].splitlines() if line.startswith("gateway policies")]
    program = f'gateway() {{ {sys.executable} -m gateway "$@"; }}\n'
    _shell(program + first, here, PYTHONPATH=os.pathsep.join((str(REPOSITORY), str(here))))
    for source, target in re.findall(r"^COPY (\S+) /app/(\S+)$", layer, re.MULTILINE):
        shutil.copytree(here / source, app / target, dirs_exist_ok=True)
    [(name, value)] = re.findall(r"^ENV (\w+)='(.*)'$", layer, re.MULTILINE)
    assert name.removeprefix("GATEWAY_").lower() in Settings.model_fields
    # what the start of the gateway checks: its policies are those of the model it serves
    code = (
        "from gateway.domains import load_domains; from gateway.ops.policies.files import load_policies; "
        "from pathlib import Path; import json, os; "
        "model = load_domains(json.loads(os.environ['GATEWAY_DOMAINS'])).model; "
        "print(sorted(model.entities), list(load_policies(Path('policies'), model).sessions))"
    )
    output = _shell(f'{sys.executable} -c "{code}"', app, PYTHONPATH=str(app), **{name: value})
    assert output.strip() == f"['Staff', 'Ticket'] {[role.name for role in STANDARD_ROLES]}"
