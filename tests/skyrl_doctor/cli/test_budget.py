"""The command, from its words to its table."""

import json
import re
import subprocess
import sys
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


def test_the_notes_last_configuration_fits_on_its_slice(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = budget(capsys, MIG20, "--gpu", "2g.20gb")
    assert (status, err) == (0, "")
    assert "fits:    yes, with " in out
    assert "A100-80GB 2g.20gb has 19.5 GiB" in out


def test_does_not_fit_is_status_1_and_names_changes_in_the_users_words(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = budget(capsys, MIG20, "--gpu-memory", "9GiB")
    assert status == 1
    assert "fits:    no, " in out
    assert out[out.index("changes that") :].split("\n  - ")[0] == (
        "changes that help most; no single one is enough, but the first and the second\n         together fit:"
    )
    assert "model.lora_rank = 32" in out


def test_only_changes_that_the_program_has_a_setting_for_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "python -m skyrl.train.entrypoints.main_base trainer.policy.model.path=Qwen/Qwen3-8B "
        "trainer.micro_forward_batch_size_per_gpu=64 generator.sampling_params.max_generate_length=16384"
    )
    status, out, _ = budget(capsys, words, "--gpu", "H100", "--format", "json")
    found = json.loads(out)["changes"]
    assert status == 1
    assert found
    assert all(change["settings"] for change in found)


def test_a_key_that_does_not_help_is_told_with_the_phase_that_is_full(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = budget(capsys, MIG20, "--gpu-memory", "7GiB", "--solve", "rollout.n")
    assert status == 1
    assert re.search(
        r"^solve:   no value of n fits; with the smallest the peak is [0-9.]+ GiB in [a-z]", out, re.MULTILINE
    )


def test_a_sequence_beyond_the_models_positions_is_noted(capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "python -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen2.5-0.5B-Instruct"
        " data.max_response_length=40000"
    )
    _, out, _ = budget(capsys, words, "--gpu", "H200")
    said = " ".join(out.split())
    assert "note: prompt + response = 40512 tokens, but the model has only 32768 positions (CFG005)" in said


VERL = "python -m verl.trainer.main_ppo algorithm.adv_estimator=grpo actor_rollout_ref.model.use_remove_padding=True"


def test_model_names_another_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    from skyrl_train.memory.known import known_config

    status, _, err = budget(capsys, f"{VERL} actor_rollout_ref.model.path=me/mine", "--gpu", "H200")
    assert (status, "pass --model with a directory, a config.json or a public name" in err) == (2, True)
    file = tmp_path / "config.json"
    file.write_text(json.dumps(known_config("Qwen/Qwen3-0.6B")))
    for model in ("Qwen3-0.6B", str(tmp_path), str(file)):
        status, out, _ = budget(capsys, VERL, "--gpu", "H200", "--model", model)
        assert (status, f"model: {model} (" in " ".join(out.split())) == (0, True)


def test_a_path_behind_a_variable_goes_by_its_last_part(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = budget(capsys, f"{VERL} actor_rollout_ref.model.path=$NOWHERE/Qwen3-0.6B", "--gpu", "H200")
    assert (status, "shape of the public model" in out) == (0, True)


def test_two_figures_with_their_verdicts(capsys: pytest.CaptureFixture[str]) -> None:
    one = "trainer.n_gpus_per_node=1 actor_rollout_ref.rollout.tensor_model_parallel_size=1"
    many = "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=64 data.max_response_length=4096"
    words = (f"{VERL} {one} {many}", "--gpu", "H100", "--model", "Qwen3-0.6B", "--solve", "micro_batch")
    lengths = ("--prompt-tokens", "100,200", "--reply-tokens", "400,2000")
    worst, _, _ = budget(capsys, *words)
    status, out, _ = budget(capsys, *words, *lengths, "--format", "json")
    told = json.loads(out)
    assert (worst, status) == (1, 0)
    assert (told["device"]["fits"], told["expected"]["fits"]) == (False, True)
    assert told["expected"]["lengths"] == "prompts 100 to 200 tokens, replies 400 to 2000 tokens"
    assert told["solve"]["expected_value"] > told["solve"]["value"]


def test_bad_lengths_are_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = budget(capsys, VERL, "--model", "Qwen3-8B", "--gpu", "H100", "--reply-tokens", "2000,400")
    assert (status, out) == (2, "")
    assert "P99 not below P50" in err


@pytest.mark.parametrize("more", [(), ("-v",), ("--reply-tokens", "100,500"), ("--solve", "micro_batch")])
def test_the_screen_has_80_columns(capsys: pytest.CaptureFixture[str], more: tuple[str, ...]) -> None:
    run = f"{VERL} algorithm.adv_estimator=gae actor_rollout_ref.actor.use_kl_loss=True"
    _, out, _ = budget(capsys, run, "--model", "Qwen3-8B", "--gpu", "H100", *more)
    assert [line for line in out.splitlines() if len(line) > 80] == []


def test_a_step_has_a_time_and_the_host_a_size(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = budget(capsys, VERL, "--model", "Qwen3-8B", "--gpu", "H100", "--format", "json")
    told = json.loads(out)
    seconds = told["step_seconds"]
    assert list(seconds) == ["total", "rollout", "log_prob", "update", "weight_sync", "measured"]
    parts = seconds["rollout"] + seconds["log_prob"] + seconds["update"] + seconds["weight_sync"]
    assert seconds["total"] == pytest.approx(parts, abs=0.03)
    assert told["host"]["gib_per_gpu"] > 5


def test_json_holds_what_the_design_promises(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = budget(capsys, MIG20, "--gpu", "H200", "--format", "json", "--solve", "rollout.n")
    told = json.loads(out)
    assert status == 0
    assert set(told) == {
        "schema",
        "trainer",
        "vllm",
        "device",
        "model",
        "problems",
        "expected",
        "host",
        "step_seconds",
        "changes",
        "together",
        "solve",
    }
    assert set(told["trainer"]) == {"peak_allocated_gib", "peak_reserved_gib", "phase", "phases"}
    assert set(told["vllm"]) == {"weights_gib", "kv_gib", "graphs_gib", "asleep_gib"}
    assert set(told["device"]) == {"peak_gib", "band_gib", "phase", "limit_gib", "fits"}
    assert told["device"]["fits"] is True
    low, high = told["device"]["band_gib"]
    assert low <= told["device"]["peak_gib"] <= high
    assert told["solve"]["key"] == "n"


def test_the_parts_of_each_phase_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = budget(capsys, MIG20, "--gpu", "H200", "--format", "json")
    told = json.loads(out)
    fullest = max(sum(parts.values()) for parts in told["trainer"]["phases"].values())
    assert fullest == pytest.approx(told["device"]["peak_gib"], abs=0.05)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((MIG20, "--gpu", "voodoo2"), "unknown GPU 'voodoo2'"),
        ((MIG20, "--gpu-memory=-3GiB"), "'-3GiB' is not a size"),
        ((MIG20, "--gpu-memory", "0GiB"), "'0GiB' is not a size"),
        ((MIG20, "--gpu", "voodoo2"), "for another GPU give its size, such as --gpu-memory 20GiB"),
        ((MIG20, "--gpu", "H200", "--solve", "nope"), "'nope'"),
        ((MIG20, "--gpu", "H200", "--solve", ""), "cannot solve for ''"),
        ((MIG20, "--gpu", "H200", "--figure", ""), "the file name must end in .svg, .png or .html"),
        ((MIG20, "--gpu", "H200", "--figure", "a.pdf"), "the file name must end in .svg, .png or .html"),
        (("no-such-file.toml", "--gpu", "H200"), "no-such-file.toml"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    status, out, err = budget(capsys, *words)
    assert (status, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("hidden_size", -1), "hidden_size"),
        (("model_type", "rwkv"), "rwkv"),
        (("num_local_experts", 8), "has no experts"),
    ],
)
def test_a_model_that_cannot_be_told_gives_no_number(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, change: tuple[str, object], said: str
) -> None:
    from skyrl_train.memory.known import known_config

    (tmp_path / "config.json").write_text(
        json.dumps({**(known_config("Qwen/Qwen2.5-0.5B") or {}), change[0]: change[1]})
    )
    target = tmp_path / "run.toml"
    target.write_text((ROOT / MIG20).read_text().replace("Qwen/Qwen2.5-Coder-0.5B-Instruct", str(tmp_path)))
    status, out, err = budget(capsys, str(target), "--gpu", "H200")
    assert (status, out) == (2, "")
    assert "no estimate" in err
    assert said in err


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_setting_that_is_none_is_told_beside_the_figures(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, form: str
) -> None:
    target = tmp_path / "run.toml"
    target.write_text(
        (ROOT / MIG20).read_text().replace("gpu_memory_utilization = 0.5", "gpu_memory_utilisation = 0.9")
    )
    status, out, err = budget(capsys, str(target), "--gpu", "H200", "--format", form)
    assert (status, bool(out)) == (0, True)
    assert re.fullmatch(
        rf"skyrl-doctor budget: {target}:\d+: unknown setting `rollout.gpu_memory_utilisation`; did you mean "
        r"`rollout.gpu_memory_utilization`\?\n",
        err,
    )


SCRIPT = """#SBATCH --gres=gpu:a100:4
python3 -m verl.trainer.main_ppo data.max_prompt_length=1024 data.max_response_length=4096 \\
    actor_rollout_ref.rollout.tensor_model_parallel_size=2 actor_rollout_ref.rollout.name=vllm \\
    actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct trainer.n_gpus_per_node=4 trainer.nnodes=1
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "run.sh"
    path.write_text(SCRIPT, encoding="utf-8")
    return str(path)


def test_another_number_of_gpus_than_the_configurations_is_printed(
    script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        "\ngpus:    2 (--gpus; the configuration has 4)\n" in budget(capsys, script, "--gpu", "H100", "--gpus", "2")[1]
    )
    assert "gpus:" not in budget(capsys, script, "--gpu", "H100", "--gpus", "4")[1]


def test_gpus_that_do_not_divide_name_the_key_its_line_and_what_to_do(
    script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = (
        f"skyrl-doctor budget: no estimate: actor_rollout_ref.rollout.tensor_model_parallel_size ({script}:3) is 2, which "
        "does not divide the 1 GPU of the trainer; pass --gpus with a multiple of it\n"
    )
    assert budget(capsys, script, "--gpu", "H100", "--gpus", "1") == (2, "", expected)


@pytest.mark.parametrize(
    ("name", "device"),
    [("A100-40G", "A100-40GB"), ("a100-80g", "A100-80GB"), ("8xH100", "H100-80GB"), ("gpu:h200:4", "H200")],
)
def test_a_gpu_has_many_names(name: str, device: str, script: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"device:  {device} has " in budget(capsys, script, "--gpu", name)[1]


@pytest.mark.parametrize(("name", "near"), [("H10", "H100"), ("V100", "V100-32GB"), ("3090", "RTX-3090")])
def test_a_misspelt_gpu_has_a_neighbour(name: str, near: str, script: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = f"unknown GPU {name!r}; did you mean {near}?; known GPUs: "
    assert said in budget(capsys, script, "--gpu", name)[2]


@pytest.mark.parametrize("gpus", ["0", "-4"])
def test_a_number_of_gpus_below_one_is_of_the_option(
    gpus: str, script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = f"skyrl-doctor budget: --gpus is {gpus}; expected 1 or more\n"
    assert budget(capsys, script, "--gpu", "H100", "--gpus", gpus) == (2, "", said)


def test_a_requested_gpu_of_two_sizes_is_to_be_named(
    script: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert budget(capsys, script) == (
        2,
        "",
        "skyrl-doctor budget: #SBATCH --gres: a100 is a GPU of A100-40GB or A100-80GB; name one of them with --gpu\n",
    )


def test_an_override_is_no_file(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert budget(capsys, script, "trainer.n_gpus_per_node=1", "--gpu", "H100")[2] == (
        "skyrl-doctor budget: target trainer.n_gpus_per_node=1: a setting, not a file; write it into the script, or pass the "
        "whole command in quotes\n"
    )


def test_the_time_of_replies_at_their_limit_is_the_most(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    def said(*words: str) -> str:
        return " ".join(budget(capsys, script, "--gpu", "H200", *words)[1].split())

    assert re.search(
        r"time: \d+ \w+ a step without the time of tools, if each reply has all 4096 tokens \(rollouts \d+%.{0,80}\) note: measured .* note: a better .* --reply-tokens",
        said(),
    )
    assert re.search(r"time: about \d+ \w+ a step without the time of tools \(", said("--reply-tokens", "200,900"))


def test_weights_that_fill_the_gpu_leave_nothing_free(script: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = " ".join(budget(capsys, script, "--gpu-memory", "20GiB", "--gpus", "2")[1].split())
    assert re.search(r"vLLM cannot start: the trainer's weights alone need \d+ GiB of a GPU that has 20.0 GiB", said)


def test_a_cache_that_is_too_small_says_which_share_is_enough(
    script: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    small = tmp_path / "small.sh"
    small.write_text(
        SCRIPT.replace("rollout.name=vllm", "rollout.name=vllm actor_rollout_ref.rollout.gpu_memory_utilization=0.1")
    )
    said = " ".join(budget(capsys, str(small), "--gpu", "A100-80GB")[1].split())
    assert re.search(
        r"gpu_memory_utilization gives vLLM 7\.9 GiB, but its weights need [\d.]+ GiB and a forward pass [\d.]+ GiB; raise it to 0\.\d\d, or use more GPUs for each engine",
        said,
    )


def test_no_gpu_here_says_how_to_name_one(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    status, out, err = budget(capsys, MIG20)
    assert (status, out) == (2, "")
    assert "pass --gpu NAME or --gpu-memory SIZE" in err


def test_draws_the_same_figure_twice_and_leaves_nothing_else(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    drawn = []
    for name in ("one.svg", "two.svg"):
        assert budget(capsys, MIG20, "--gpu", "H200", "--figure", str(tmp_path / name))[0] == 0
        drawn.append((tmp_path / name).read_bytes())
    assert drawn[0] == drawn[1]
    assert b"update step 2 and after" in drawn[0] or b"<svg" in drawn[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.svg", "two.svg"]


def test_a_page_holds_the_figure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "memory.html"
    assert budget(capsys, MIG20, "--gpu", "H200", "--figure", str(page))[0] == 0
    text = page.read_text(encoding="utf-8")
    assert (text.startswith("<!doctype html>"), text.count("<svg"), text.endswith("</html>\n")) == (True, 1, True)
    assert [path.name for path in tmp_path.iterdir()] == ["memory.html"]


def test_a_figure_that_cannot_be_written_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = budget(capsys, MIG20, "--gpu", "H200", "--figure", "/no/such/place.png")
    assert status == 2
    assert err == "skyrl-doctor budget: cannot write /no/such/place.png: No such file or directory\n"


OTHER_DIALECTS = {
    "skyrl_doctor.plan.dialects.prime_command",
    "skyrl_doctor.plan.dialects.skyrl",
    "skyrl_doctor.plan.dialects.skyrl_trainer",
}
HEAVY = {"matplotlib", "numpy", "pydantic", "checks", "rich", "skyrl_doctor.machine.redact", "skyrl_doctor.core.engine"}
HEAVY |= {"asyncio", "http.client", "multiprocessing", "ssl", "statistics"}
SHELL = {"tree_sitter", "skyrl_doctor.plan.syntax.shell", "skyrl_doctor.plan.dialects.verl.read"}


@pytest.mark.parametrize(
    ("target", "unneeded"),
    [
        ("examples/verl/grpo_mig20.sh", {"tomllib", "yaml", "skyrl_doctor.plan.dialects.prime", *OTHER_DIALECTS}),
        ("examples/prime-rl/two_gpus.toml", {"yaml", *SHELL, *OTHER_DIALECTS}),
        (MIG20, {"yaml", *SHELL, *OTHER_DIALECTS}),
    ],
)
def test_loads_only_what_the_target_needs(target: str, unneeded: set[str]) -> None:
    code = (
        "import sys; from skyrl_doctor.cli.app import dispatch\n"
        f"status = dispatch(['budget', {target!r}, '--gpu', 'H200'])\n"
        "sys.stderr.write(','.join(sys.modules))\n"
        "sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True, cwd=ROOT
    )
    loaded = set(done.stderr.rpartition("\n")[2].split(","))
    assert (HEAVY | unneeded) & loaded == set()
    assert "skyrl_train.memory" in loaded


def test_the_options_load_no_memory_model() -> None:
    """Every command of the doctor reads them."""
    code = "import sys, skyrl_doctor.cli.budget; sys.stdout.write(','.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True, cwd=ROOT
    )
    loaded = set(done.stdout.split(","))
    assert [name for name in loaded if name.startswith(("skyrl_train.memory", "skyrl_doctor.plan"))] == []
