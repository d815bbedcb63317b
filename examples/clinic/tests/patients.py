"""Patients as another system would export them: `python -m tests.patients 10000 > patients.csv`."""

import csv
import random
import sys
from typing import TextIO

FAMILIES = ("Curie", "Hopper", "Lovelace", "Meitner", "Noether", "Turing")
GIVEN = ("Ada", "Alan", "Emmy", "Grace", "Lise", "Marie")


def write(count: int, file: TextIO) -> None:
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(("patientId", "name", "birthDate", "email"))
    chosen = random.Random(1)
    for number in range(count):
        name = f"{chosen.choice(FAMILIES)} {chosen.choice(GIVEN)}"
        born = f"19{chosen.randint(30, 99)}-{chosen.randint(1, 12):02}-{chosen.randint(1, 28):02}"
        rows.writerow((f"i-{number}", name, born, f"i-{number}@example.org"))


if __name__ == "__main__":
    write(int(sys.argv[1]), sys.stdout)
