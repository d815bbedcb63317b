"""CONTRIBUTING.md is true: its commands find tests, and changes made as it says work, and fail where it says so."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.iam.language import operators
from gateway.iam.language.document import parse
from gateway.iam.language.errors import PolicyError
from gateway.iam.language.evaluator import PolicySet, evaluate
from gateway.iam.language.verdict import Allow, Authorisation, Deny

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| an? ([\w ]+) \| (.*) \| .*\|$", PAGE, re.MULTILINE))
_PACKAGES = ("gateway", "docs", "tests")


def replace_once(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{path.name}: {old}"
    path.write_text(text.replace(old, new), encoding="utf-8")


class Copy:
    """A copy of the tree to change."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in _PACKAGES:
            # with the bytecode, which halves the CPU of the runs below
            shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("node_modules"))
        for path in ROOT.iterdir():
            if path.is_file():
                shutil.copy(path, root / path.name)

    def linked(self, change: str, name: str) -> Path:
        """A file that the page links to for a change."""
        target = re.search(rf"\[{re.escape(name)}\]\(([^)]+)\)", ROWS[change])
        assert target, name
        return self.root / target[1]

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GATEWAY_", "COV_"))}
        return subprocess.run(
            [sys.executable, *command],
            cwd=self.root,
            env={**kept, **environment, "PYTHONPATH": str(self.root)},
            capture_output=True,
            text=True,
            check=False,
        )

    def passes(self, *tests: str) -> bool:
        """Whether tests pass; what cannot be run is a failure of its own."""
        done = self.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        print(done.stdout)
        return done.returncode == 0


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_all_eight_changes_are_listed() -> None:
    assert set(ROWS) == {
        "entity",
        "computed field",
        "role",
        "attribute type",
        "condition operator",
        "alarm",
        "setting",
        "error code",
    }


