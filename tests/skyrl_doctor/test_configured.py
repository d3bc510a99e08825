"""`diagnose --config`: the run's own settings stand beside the cause."""

from pathlib import Path

import pytest

from job_samples import make_job
from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.cli.copied import configuration_in

LOGS = Path(__file__).parents[1] / "logs"


def shown(log: str, config: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert dispatch(["diagnose", str(LOGS / log), "--config", str(config)]) == 1
    return capsys.readouterr().out


def test_the_finding_of_the_check_is_shown_with_its_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "run.sh"
    config.write_text(
        "python3 -m verl.trainer.main_ppo \\\n    data.max_prompt_length=1024 data.max_response_length=4096 \\\n"
        "    actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.max_model_len=4096\n",
        encoding="utf-8",
    )
    text = shown("CFG001/verl.log", config, capsys)
    assert "\nIn your configuration\n" in text
    assert "4096" in text.partition("In your configuration")[2].partition("What to do")[0]


def test_without_a_check_the_settings_are_shown_where_they_stand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    config = tmp_path / "run.sh"
    config.write_text("python3 -m verl.trainer.main_ppo \\\n    trainer.save_freq=50\n", encoding="utf-8")
    text = shown("SLM012/preempted.log", config, capsys)
    assert f"\nIn your configuration\n  trainer.save_freq = 50 ({config}:2)\n" in text
    assert "(`trainer.save_freq`)" in text


@pytest.mark.parametrize(
    ("log", "setting"),
    [
        ("ENV007/slurm.log", "actor_rollout_ref.actor.fsdp_config.optimizer_offload = True"),
        ("MEM003/free.log", "actor_rollout_ref.rollout.gpu_memory_utilization = 0.6"),
        ("MEM005/kv.log", "actor_rollout_ref.rollout.gpu_memory_utilization = 0.6"),
        ("MEM006/sglang.log", "actor_rollout_ref.actor.fsdp_config.optimizer_offload = True"),
        ("MOD003/hub.log", "actor_rollout_ref.model.path = 'Qwen/Qwen2.5-7B-Instruct'"),
    ],
)
def test_a_failure_without_finding_names_the_settings_that_decide_about_it(
    log: str, setting: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "run.sh"
    config.write_text(
        "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct \\\n"
        "    actor_rollout_ref.actor.fsdp_config.optimizer_offload=True \\\n"
        "    actor_rollout_ref.rollout.gpu_memory_utilization=0.6\n",
        encoding="utf-8",
    )
    text = shown(log, config, capsys)
    assert f"  {setting} ({config}:" in text.partition("\nIn your configuration\n")[2]


def test_a_configuration_that_cannot_be_read_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dispatch(["diagnose", str(LOGS / "GPU006/smi.log"), "--config", str(tmp_path / "none.toml")]) == 2
    assert "none.toml" in capsys.readouterr().err


VERL = """python3 -m verl.trainer.main_ppo \\
    data.max_prompt_length=1024 data.max_response_length=4096 \\
    actor_rollout_ref.actor.use_dynamic_bsz=True actor_rollout_ref.actor.ppo_max_token_len_per_gpu=16384 \\
    actor_rollout_ref.rollout.gpu_memory_utilisation=0.6
"""


@pytest.mark.parametrize(
    ("log", "settings"),
    [
        ("MEM005/kv.log", ("data.max_prompt_length = 1024", "data.max_response_length = 4096")),
        (
            "MEM002/backward.log",
            ("actor_rollout_ref.actor.use_dynamic_bsz = True", "ppo_max_token_len_per_gpu = 16384"),
        ),
    ],
)
def test_the_lengths_and_token_limits_that_decide_are_listed(
    log: str, settings: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "run.sh"
    config.write_text(VERL, encoding="utf-8")
    listed = shown(log, config, capsys).partition("In your configuration")[2].partition("What to do")[0]
    assert [setting for setting in settings if setting not in listed] == []


@pytest.mark.parametrize(
    "line",
    [
        "Could not override 'actor_rollout_ref.rollout.gpu_memory_utilisation'.",
        "Key 'gpu_memory_utilisation' is not in struct\n    full_key: actor_rollout_ref.rollout.gpu_memory_utilisation",
    ],
)
def test_the_line_that_holds_a_refused_key_is_shown(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    config, log = tmp_path / "run.sh", tmp_path / "a.log"
    config.write_text(VERL, encoding="utf-8")
    log.write_text(f"{line}\n", encoding="utf-8")
    text = shown(str(log), config, capsys)
    found = f"  {config}:4: actor_rollout_ref.rollout.gpu_memory_utilisation=0.6\n"
    assert f"\nIn your configuration\n{found}" in text


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (
            "actor_rollout_ref.actor.use_dynamic_bsz=True actor_rollout_ref.actor.ppo_max_token_len_per_gpu=32768",
            "This run uses dynamic batches: lower `actor_rollout_ref.actor.ppo_max_token_len_per_gpu` from 32768 to 16384",
        ),
        (
            "actor_rollout_ref.actor.use_dynamic_bsz=True actor_rollout_ref.actor.ppo_max_token_len_per_gpu=6000",
            "This run uses dynamic batches: lower `actor_rollout_ref.actor.ppo_max_token_len_per_gpu` from 6000 to 5120",
        ),
        (
            "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=8",
            "Lower `actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu` from 8 to 4",
        ),
        (
            "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1",
            "`actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu` is 1 already",
        ),
    ],
)
def test_the_remedy_of_a_full_gpu_names_the_setting_that_the_run_uses(
    settings: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    config, log = tmp_path / "run.sh", tmp_path / "train.log"
    lengths = "data.max_prompt_length=1024 data.max_response_length=4096"
    config.write_text(f"python3 -m verl.trainer.main_ppo {lengths} {settings}\n", encoding="utf-8")
    log.write_text(
        "loss.backward()\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1 GiB\n", encoding="utf-8"
    )
    shown(str(log), config, capsys)
    assert dispatch(["diagnose", str(log), "--config", str(config)]) == 1
    text = " ".join(capsys.readouterr().out.partition("What to do")[2].split())
    assert text.startswith(f"{expected} ({config}:1)")


def test_the_configuration_of_a_job_directory_is_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job = tmp_path / "job"
    make_job(job, steps=3, prompts=1, samples=2)
    assert dispatch(["diagnose", str(job)]) == 1
    settings = capsys.readouterr().out.partition("\nIn your configuration\n")[2].splitlines()
    assert settings[1] == "  actor.dynamic_batch_size = false (default)"
    assert settings[3].strip() == f"data.max_prompt_tokens = 2048 ({job}/config.toml:7)"
    (job / "config.toml").write_text("[model\n")
    assert dispatch(["diagnose", str(job)]) == 1
    printed = capsys.readouterr()
    assert "In your configuration" not in printed.out
    assert printed.err.startswith("skyrl-doctor diagnose: without the configuration of this job: ")


def test_a_configuration_beside_other_logs_is_not_the_job_s(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_job(tmp_path / "job", steps=3, prompts=1, samples=2)
    for name in ("training_42.out", "config.toml"):
        (tmp_path / name).write_bytes((tmp_path / "job" / name).read_bytes())
    assert configuration_in(str(tmp_path)) == ()
    assert configuration_in(str(tmp_path / "none")) == ()
