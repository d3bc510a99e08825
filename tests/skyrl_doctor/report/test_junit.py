"""JUnit XML: one case a check, well-formed whatever is quoted."""

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from report_samples import MIXED, NOTE, SLOW, failing, only
from skyrl_doctor.core.model import Location, Outcome, Severity, Status
from skyrl_doctor.report.junit import render

WHOLE = """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="7" failures="1" errors="1" time="0.500">
  <testsuite name="skyrl-doctor" tests="7" failures="1" errors="1" skipped="3" time="0.500" hostname="gpu-node-17" timestamp="2026-11-18T11:06:39">
    <properties>
      <property name="version" value="0.1.0" />
      <property name="verdict" value="fail" />
      <property name="role" value="gpu" />
      <property name="target" value="run.toml" />
    </properties>
    <testcase classname="skyrl-doctor.ENV" name="ENV001 triton-python-h" time="0.001" />
    <testcase classname="skyrl-doctor.ENV" name="ENV002 triton-cache-on-network-fs" time="0.000">
      <system-out>the cache is on nfs4; use a local disk</system-out>
    </testcase>
    <testcase classname="skyrl-doctor.GPU" name="GPU001 mig-uuid" time="0.250">
      <failure message="CUDA_VISIBLE_DEVICES names the device by its MIG UUID, but vLLM expects an index; node gpu-node-17 failed once before" type="error">CUDA_VISIBLE_DEVICES names the device by its MIG UUID, but vLLM expects an index
at:   run.toml:12 (trainer.gpus)
note: CUDA_VISIBLE_DEVICES=MIG-aaaaaaaa-0000-0000-0000-000000000001
fix:  name it by its index (safe: it changes nothing outside this job)
      $ export CUDA_VISIBLE_DEVICES=0

node gpu-node-17 failed once before</failure>
    </testcase>
    <testcase classname="skyrl-doctor.GPU" name="GPU003 gpu-memory-taken" time="0.000">
      <skipped message="waived by cluster team until 2027-01-31: the other job is ours" />
      <system-out>another process holds 9.8 GiB of GPU 0</system-out>
    </testcase>
    <testcase classname="skyrl-doctor.POD" name="POD001 pause-process-dead" time="0.000">
      <skipped message="runtime-node check; this is a GPU node" />
    </testcase>
    <testcase classname="skyrl-doctor.POD" name="POD002 storage-stale" time="0.000">
      <skipped message="runtime-node check; this is a GPU node" />
    </testcase>
    <testcase classname="skyrl-doctor.SLM" name="SLM001 walltime-mismatch" time="0.000">
      <error message="squeue: no answer within 5 s" type="unknown" />
    </testcase>
    <system-out>CFG001: waiver by "ops" (reason: a test) expired on 2026-01-31 and is ignored</system-out>
  </testsuite>
</testsuites>
"""


def test_the_whole_report() -> None:
    assert render(MIXED) == WHOLE


def test_without_a_time_there_is_no_timestamp() -> None:
    (suite,) = ET.fromstring(render(only(finished_at=None)))
    assert "timestamp" not in suite.attrib


@pytest.mark.parametrize(
    ("fail_on", "failures"), [(Severity.ERROR, "0"), (Severity.WARNING, "1"), (Severity.INFO, "2")]
)
def test_red_exactly_when_the_doctor_is(fail_on: Severity, failures: str) -> None:
    outcomes = [
        Outcome(id="ENV001", slug="x", status=Status.FAIL, findings=(SLOW,)),
        Outcome(id="ENV002", slug="y", status=Status.FAIL, findings=(NOTE,)),
    ]
    report = only(*outcomes, fail_on=fail_on)
    assert ET.fromstring(render(report)).get("failures") == failures
    assert (failures != "0") == (report.verdict == "fail")


STATUSES = st.lists(st.sampled_from([*Status]), max_size=12)


@given(STATUSES)
def test_the_counts_are_those_of_the_elements(statuses: list[Status]) -> None:
    outcomes = [
        Outcome(
            id=f"ENV{number:03}",
            slug="x",
            status=status,
            findings=(NOTE, SLOW)[: number % 3] if status is Status.FAIL else (),
            reason="r" * (status in (Status.SKIP, Status.UNKNOWN)),
        )
        for number, status in enumerate(statuses)
    ]
    root = ET.fromstring(render(only(*outcomes, fail_on=Severity.WARNING)))
    tags = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    counts = {name: str(len(list(root.iter(tag)))) for name, tag in tags.items()}
    assert {name: root[0].get(name) for name in tags} == counts
    assert {name: root.get(name) for name in tags} == {**counts, "skipped": None}  # junit-10.xsd does not allow it
    assert root.get("errors") == str(statuses.count(Status.UNKNOWN))


@given(st.text(st.characters(exclude_categories=[]), min_size=1))
def test_well_formed_whatever_is_quoted(text: str) -> None:
    report = failing(text, evidence=(text,), location=Location(text, key=text))
    unknown = Outcome(id="ENV002", slug="x", status=Status.UNKNOWN, reason=text)
    both = only(*report.outcomes, unknown, host=text, targets=(text,))
    root = ET.fromstring(render(both).encode("ascii"))
    assert [case.get("name") for case in root.iter("testcase")] == ["ENV001 triton-python-h", "ENV002 x"]


def test_control_characters_are_gone_and_the_rest_comes_back() -> None:
    root = ET.fromstring(render(failing('<a> & "b" ]]> \x00\x1b[31m\x0bé\nnext')))
    failure = next(root.iter("failure"))
    assert failure.get("message") == '<a> & "b" ]]> \\x00\\x0bé\nnext'
    assert failure.text == '<a> & "b" ]]> \\x00\\x0bé\nnext'
