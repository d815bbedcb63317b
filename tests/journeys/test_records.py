"""`gateway records` on a domain that imports the file before it exists, and what `mypy --strict` finds with it."""

import os
import subprocess
import sys
from pathlib import Path

DOMAIN = """from typing import Any

from gateway import Attribute, Boolean, Domain, Entity, Field, Id, Key, Lookup, Mutation, MutationResult, Writer

from clinic.generated.records import Patient

PATIENT = Entity(
    name="Patient",
    description="A patient.",
    attributes=(Attribute("patientId", Id(), "Its id."), Attribute("insured", Boolean(), "Whether insured.")),
    key=Key(pk="PATIENT#{patientId}", sk="META"),
)


async def check_in(writer: Writer, values: dict[str, Any]) -> MutationResult:
    patient = await writer.stored(Patient, {"patientId": values["patientId"]})
    change = writer.change()
    return await writer.commit(change, MutationResult(change.update(patient.as_item, {"insured": not patient.insured})))


DOMAIN = Domain(
    name="clinic",
    description="A clinic.",
    entities=(PATIENT,),
    patterns=(Lookup(name="patient", entity="Patient", description="One patient."),),
    mutations=(
        Mutation(
            name="checkIn",
            description="Check in.",
            returns="Patient",
            input=(Field("patientId", Id(), "The patient."),),
            run=check_in,
        ),
    ),
)
"""


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_a_misspelt_attribute_is_found_by_a_type_checker(tmp_path: Path) -> None:
    package = tmp_path / "clinic"
    (package / "generated").mkdir(parents=True)
    for name in ("__init__.py", "generated/__init__.py"):
        (package / name).touch()
    (package / "domain.py").write_text(DOMAIN)
    records = ("gateway", "records", "--domains", "clinic", "--path", "clinic/generated/records.py")

    # stale, since it does not exist; then written, although the domain imports it; then fresh, and loadable
    assert run(tmp_path, *records, "--check").returncode == 1
    assert "wrote clinic/generated/records.py" in run(tmp_path, *records).stdout
    assert run(tmp_path, *records, "--check").returncode == 0
    assert run(tmp_path, "gateway", "schema", "--domains", "clinic", "--path", "schema.graphql").returncode == 0

    right = run(tmp_path, "mypy", "--strict", "-p", "clinic")
    assert right.returncode == 0, right.stdout
    (package / "domain.py").write_text(DOMAIN.replace("not patient.insured", "not patient.insurd"))
    wrong = run(tmp_path, "mypy", "--strict", "-p", "clinic")
    assert wrong.returncode == 1
    assert 'domain.py:18: error: "Patient" has no attribute "insurd"' in wrong.stdout

    # a wrong file does not stand in the way of a right one
    (package / "domain.py").write_text(DOMAIN)
    (package / "generated" / "records.py").write_text("raise RuntimeError('broken')\n")
    assert run(tmp_path, *records).returncode == 0
    assert run(tmp_path, *records, "--check").returncode == 0
