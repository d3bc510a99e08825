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
            f"{NO_MODEL}. Also: MAX_PROMPT_LENGTH and MAX_RESPONSE_LENGTH are not set; pass the file that sets them too, or a file with the lines MAX_PROMPT_LENGTH=N and MAX_RESPONSE_LENGTH=N",
        ),
        (
            "rl.toml",
            "[deployment]\ntype = 'multi_node'\n[trainer.model]\nseq_len = 4096\n[orchestrator]\ngroup_size = 8\n",
            f"{NO_MODEL}. Also: deployment.num_train_nodes is not set; pass --gpus N",
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


def test_two_lines_are_the_lengths_of_a_task(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file that the refusal describes."""
    task, lengths = tmp_path / "task.yaml", tmp_path / "dev.conf"
    task.write_text("agent_cls: a.B\ntask: c.D\ngenerator:\n  num_trajectories: 8\n  max_iterations: 30\n")
    lengths.write_text("MAX_PROMPT_LENGTH=1024\nMAX_RESPONSE_LENGTH=1024\n")
    status = dispatch(["budget", str(task), str(lengths), "--gpu", "H100", "--model", "Qwen/Qwen3-0.6B"])
    assert (status, "fits:    yes" in capsys.readouterr().out) == (0, True)


def test_a_script_of_variables_gets_the_lines_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "dev.conf"
    script.write_text("MODEL=Qwen/Qwen3-0.6B\nTRAIN_BATCH_SIZE=8\nMAX_PROMPT_LENGTH=1024\nNUM_TRAJECTORIES=8\n")
    words = ["budget", str(script), "--gpu", "H100"]
    said = "MAX_RESPONSE_LENGTH is not set; pass the file that sets it too, or add the line MAX_RESPONSE_LENGTH=N at the top of a copy"
    assert (dispatch(words), capsys.readouterr().err) == (2, f"skyrl-doctor budget: no estimate: {said}\n")
    script.write_text(f"{script.read_text()}MAX_RESPONSE_LENGTH=1024\n")
    assert dispatch(words) == 0


def test_sizes_of_megatron_that_divide_no_gpus_say_what_to_pass(capsys: pytest.CaptureFixture[str]) -> None:
    run = "python -m verl.trainer.main_ppo model_engine=megatron actor_rollout_ref.actor.megatron.tensor_model_parallel_size=16"
    status = dispatch(["budget", run, "--gpu", "H100", "--model", "Qwen/Qwen3-0.6B", "--gpus", "8"])
    said = "tensor x pipeline x context parallel is 16, which does not divide the 8 GPUs of the trainer"
    assert (status, capsys.readouterr().err) == (
        2,
        f"skyrl-doctor budget: no estimate: {said}; pass --gpus with a multiple of it\n",
    )


def test_gpus_that_a_size_does_not_divide_are_to_be_passed_again(capsys: pytest.CaptureFixture[str]) -> None:
    run = "python -m verl.trainer.main_ppo actor_rollout_ref.rollout.tensor_model_parallel_size=16"
    status = dispatch(["budget", run, "--gpu", "H100", "--model", "Qwen/Qwen3-0.6B", "--gpus", "8"])
    said = "which does not divide the 8 GPUs of the trainer; pass --gpus with a multiple of it"
    key = "actor_rollout_ref.rollout.tensor_model_parallel_size (command line:1) is 16"
    assert (status, capsys.readouterr().err) == (2, f"skyrl-doctor budget: no estimate: {key}, {said}\n")
    assert dispatch(["budget", run, "--gpu", "H100", "--model", "Qwen/Qwen3-0.6B", "--gpus", "16"]) in (0, 1)
