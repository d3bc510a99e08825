"""What `budget` says where it has no estimate."""

from pathlib import Path

import pytest

from skyrl_doctor.cli.app import dispatch

MODELS = "Qwen/Qwen3-8B, meta-llama/Llama-3.1-8B, Qwen/Qwen3-30B-A3B"
NO_MODEL = f"no configuration names a model; pass --model with a directory, a config.json or a public name ({MODELS})"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "task.yaml",
            "agent_cls: a.B\ntask: c.D\ngenerator:\n  num_trajectories: 8\n  max_iterations: 30\n",
            f"{NO_MODEL}. Also: MAX_PROMPT_LENGTH and MAX_RESPONSE_LENGTH are not set; pass the file that sets them too",
        ),
        (
            "rl.toml",
            "[deployment]\ntype = 'multi_node'\nnum_train_nodes = 1\n[trainer.model]\nseq_len = 4096\n[orchestrator]\ngroup_size = 8\n",
            f"{NO_MODEL}. Also: deployment.num_infer_nodes is not set; pass --gpus N",
        ),
        (
            "infer.toml",
            "[server]\nport = 8000\n[vllm]\nmax_model_len = 4096\n",
            "this program of prime-rl trains no model; pass the file of `rl`, `trainer` or `sft`",
        ),
    ],
)
def test_all_that_is_missing_is_told_at_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, text: str, said: str
) -> None:
    target = tmp_path / name
    target.write_text(text)
    status = dispatch(["budget", str(target), "--gpu", "H100"])
    assert (status, *capsys.readouterr()) == (2, "", f"skyrl-doctor budget: no estimate: {said}\n")


@pytest.mark.parametrize(
    ("words", "module"),
    [
        ("python -m verl.trainer.main_generation model.path=Qwen/Qwen3-8B", "verl.trainer.main_generation"),
        (
            "python -m verl.trainer.main_generation_server actor_rollout_ref.model.path=Qwen/Qwen3-8B trainer.n_gpus_per_node=8",
            "verl.trainer.main_generation_server",
        ),
        ("python -m recipe.r1.main_eval data.path=replies.parquet", "recipe.r1.main_eval"),
        (
            "python -m skyrl.train.entrypoints.main_generate trainer.policy.model.path=Qwen/Qwen3-8B",
            "skyrl.train.entrypoints.main_generate",
        ),
    ],
)
def test_a_program_that_trains_nothing_has_no_training_budget(
    capsys: pytest.CaptureFixture[str], words: str, module: str
) -> None:
    """They had one, of a critic and Adam's states that such a program does not have."""
    status = dispatch(["budget", words, "--gpu", "H100", "--model", "Qwen/Qwen3-8B"])
    said = f"skyrl-doctor budget: no estimate: {module} trains no model; pass a script that trains one\n"
    assert (status, *capsys.readouterr()) == (2, "", said)


def test_a_secret_in_a_line_of_the_target_is_not_printed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "rl.toml"
    secret = f"hf_{'Ab3dE6gH1j' * 3}KlMn"
    example = Path(__file__).parents[3] / "examples" / "prime-rl-2025" / "first.toml"
    target.write_text(example.read_text().replace("html-env", secret))
    dispatch(["budget", str(target), "--gpu", "H200"])
    out, err = capsys.readouterr()
    assert ("orchestrator.env = {'name': '" in err, secret in f"{out}{err}") == (True, False)
