"""What earlier launches tell of their nodes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import host
from skyrl_doctor.facts.launches import Failure, Launches, launches, of_end, of_events, of_gate, of_sacct, once
from skyrl_doctor.machine.base import Machine
from skyrl_train.launch.node_watch import SILENT
from support import recorded


def test_a_gate_of_several_nodes_names_them() -> None:
    report = {"host": "gpu1", "nodes": {"passing": ["gpu1"], "failing": ["gpu2"], "unknown": ["gpu3"]}, "outcomes": []}
    assert list(of_gate(json.dumps(report), "j")) == [
        Failure("gpu2", "j", "failed the gate"),
        Failure("gpu3", "j", "gave the gate no answer"),
    ]


def test_only_errors_of_a_node_s_own_families_count() -> None:
    outcomes = [
        {"id": "CFG001", "status": "fail", "severity": "error"},
        {"id": "GPU003", "status": "fail", "severity": "warning"},
        {"id": "ENV007", "status": "pass", "severity": None},
        {"id": "POD001", "status": "fail", "severity": "error"},
    ]
    report = json.dumps({"host": "cpu1", "nodes": None, "outcomes": outcomes})
    assert list(of_gate(report, "j")) == [Failure("cpu1", "j", "POD001")]


def test_an_end_names_the_nodes_that_its_reason_names() -> None:
    reason = f"node gpu-2 {SILENT}; node gpu1.site: Ray ended with -9; node gpu-2: Ray ended with 1"
    assert [one.node for one in of_end(json.dumps({"reason": reason}), "j")] == ["gpu-2", "gpu1.site"]
    assert list(of_end('{"reason": "the trainer ended with 1"}', "j")) == []


def test_an_event_is_of_the_verdict_s_node() -> None:
    events = '{"event": "finding", "id": "GPU003", "root": true}\n{"event": "finding", "id": "ENV007"}\n'
    assert list(of_events(events, '{"node": "gpu1"}', "j")) == [Failure("gpu1", "j", "GPU003")]
    assert list(of_events(events, "", "j")) == []


def test_slurm_s_own_word() -> None:
    text = "1|NODE_FAIL|gpu[1-2]\n2|FAILED|gpu3\n3|BOOT_FAIL|None assigned\n4|NODE_FAIL|gpu[\n|\n"
    assert [(one.node, one.job) for one in of_sacct(text)] == [("gpu1", "job 1"), ("gpu2", "job 1")]


def test_a_node_counts_once_for_a_launch() -> None:
    several = (Failure("gpu1.site", "j", "GPU003"), Failure("gpu1", "j", "ended the run"), Failure("gpu1", "k", "x"))
    assert once(iter(several)) == (several[0], several[2])


@given(
    st.text(max_size=60)
    | st.sampled_from(['{"nodes": {"failing": 3}}', '{"outcomes": [7, {"id": null}]}', "[]", "null"])
)
def test_no_text_does_harm(text: str) -> None:
    found = [*of_gate(text, "j"), *of_end(text, "j"), *of_events(text, text, "j"), *of_sacct(text)]
    assert all(failure.node for failure in found)


AGAIN, CLEAN = recorded("node_fails_again"), recorded("clean_gpu_node")
ROOT = "/home/trainer/run/.skyrl_jobs"


def look(machine: Machine, **environ: str) -> object:
    return launches.look(machine, Environ(environ), host.look(machine))


def test_reads_directories_and_accounting() -> None:
    assert look(AGAIN) == Launches(
        (ROOT, "sacct"),
        (
            Failure("gpu-node-17.cluster", "20261119_101500_launch", "GPU003"),
            Failure("gpu-node-17", "20261120_081200_launch", "ended the run"),
            Failure("gpu-node-18", "20261120_081200_launch", "ended the run"),
            Failure("gpu-node-21", "job 4650", "NODE_FAIL"),
            Failure("gpu-node-22", "job 4650", "NODE_FAIL"),
            Failure("gpu-node-21", "job 4655", "NODE_FAIL"),
        ),
    )


def test_the_launch_of_this_very_job_is_none_before_it() -> None:
    found = look(AGAIN, SKYRL_JOB_DIR=f"{ROOT}/20261119_101500_launch/")
    assert isinstance(found, Launches)
    assert "20261119_101500_launch" not in {failure.job for failure in found.failures}


def test_without_launches_there_is_nothing_to_learn() -> None:
    with pytest.raises(NotApplicable):
        look(CLEAN)
