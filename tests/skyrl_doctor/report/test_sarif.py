"""SARIF: a result at each line, a notification for what is unknown, valid whatever is quoted."""

import dataclasses
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from report_samples import MIXED, failing
from skyrl_doctor.core.model import Location
from skyrl_doctor.report.model import Batch, Refusal
from skyrl_doctor.report.sarif import render, render_batch


def run_of(text: str) -> Any:
    log = json.loads(text)
    (run,) = log.pop("runs")
    assert log == {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0"}
    return run


def test_the_whole_report() -> None:
    page = "https://example.com/GPU001.md"
    run = run_of(render(dataclasses.replace(MIXED, pages={"GPU001": page})))
    assert run["tool"]["driver"] == {
        "name": "skyrl-doctor",
        "version": "0.1.0",
        "rules": [
            {"id": "GPU001", "name": "mig-uuid", "helpUri": page},
            {"id": "ENV002", "name": "triton-cache-on-network-fs"},
        ],
    }
    assert [(one["ruleId"], one["ruleIndex"], one["level"]) for one in run["results"]] == [
        ("GPU001", 0, "error"),
        ("ENV002", 1, "warning"),
        ("GPU001", 0, "note"),
    ]
    at_line, at_target, _ = (one["locations"] for one in run["results"])
    assert at_line == [{"physicalLocation": {"artifactLocation": {"uri": "run.toml"}, "region": {"startLine": 12}}}]
    assert at_target == [{"physicalLocation": {"artifactLocation": {"uri": "run.toml"}}}]
    assert run["invocations"] == [
        {
            "executionSuccessful": False,
            "toolExecutionNotifications": [
                {"level": "warning", "message": {"text": "SLM001 walltime-mismatch: squeue: no answer within 5 s"}},
                {"level": "note", "message": {"text": MIXED.notes[0]}},
            ],
        }
    ]


def test_several_runs_are_one_and_the_same_finding_is_there_once() -> None:
    batch = Batch((failing("x"), failing("x"), failing("y")), (Refusal("b.sh", "the file is empty"),))
    run = run_of(render_batch(batch))
    assert [one["message"]["text"] for one in run["results"]] == ["x", "y"]
    assert run["invocations"][0] == {
        "executionSuccessful": False,
        "toolExecutionNotifications": [{"level": "warning", "message": {"text": "b.sh: the file is empty"}}],
    }


@given(st.text(st.characters(exclude_categories=[])), st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_text_and_any_file_name_is_valid(message: str, file: str) -> None:
    (result,) = run_of(render(failing(message, location=Location(file, 3))))["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri.isascii()
    assert not set(uri) & set(' <>"{}|\\^`')
