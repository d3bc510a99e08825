"""A look at all nodes with a step of our own: real processes, no Slurm."""

import json
import stat
from pathlib import Path

import pytest

from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.nodes.collect import Round, allocated, collect
from skyrl_doctor.nodes.node_report import NoReport


def a_step(at: Path, text: str) -> str:
    path = at / "step.sh"
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


ON_EACH = 'for n in n1 n2; do SLURMD_NODENAME=$n SLURM_LAUNCH_NODE_IPADDR=127.0.0.1 NCCL_DEBUG=$n "$@" & done; wait'


def test_every_node_is_examined_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-2]")
    words = ["preflight", "--role", "gpu", "--nodes", "--select", "ENV016", "--node-dir", str(tmp_path / "nodes")]
    assert dispatch([*words, "--step", a_step(tmp_path, ON_EACH), "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["nodes"] == {"passing": ["n1", "n2"], "failing": [], "unknown": []}
    assert (tmp_path / "nodes" / "nodes_passing.txt").read_text() == "n1\nn2\n"
    said = {one["id"]: [found["message"] for found in one["findings"]] for one in report["outcomes"]}
    assert said == {
        "ENV016": [],
        "SLM003": ["$NCCL_DEBUG differs: n1 on n1; n2 on n2; it must be equal on all nodes"],
    }


def silent(at: Path, text: str, limit_s: float = 20.0) -> dict[str, object]:
    step = (a_step(at, text),)
    return dict(collect(Round(nodes=("n1",), directory=str(at / "d"), step=step, words=(), limit_s=limit_s)))


def test_a_node_that_hangs_is_given_up_at_the_limit(tmp_path: Path) -> None:
    assert silent(tmp_path, "exec sleep 60", 0.2) == {"n1": NoReport("no report within 0.2 s")}


def test_a_task_that_ends_without_a_word(tmp_path: Path) -> None:
    assert silent(tmp_path, "exit 3") == {
        "n1": NoReport(f"its task wrote no report ({tmp_path}/step.sh exited with status 3)")
    }


def test_half_a_letter_is_no_answer(tmp_path: Path) -> None:
    said = silent(tmp_path, f"echo '{{' > {tmp_path}/d/n1.json")["n1"]
    assert isinstance(said, NoReport)
    assert said.reason.startswith("its report is damaged")


def test_a_letter_of_an_earlier_look_is_none_of_this_one(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "n1.json").write_text("{}")
    assert silent(tmp_path, "true") == {
        "n1": NoReport(f"its task wrote no report ({tmp_path}/step.sh exited with status 0)")
    }


@pytest.mark.parametrize("text", ["", "gpu["])
def test_outside_of_a_job_there_are_no_nodes(text: str) -> None:
    with pytest.raises(UsageError, match="SLURM_JOB_NODELIST"):
        allocated({"SLURM_JOB_NODELIST": text})


def test_a_step_that_is_not_installed_is_a_clear_refusal(tmp_path: Path) -> None:
    one = Round(nodes=("n1",), directory=str(tmp_path), step=("no-such-srun",), words=(), limit_s=1)
    with pytest.raises(UsageError, match="cannot run no-such-srun: No such file"):
        collect(one)
