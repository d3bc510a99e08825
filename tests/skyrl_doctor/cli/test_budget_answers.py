"""Answers of the command to incomplete questions and near a limit."""

import json
import re
from pathlib import Path

import pytest

from skyrl_doctor.cli.app import dispatch

MIG20 = "examples/mig20.toml"
ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))


def budget(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = dispatch(["budget", *words])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_a_model_alone_is_judged_with_stated_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = budget(capsys, "--model", "Qwen/Qwen3-8B", "--gpu", "H100", "--gpus", "4")
    assert status == 0
    assert out.startswith("model:   Qwen/Qwen3-8B (shape of the public model")
    assert " ".join(err.split()) == (
        "no TARGET, so this run is assumed: python -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen3-8B "
        "trainer.n_gpus_per_node=4 algorithm.adv_estimator=grpo data.max_prompt_length=1024 data.max_response_length=2048 "
        "actor_rollout_ref.rollout.n=8 actor_rollout_ref.rollout.tensor_model_parallel_size=1 "
        "actor_rollout_ref.model.use_remove_padding=True actor_rollout_ref.actor.use_dynamic_bsz=True"
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "pass a TARGET, or --model NAME for an estimate with verl's defaults"),
        (("Qwen/Qwen3-8B",), "Qwen/Qwen3-8B is a model and not a configuration; use --model Qwen/Qwen3-8B"),
        (("qwen3-8b",), "qwen3-8b is a model and not a configuration; use --model qwen3-8b"),
    ],
)
def test_what_is_missing_is_told(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], told: str) -> None:
    status, out, err = budget(capsys, *words, "--gpu", "H100")
    assert (status, out, " ".join(err.split())) == (2, "", f"skyrl-doctor budget: {told}")


def test_a_setting_that_does_not_fill_the_memory(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = budget(capsys, MIG20, "--gpu", "H200", "--solve", "n")
    assert "solve:   every n up to 1024 fits: n is not what fills the memory\n" in out


def test_an_estimate_near_the_limit_is_no_promise(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = budget(capsys, MIG20, "--gpu-memory", "14.6GiB")
    said = " ".join(out.split())
    assert status == 0
    assert re.search(
        r" fits: probably, with 0\.[0-9] GiB to spare; the estimate may be off by 0\.[0-9] GiB host: ",
        said,
    )


LARGE = ("--model", "meta-llama/Llama-3.3-70B-Instruct", "--gpu", "H100")


def test_what_cannot_start_has_no_time_and_names_the_gpus_that_are_enough(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a KV cache the time of a step was 2744 min."""
    status, out, _ = budget(capsys, *LARGE)
    assert status == 1
    assert "time:" not in out
    assert [" ".join(line.split()) for line in out.split("host:")[1].splitlines()[2:]] == [
        "enough: 32 GPUs and actor_rollout_ref.rollout.tensor_model_parallel_size = 4,",
        "with the other settings as they are",
        "",
        "changes that help most, but none of them is enough:",
        "- keep Adam's states on the host between updates: saves 66.0 GiB",
        "actor_rollout_ref.actor.fsdp_config.optimizer_offload = true",
    ]
    data = json.loads(budget(capsys, *LARGE, "--format", "json")[1])
    assert (data["needed"], data["step_seconds"]) == ({"gpus": 32, "tensor_parallel": 4}, None)


def test_a_run_that_fits_gets_no_advice(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = budget(capsys, "--model", "Qwen/Qwen2.5-0.5B-Instruct", "--gpu", "H100")
    assert (status, "fits:    yes" in out, "changes that help" in out) == (0, True, False)


def test_a_context_that_the_doctor_does_not_know_is_not_called_fitting(capsys: pytest.CaptureFixture[str]) -> None:
    words = (MIG20, "--gpu", "H200", "--model", "Qwen/Qwen3-1.7B-Base", "--solve", "max_model_len")
    _, out, _ = budget(capsys, *words)
    told = " ".join(out[out.index("solve:") :].split())
    assert re.sub(r"\d{5,}", "N", told).startswith(
        "solve: the memory is enough for max_model_len = N; the model's own context is not known to the doctor, and the engine "
        "refuses more than that"
    )