def test_the_commands_for_one_test_find_tests() -> None:
    commands = re.findall(r"^\.venv/bin/pytest (tests/.*)$", PAGE, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        file, _, name = command.partition("::")
        assert (ROOT / file).exists()
        assert f"def {name}" in (ROOT / file).read_text(encoding="utf-8")


class HelpdeskCopy:
    """A copy of the domain `helpdesk` to change."""

    def __init__(self, root: Path) -> None:
        self.root = root
        shutil.copytree(ROOT / "examples" / "helpdesk", root / "helpdesk")
        self.domain = root / "helpdesk" / "domain.py"

    def gateway(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "gateway", *arguments, "--domains", "helpdesk.domain"]
        environment = {**os.environ, "PYTHONPATH": f"{self.root}{os.pathsep}{ROOT}"}
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def schema(self) -> str:
        self.gateway("schema", "--path", "schema.graphql")
        return (self.root / "schema.graphql").read_text(encoding="utf-8")


@pytest.fixture
def helpdesk(tmp_path: Path) -> HelpdeskCopy:
    return HelpdeskCopy(tmp_path)


@pytest.mark.parametrize("change", ["entity", "computed field", "role"])
def test_the_examples_that_the_page_names_exist(change: str) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", ROWS[change])
    assert links
    assert [name for name in links if not (ROOT / name).exists()] == []


def test_an_entity_is_a_file_and_a_name_in_its_domain(helpdesk: HelpdeskCopy) -> None:
    (helpdesk.root / "helpdesk" / "article.py").write_text(
        '''"""An article of the knowledge base."""

from gateway import Attribute, Entity, Id, Key, Lookup, Text

ARTICLE = Entity(
    name="Article",
    description="An article of the knowledge base.",
    attributes=(Attribute("articleId", Id(), "The article's id."), Attribute("title", Text(200), "Its title.")),
    key=Key(pk="ARTICLE#{articleId}", sk="META"),
)
PATTERNS = (Lookup(name="article", entity="Article", description="One article by id."),)
''',
        encoding="utf-8",
    )
    replace_once(helpdesk.domain, "from helpdesk import ", "from helpdesk import article, ")
    replace_once(helpdesk.domain, "entities=(", "entities=(article.ARTICLE, ")
    replace_once(helpdesk.domain, "patterns=(", "patterns=(*article.PATTERNS, ")
    schema = helpdesk.schema()
    assert "type Article" in schema
    assert "article(" in schema


def test_a_computed_field_is_a_value_in_its_entity_and_a_role_one_in_its_domain(helpdesk: HelpdeskCopy) -> None:
    assert "`Computed` in the `computed` of its entity" in ROWS["computed field"]
    assert "`Role` in the `roles` of a domain" in ROWS["role"]
    shouted = (
        """Computed("shouted", Text(200), "Its subject.", needs=("subject",), run=lambda row: row["subject"].upper())"""
    )
    ticket = helpdesk.root / "helpdesk" / "ticket.py"
    replace_once(ticket, "computed=(INITIALS,)", f"computed=(INITIALS, {shouted})")
    ticket.write_text("from gateway import Computed\n" + ticket.read_text(encoding="utf-8"), encoding="utf-8")
    role = """Role(name="auditor", description="reads tickets", reads=("Ticket",))"""
    replace_once(helpdesk.domain, "import Domain\n", "import STANDARD_ROLES, Domain, Role\n")
    replace_once(helpdesk.domain, "    queries=(", f"    roles=(*STANDARD_ROLES, {role}),\n    queries=(")
    assert "shouted: String" in helpdesk.schema()
    helpdesk.gateway("policies", "--directory", "policies")
    session = (helpdesk.root / "policies" / "session-auditor.json").read_text(encoding="utf-8")
    assert "#TICKET#" in session
    assert "dynamodb:PutItem" not in session


def _policies() -> PolicySet:
    statement = {
        "Effect": "Allow",
        "Action": "dynamodb:GetItem",
        "Resource": "*",
        "Condition": {"StringEndsWith": {"aws:PrincipalTag/TenantId": "me"}},
    }
    return PolicySet(identity=(parse({"Version": "2012-10-17", "Statement": [statement]}, "identity"),))


def test_a_condition_operator_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "`OPERATORS` in [operators.py](gateway/iam/language/operators.py)" in ROWS["condition operator"]
    with pytest.raises(PolicyError, match="StringEndsWith"):
        _policies()

    def ends_with(values: tuple[str, ...], with_variables: bool) -> operators.Binder:
        return lambda context: lambda text: text.endswith(values)

    monkeypatch.setitem(operators.OPERATORS, "StringEndsWith", operators.Operator(ends_with))
    table = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders"
    for tenant, verdict in (("acme", Allow), ("globex", Deny)):
        request = Authorisation("dynamodb:GetItem", table, {"aws:PrincipalTag/TenantId": tenant})
        assert isinstance(evaluate(_policies(), request), verdict)


def test_a_setting_is_a_field_and_a_row(copy: Copy) -> None:
    settings, page = copy.linked("setting", "settings.py"), copy.linked("setting", "docs/settings.md")
    assert copy.linked("setting", "wiring/").exists()
    assert copy.linked("setting", "setting_checks.py").exists()
    field = "\n    region: Region\n"
    replace_once(settings, field, '\n    greeting: str = \'hello\'\n    """A word."""' + field)
    code = "from gateway.settings import Settings; print(Settings.model_construct().greeting)"
    assert copy.run("-c", code).stdout == "hello\n"
    documented = "tests/test_settings.py::test_the_page_shows_every_setting_as_the_code_has_it"
    assert not copy.passes(documented)
    replace_once(page, "\n| `max_sessions` |", "\n| `greeting` | | |\n| `max_sessions` |")
    copy.run("-m", "gateway.setting_docs", "docs/settings.md")
    assert "| `greeting` | `hello` | A word. |" in page.read_text(encoding="utf-8")
    assert copy.passes(documented)


def test_an_error_code_is_a_class_with_a_page(copy: Copy) -> None:
    errors = copy.linked("error code", "errors.py")
    text = errors.read_text(encoding="utf-8")
    errors.write_text(text + '\n\nclass Teapot(GatewayError):\n    code = "TEAPOT"\n', encoding="utf-8")
    pages = copy.linked("error code", "docs/errors").parent
    checks = "tests/test_error_pages.py"
    assert not copy.passes(checks)
    headings = ("Meaning", "Cause", "What the client does")
    sections = "\n".join(f"## {heading}\n\nIt is a pot for tea.\n" for heading in headings)
    (pages / "TEAPOT.md").write_text(f"# TEAPOT\n\n{sections}", encoding="utf-8")
    replace_once(pages / "README.md", "\n| [INTERNAL]", "\n| [TEAPOT](TEAPOT.md) | A pot | no |\n| [INTERNAL]")
    replace_once(copy.root / "CHANGELOG.md", "\n## Unreleased\n", "\n## Unreleased\n\n- `TEAPOT`\n")
    assert copy.passes(checks)
