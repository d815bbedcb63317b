"""The example of docs/files.md runs, step by step."""

import hashlib
import re
import sys
from base64 import b64encode
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from gateway.testing import serve

PAGE = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
[DECLARED] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
UPLOAD, TAKE, READ = re.findall(r"^ +```graphql\n(.*?)^ +```$", PAGE, re.MULTILINE | re.DOTALL)
[CURL] = re.findall(r"curl .*", PAGE)
REPORT = b"%PDF the report"


def test_a_report_goes_up_and_comes_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "reports_of_the_page.py").write_text(DECLARED, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    sha256 = b64encode(hashlib.sha256(REPORT).digest()).decode()
    with serve("reports_of_the_page", on="sandbox") as client:
        create = 'mutation { createReport(input: {reportId: "r-1", title: "Q3"}) { errors { code } } }'
        assert client.mutate(create)["createReport"]["errors"] == []
        signed = client.mutate(UPLOAD, {"size": len(REPORT), "sha256": sha256})["uploadReportContent"]["upload"]
        headers = {each["name"]: each["value"] for each in signed["headers"]}
        shown = dict(re.findall(r"-H ['\"]([\w-]+): ([^'\"]+)['\"]", CURL))
        assert {name: value.replace("$sha256", sha256) for name, value in shown.items()} == headers
        with urlopen(Request(signed["url"], REPORT, headers, method="PUT")) as answer:
            assert answer.status == 200
        taken = client.mutate(TAKE, {"uploadId": signed["uploadId"]})["setReportContent"]
        assert taken["report"]["content"] == {"size": len(REPORT), "contentType": "application/pdf", "sha256": sha256}
        found = client.query(READ)["report"]["contentDownload"]
        with urlopen(found["url"]) as answer:
            assert answer.read() == REPORT
    sys.modules.pop("reports_of_the_page", None)
