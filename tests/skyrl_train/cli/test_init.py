"""skyrl-train init."""

import io
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from skyrl_doctor.cli.app import dispatch as doctor
from skyrl_train.cli.app import dispatch
from skyrl_train.config.translate import Read, Translated, translate

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def errors(capsys: pytest.CaptureFixture[str], target: str) -> set[str]:
    """The ids of the errors that preflight finds in a configuration."""
    capsys.readouterr()
    doctor(["preflight", "--structure-only", "--format", "json", "--settings", "none", target])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return {one["id"] for one in found["outcomes"] if one["severity"] == "error"}


@pytest.mark.parametrize(
    "source", ["verl/grpo_mig20.sh", "prime-rl/two_gpus.toml", "skyrl-agent/dev.conf", "skyrl-agent/verl_oh.yaml"]
)
def test_the_result_passes_as_far_as_its_source(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["init", "--from", str(EXAMPLES / source)]) == 0
    assert errors(capsys, "run.toml") <= errors(capsys, str(EXAMPLES / source))


def test_a_verl_script_becomes_a_run_and_says_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    Path("train.sh").write_text(
        "python3 -m verl.trainer.main_ppo \\\n  data.train_batch_size=8 \\\n  actor_rollout_ref.rollout.n=4 \\\n"
        "  actor_rollout_ref.model.path=/models/m \\\n  trainer.val_before_train=False \\\n  data.truncation=left\n"
    )
    assert dispatch(["init", "--from", "train.sh"]) == 0
    made = tomllib.loads(Path("run.toml").read_text())
    assert (made["model"]["path"], made["data"]["train_batch_size"], made["rollout"]["n"]) == ("/models/m", 8, 4)
    left = "train.sh:6: data.truncation = left: not translated"
    assert f"not carried over: {left}\n" in capsys.readouterr().out
    assert f"# {left}\n" in Path("run.toml").read_text()


def test_a_key_that_its_program_does_not_know_is_not_said_to_be_missing_in_a_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """half_migrated.toml has keys of an older prime-rl, whose like a run.toml does have."""
    assert dispatch(["init", "--from", str(EXAMPLES / "prime-rl/half_migrated.toml")]) == 0
    lines = capsys.readouterr().out.splitlines()
    left = {line.partition(" = ")[0].split()[-1]: line for line in lines if " = " in line}
    assert left["inference.gpu_memory_utilization"].endswith(": not translated; compare rollout.gpu_memory_utilization")
    assert left["orchestrator.train.sampling.top_p"].endswith(": not translated; compare rollout.top_p")


def test_an_unknown_value_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    Path("train.sh").write_text(
        "python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.n=$N data.train_files=x.parquet\n"
    )
    assert dispatch(["init", "--from", "train.sh"]) == 0
    named = [line for line in capsys.readouterr().out.splitlines() if "N is not set here" in line]
    assert named == ["not carried over: train.sh:1: actor_rollout_ref.rollout.n = $N: N is not set here"]


def test_three_answers_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal("/models/m\n\n4\n"))
    assert dispatch(["init", "mine.toml"]) == 0
    assert tomllib.loads(Path("mine.toml").read_text()) == {
        "model": {"path": "/models/m"},
        "data": {"train_files": ["train.parquet"]},
        "slurm": {"gpus_per_node": 4},
    }
    assert capsys.readouterr().out.splitlines()[-1] == "next: skyrl-doctor preflight --structure-only mine.toml"


def test_without_a_terminal_the_missing_answers_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert dispatch(["init", "--gpus", "1"]) == 2
    assert capsys.readouterr().err == (
        "skyrl-train init: no terminal to ask on; pass --from TARGET, or --model, --tasks\n"
    )


def test_a_file_is_not_overwritten_unasked(capsys: pytest.CaptureFixture[str]) -> None:
    Path("run.toml").write_text("mine\n")
    answers = ["init", "--model", "m", "--tasks", "t.jsonl", "--gpus", "1"]
    assert dispatch(answers) == 2
    assert Path("run.toml").read_text() == "mine\n"
    assert dispatch([*answers, "--force"]) == 0
    assert capsys.readouterr().err == (
        "skyrl-train init: run.toml exists; pass --force to overwrite it, or another FILE\n"
    )


