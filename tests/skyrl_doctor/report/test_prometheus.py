"""Prometheus text exposition, read back by a small reader of the format."""

import re

from hypothesis import given
from hypothesis import strategies as st

from report_samples import MIXED, only
from skyrl_doctor.core.model import Outcome, Status
from skyrl_doctor.report.plain import encodable
from skyrl_doctor.report.prometheus import escaped, render

SMALL = only(MIXED.outcomes[1], MIXED.outcomes[6])
WHOLE = """\
# HELP skyrl_doctor_check_status 1 for the current status of the check, 0 for its other statuses.
# TYPE skyrl_doctor_check_status gauge
skyrl_doctor_check_status{id="ENV002",slug="triton-cache-on-network-fs",status="pass"} 0
skyrl_doctor_check_status{id="ENV002",slug="triton-cache-on-network-fs",status="fail"} 1
skyrl_doctor_check_status{id="ENV002",slug="triton-cache-on-network-fs",status="skip"} 0
skyrl_doctor_check_status{id="ENV002",slug="triton-cache-on-network-fs",status="unknown"} 0
skyrl_doctor_check_status{id="SLM001",slug="walltime-mismatch",status="pass"} 0
skyrl_doctor_check_status{id="SLM001",slug="walltime-mismatch",status="fail"} 0
skyrl_doctor_check_status{id="SLM001",slug="walltime-mismatch",status="skip"} 0
skyrl_doctor_check_status{id="SLM001",slug="walltime-mismatch",status="unknown"} 1
# HELP skyrl_doctor_check_findings Findings of the check that are not waived, by severity.
# TYPE skyrl_doctor_check_findings gauge
skyrl_doctor_check_findings{id="ENV002",slug="triton-cache-on-network-fs",severity="warning"} 1
# HELP skyrl_doctor_verdict 1 for the verdict of the last examination, 0 for the others.
# TYPE skyrl_doctor_verdict gauge
skyrl_doctor_verdict{verdict="pass"} 0
skyrl_doctor_verdict{verdict="fail"} 0
skyrl_doctor_verdict{verdict="unknown"} 1
# HELP skyrl_doctor_duration_seconds Duration of the last examination in seconds.
# TYPE skyrl_doctor_duration_seconds gauge
skyrl_doctor_duration_seconds 0.5
# HELP skyrl_doctor_last_run_timestamp_seconds End of the last examination, in seconds since the epoch.
# TYPE skyrl_doctor_last_run_timestamp_seconds gauge
skyrl_doctor_last_run_timestamp_seconds 1795000000.0
# HELP skyrl_doctor_info Version of the doctor, role and host of the last examination; always 1.
# TYPE skyrl_doctor_info gauge
skyrl_doctor_info{version="0.1.0",role="gpu",host="gpu-node-17"} 1
"""

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def test_the_whole_report() -> None:
    assert render(SMALL) == WHOLE


def test_a_waived_finding_does_not_count() -> None:
    samples = read_back(render(only(MIXED.outcomes[3])))
    assert [name for name, _ in samples if name == "skyrl_doctor_check_findings"] == []


def test_without_a_time_there_is_no_timestamp() -> None:
    assert "timestamp" not in render(only(finished_at=None))


def test_each_check_has_one_status_and_the_report_one_verdict() -> None:
    samples = read_back(render(MIXED))
    on = [dict(labels) for (name, labels), value in samples.items() if name == "skyrl_doctor_check_status" and value]
    assert [(labels["id"], labels["status"]) for labels in on] == [
        (outcome.id, outcome.status.value) for outcome in MIXED.outcomes
    ]
    verdicts = [dict(labels)["verdict"] for (name, labels), value in samples.items() if "verdict" in name and value]
    assert verdicts == ["fail"]


def test_escapes() -> None:
    assert escaped('C:\\x "y"\nz') == 'C:\\\\x \\"y\\"\\nz'


@given(st.text(st.characters(exclude_categories=[])))
def test_what_was_said_comes_back(text: str) -> None:
    report = only(Outcome(id="ENV001", slug=text, status=Status.PASS), host=text)
    samples = read_back(render(report).encode("utf-8").decode("utf-8"))
    (info,) = [dict(labels) for name, labels in samples if name == "skyrl_doctor_info"]
    assert info == {"version": "0.1.0", "role": "gpu", "host": encodable(text)}
    assert {dict(labels)["slug"] for name, labels in samples if name == "skyrl_doctor_check_status"} == {
        encodable(text)
    }


_SAMPLE = re.compile(r"(?P<name>[a-z_]+)(?:\{(?P<labels>.*)\})? (?P<value>[0-9.e+-]+)", re.DOTALL)
_LABEL = re.compile(r'(?P<name>[a-z_]+)="(?P<value>(?:\\.|[^"\\])*)"(?:,|$)', re.DOTALL)


def read_back(text: str) -> Samples:
    """A small reader of the format: lines end with a line feed and with nothing else."""
    samples: Samples = {}
    typed = set()
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        if line.startswith("# TYPE "):
            typed.add(line.split(" ")[2])
        if line.startswith("#"):
            continue
        sample = _SAMPLE.fullmatch(line)
        assert sample is not None, line
        assert sample["name"] in typed
        inside = sample["labels"] or ""
        found = list(_LABEL.finditer(inside))
        assert sum(len(label[0]) for label in found) == len(inside), line
        labels = tuple((label["name"], _unescaped(label["value"])) for label in found)
        assert (sample["name"], labels) not in samples, f"twice: {line}"
        samples[sample["name"], labels] = float(sample["value"])
    return samples


def _unescaped(value: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), value)