def test_a_source_that_the_doctor_cannot_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["init", "--from", "no.sh"]) == 2
    assert capsys.readouterr().err == "skyrl-train init: target no.sh: no such file or directory\n"


def test_what_differs_between_the_frameworks() -> None:
    read = (
        Read("rollout.n", "group_size", 4, place="a:1"),
        Read("data.train_batch_rollouts", "batch_size", 8, place="a:2"),
        Read("rollout.tool_call_parser", "parser", "hermes", place="a:3"),
        Read("rollout.engine", "name", "vllm", place="a:4"),
        Read("actor.strategy", "strategy", "megatron", place="a:5"),
        Read("trainer.steps", "steps", "$N", unknown="N is not set", place="a:6"),
        Read("critic.path", "critic", "/m"),
        Read("rollout.load_format", "load_format", "dummy_dtensor"),
    )
    assert translate(read, ()) == Translated(
        {
            "data.train_batch_size": 2,
            "rollout.n": 4,
            "rollout.auto_tool_choice": True,
            "rollout.tool_call_parser": "hermes",
        },
        (
            "a:2: batch_size = 8: the batch size is derived from it",
            "a:6: steps = $N: N is not set",
            "a:5: strategy: Input should be 'fsdp' or 'fsdp2' (found 'megatron')",
        ),
    )


SCRIPT = """\
#!/bin/bash
#SBATCH --nodes=2 --gres=gpu:a100:8 --time=24:00:00
export HF_HOME=/scratch/hf CUDA_VISIBLE_DEVICES=0,1
export WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567
python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=/models/m trainer.nnodes=2 trainer.n_gpus_per_node=8 \\
  trainer.project_name=proj trainer.experiment_name=exp trainer.default_local_dir=/scratch/ckpt/proj/exp/
"""


def test_the_job_of_a_script_is_carried_over(capsys: pytest.CaptureFixture[str]) -> None:
    Path("train.sh").write_text(SCRIPT)
    assert dispatch(["init", "--from", "train.sh"]) == 0
    made = tomllib.loads(Path("run.toml").read_text())
    limits = {name: made["slurm"][name] for name in ("nodes", "gpu_type", "runtime_time_limit")}
    assert limits == {"nodes": 2, "gpu_type": "a100", "runtime_time_limit": "24:00:00"}
    assert made["trainer"]["checkpoint_dir"] == "/scratch/ckpt"  # a run adds its project and its experiment
    assert made["env"] == {"HF_HOME": "/scratch/hf"}
    left = [line for line in capsys.readouterr().out.splitlines() if line.startswith("not carried over: ")]
    assert [line.partition(" = ")[0] for line in left] == [
        "not carried over: train.sh:3: CUDA_VISIBLE_DEVICES",
        "not carried over: train.sh:4: WANDB_API_KEY",
    ]
    assert "0123456789abcdef" not in Path("run.toml").read_text()
    assert "SLM001" not in errors(capsys, "run.toml")


@pytest.mark.parametrize(
    ("directory", "expected"),
    [("/c/p/e", "/c"), ("/c/p/other", "/c/p/other"), ("/p/e", "/p/e"), ("p/e", "p/e"), ("c/p/e", "c")],
)
def test_the_directory_of_checkpoints_names_the_run_once(directory: str, expected: str) -> None:
    read = [
        Read(f"trainer.{key}", key, value, place="a:1")
        for key, value in (("project", "p"), ("experiment", "e"), ("checkpoint_dir", directory))
    ]
    assert translate(tuple(read), ()).values["trainer.checkpoint_dir"] == expected


def test_a_second_value_of_a_setting_is_named() -> None:
    read = (Read("slurm.nodes", "trainer.nnodes", 2, place="a:1"),)
    others = (Read("slurm.nodes", "#SBATCH --nodes", 4, place="a:2"), Read("slurm.nodes", "-N", 2, place="a:3"))
    assert translate(read, others) == Translated({"slurm.nodes": 2}, ("a:2: #SBATCH --nodes = 4: slurm.nodes is 2",))
