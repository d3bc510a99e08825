"""skyrl-train init."""

import io
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from skyrl_doctor.cli.app import dispatch as doctor
from skyrl_train.cli.app import dispatch
from skyrl_train.config.load import shaped
from skyrl_train.config.translate import AGENT

AGENTS = f"changes the run: {AGENT}"
NO_TASKS = "data.train_files is not set: the source names no file of tasks; pass --tasks FILE"
VERL = "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=/m"
EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.jsonl").write_text("{}\n")


def errors(capsys: pytest.CaptureFixture[str], target: str) -> set[str]:
    """The ids of the errors that preflight finds in a configuration."""
    capsys.readouterr()
    doctor(["preflight", "--structure-only", "--format", "json", "--settings", "none", target])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return {one["id"] for one in found["outcomes"] if one["severity"] == "error"}


def effective() -> dict[str, dict[str, Any]]:
    """The settings of run.toml with the defaults of those that it does not write."""
    return shaped(tomllib.loads(Path("run.toml").read_text())).model_dump(mode="json")


@pytest.mark.parametrize(
    "source", ["verl/grpo_mig20.sh", "prime-rl/two_gpus.toml", "skyrl-agent/dev.conf", "skyrl-agent/verl_oh.yaml"]
)
def test_the_result_passes_as_far_as_its_source(source: str, capsys: pytest.CaptureFixture[str]) -> None:
    model = ("--model", "m") if source.endswith("verl_oh.yaml") else ()  # its dev.conf names the model
    assert dispatch(["init", "--from", str(EXAMPLES / source), *model]) == 0
    no_tasks = {"CFG007"} if "data.train_files is not set" in capsys.readouterr().out else set()
    assert errors(capsys, "run.toml") <= errors(capsys, str(EXAMPLES / source)) | no_tasks


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
    assert left["inference.gpu_memory_utilization"].endswith(
        ": not translated; rollout.gpu_memory_utilization is now 0.5 (the default)"
    )
    assert left["orchestrator.train.sampling.top_p"].endswith(
        ": not translated; rollout.top_p is now 1.0 (the default)"
    )


def test_an_unknown_value_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    Path("train.sh").write_text(f"{VERL} actor_rollout_ref.rollout.n=$N data.train_files=x.parquet\n")
    assert dispatch(["init", "--from", "train.sh"]) == 0
    named = [line for line in capsys.readouterr().out.splitlines() if "N is not set here" in line]
    assert named == ["not carried over: train.sh:1: actor_rollout_ref.rollout.n = $N: N is not set here"]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (
            "conf/train.yaml",
            "the source names no model: train.sh:1: could not be read: 'conf/train.yaml' is not an override; expected KEY=VALUE, or --config-path and --config-name for a file. If that is a file with the settings, pass it with --from; else pass --model NAME|DIR",
        ),
        ("trainer.nnodes=2", "the source names no model; pass --model NAME|DIR"),
        (
            "actor_rollout_ref.model.path=$MODEL",
            "train.sh:1: actor_rollout_ref.model.path = $MODEL: MODEL is not set here; pass --model NAME|DIR",
        ),
    ],
)
def test_a_source_without_a_model_is_refused(words: str, error: str, capsys: pytest.CaptureFixture[str]) -> None:
    """verl's own default is a model of its example, and the run would be another one."""
    Path("train.sh").write_text(f"python3 -m verl.trainer.main_ppo {words}\n")
    assert dispatch(["init", "--from", "train.sh"]) == 2
    assert capsys.readouterr().err == f"skyrl-train init: {error}\n"
    assert not Path("run.toml").exists()


def test_a_word_that_could_not_be_read_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    Path("train.sh").write_text("python3 -m verl.trainer.main_ppo conf/train.yaml custom_reward_function.path=r.py\n")
    assert dispatch(["init", "--from", "train.sh", "--model", "m"]) == 0
    assert capsys.readouterr().out.splitlines()[:4] == [
        "changes the run: train.sh:1: could not be read: 'conf/train.yaml' is not an override; expected KEY=VALUE, or --config-path and --config-name for a file",
        AGENTS,
        "changes the run: train.sh:1: custom_reward_function.path = r.py: not translated",
        f"changes the run: {NO_TASKS}",
    ]
    made = tomllib.loads(Path("run.toml").read_text())
    assert (made["model"], made.get("data")) == ({"path": "m"}, None)


@pytest.mark.parametrize(
    ("source", "changes"), [("skyrl-agent/dev.conf", 0), ("verl/grpo_mig20.sh", 1), ("mig20.toml", 0)]
)
def test_that_rollouts_become_agents_in_sandboxes_is_a_change(
    source: str, changes: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dispatch(["init", "--from", str(EXAMPLES / source)]) == 0
    assert capsys.readouterr().out.splitlines().count(AGENTS) == changes
    assert Path("run.toml").read_text().count(f"# {AGENT}\n") == changes


def test_three_answers_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("/models/m\n\n4\n"))
    assert dispatch(["init", "mine.toml"]) == 0
    assert tomllib.loads(Path("mine.toml").read_text()) == {
        "model": {"path": "/models/m"},
        "data": {"train_files": ["train.parquet"]},
        "slurm": {"gpus_per_node": 4},
    }
    assert capsys.readouterr().out.splitlines()[-1] == "next: skyrl-doctor preflight --structure-only mine.toml"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_mistyped_number_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("/models/m\n\nfour\n4\n"))
    assert dispatch(["init"]) == 0
    assert tomllib.loads(Path("run.toml").read_text())["slurm"] == {"gpus_per_node": 4}
    assert "'four' is not a number of GPUs; give a whole number from 1" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", Terminal("/models/m\n\n0\n-1\nx\n4\n"))
    assert dispatch(["init", "--force"]) == 2
    assert capsys.readouterr().err == "skyrl-train init: no number of GPUs in 3 answers; pass --gpus N\n"


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
    Path("run.toml").write_text("mine\n")
    assert dispatch(["init", "--from", "no.sh"]) == 2
    assert capsys.readouterr().err == "skyrl-train init: target no.sh: no such file or directory\n"


def test_a_missing_file_of_tasks_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["init", "--model", "m", "--gpus", "1", "--tasks", "no.jsonl"]) == 2
    assert capsys.readouterr().err == (
        "skyrl-train init: --tasks no.jsonl: no such file; write it with `skyrl-train data convert`\n"
    )
    assert not Path("run.toml").exists()


SKYRL = (
    "python -m skyrl.train.entrypoints.main_base trainer.policy.model.path=/m trainer.placement.policy_num_gpus_per_node=4 "
    "data.train_data=\"['t.parquet']\" trainer.algorithm.advantage_estimator=grpo {more}\n"
)


def test_the_loss_the_resume_and_the_names_of_a_skyrl_script_are_translated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    more = (
        "trainer.algorithm.use_kl_loss=true trainer.algorithm.kl_loss_coef=0.01 trainer.resume_mode=null "
        "trainer.eval_interval=5 trainer.eval_before_train=true trainer.project_name=gsm8k trainer.run_name=first "
        "trainer.logger=wandb trainer.placement.critic_num_gpus_per_node=4 trainer.algorithm.eps_clip_low=0.1"
    )
    Path("train.sh").write_text(SKYRL.format(more=more))
    assert dispatch(["init", "--from", "train.sh"]) == 0
    made = tomllib.loads(Path("run.toml").read_text())
    assert made["actor"] == {"ppo_mini_batch_size": 256, "kl_loss": True, "kl_loss_coefficient": 0.01}
    assert made["trainer"] == {
        "project": "gsm8k",
        "experiment": "first",
        "logger": ["wandb"],
        "save_every_steps": 10,
        "resume": "disable",
        "validate_every_steps": 5,
        "validate_first": True,
    }
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("changes the run: ")] == [
        AGENTS,
        "changes the run: train.sh:1: trainer.algorithm.eps_clip_low = 0.1: not translated",
    ]
    critic = "not carried over: train.sh:1: trainer.placement.critic_num_gpus_per_node = 4: not translated"
    assert [line for line in lines if line.startswith("not carried over: ")] == [critic]


def test_the_kl_loss_that_skyrl_has_by_default_is_written() -> None:
    Path("train.sh").write_text(SKYRL.format(more=""))
    assert dispatch(["init", "--from", "train.sh"]) == 0
    assert tomllib.loads(Path("run.toml").read_text())["actor"] == {"ppo_mini_batch_size": 256, "kl_loss": True}


@pytest.mark.parametrize(
    ("more", "lengths"),
    [
        ("", (512, 1024, 1024, 1536)),  # SkyRL's own defaults
        ("trainer.max_prompt_length=6000 generator.sampling_params.max_generate_length=3000", (6000, 3000, 3000, 9000)),
        (
            "trainer.max_prompt_length=6000 generator.max_input_length=29000 generator.sampling_params.max_generate_length=3000",
            (6000, 26000, 3000, 32000),
        ),
    ],
)
def test_the_context_of_a_skyrl_script_is_kept(
    more: str, lengths: tuple[int, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("train.sh").write_text(SKYRL.format(more=more))
    assert dispatch(["init", "--from", "train.sh"]) == 0
    assert "max_input_length" not in capsys.readouterr().out
    data, rollout = (effective()[table] for table in ("data", "rollout"))
    assert lengths == (
        data["max_prompt_tokens"],
        data["max_response_tokens"],
        rollout["max_tokens"],
        rollout["max_model_len"],
    )
    assert (rollout["n"], data["train_batch_size"]) == (5, 1024)


def test_an_input_length_that_is_not_known_is_named_first(capsys: pytest.CaptureFixture[str]) -> None:
    Path("train.sh").write_text(SKYRL.format(more="generator.max_input_length=$LONGEST"))
    assert dispatch(["init", "--from", "train.sh"]) == 0
    changes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("changes the run: ")]
    assert changes == [
        AGENTS,
        "changes the run: train.sh:1: generator.max_input_length = $LONGEST: LONGEST is not set here",
    ]


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("auto", ("auto", None)), ("disable", ("disable", None)), ("resume_path", ("path", "/c/global_step_5"))],
)
def test_a_checkpoint_is_resumed_from_only_if_the_source_does(
    mode: str, expected: tuple[str, str | None], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("train.sh").write_text(
        f"{VERL} data.train_files=t.jsonl trainer.resume_mode={mode} trainer.resume_from_path=/c/global_step_5\n"
    )
    assert dispatch(["init", "--from", "train.sh"]) == 0
    left = "train.sh:1: trainer.resume_from_path = /c/global_step_5: the source does not resume from a named checkpoint"
    assert (left in capsys.readouterr().out) == (expected[1] is None)
    trainer = effective()["trainer"]
    assert (trainer["resume"], trainer["resume_from"]) == expected


LORA = "[model]\nname = 'm'\n[deployment]\ntype = 'single_node'\n[trainer.model.lora]\n{lora}\n"
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@pytest.mark.parametrize(
    ("lora", "expected"),
    [
        ("rank = 8", (8, 32, PROJECTIONS)),  # prime-rl's own defaults
        ("alpha = 64", (16, 64, PROJECTIONS)),
        ("rank = 8\nalpha = 16.0\ntarget_modules = ['q_proj']\ndropout = 0.0", (8, 16, ("q_proj",))),
    ],
)
def test_an_adapter_of_prime_rl_is_kept(
    lora: str, expected: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("rl.toml").write_text(LORA.format(lora=lora))
    assert dispatch(["init", "--from", "rl.toml", "--tasks", "t.jsonl"]) == 0
    assert "lora" not in capsys.readouterr().out
    model = effective()["model"]
    assert (model["lora_rank"], model["lora_alpha"], tuple(model["lora_targets"])) == expected


def test_a_default_that_the_source_writes_out_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        "reward_model.enable={}",
        "reward_model.reward_manager={}",
        "actor_rollout_ref.rollout.data_parallel_size={}",
    )
    for values, count in ((("False", "naive", "1"), 0), (("True", "dapo", "2"), 3)):
        written = " ".join(word.format(value) for word, value in zip(words, values, strict=True))
        Path("train.sh").write_text(f"{VERL} data.train_files=t.parquet {written}\n")
        assert dispatch(["init", "--from", "train.sh", "--force"]) == 0
        shown = capsys.readouterr().out
        assert (shown.count("changes the run: "), shown.count("not carried over: ")) == (count + 1, 3 - count)


@pytest.mark.parametrize("gpus", ["0", "-3"])
@pytest.mark.parametrize("source", [(), ("--from", "train.sh")])
def test_a_number_of_gpus_is_a_whole_number_from_1(
    gpus: str, source: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("train.sh").write_text(SCRIPT)
    assert dispatch(["init", *source, "--model", "m", "--tasks", "t.jsonl", "--gpus", gpus]) == 2
    assert capsys.readouterr().err == f"skyrl-train init: --gpus is {gpus}; give a whole number from 1\n"
    assert not Path("run.toml").exists()


@pytest.mark.parametrize(("gpus", "nodes", "each"), [(1, 1, 1), (8, 1, 8), (16, 2, 8), (24, 3, 8)])
def test_the_gpus_that_are_asked_for_are_those_of_all_nodes(gpus: int, nodes: int, each: int) -> None:
    Path("train.sh").write_text(SCRIPT)  # of two nodes with eight
    assert dispatch(["init", "--from", "train.sh", "--gpus", str(gpus)]) == 0
    made = tomllib.loads(Path("run.toml").read_text())["slurm"]
    assert (made["nodes"], made["gpus_per_node"]) == (nodes, each)


def test_gpus_that_fill_no_whole_nodes_of_the_source_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("train.sh").write_text(SCRIPT)
    assert dispatch(["init", "--from", "train.sh", "--gpus", "12"]) == 2
    assert "the source has 8 GPUs on a node: pass a multiple of 8, or fewer" in capsys.readouterr().err


def test_what_an_option_settles_is_no_problem_of_the_source(capsys: pytest.CaptureFixture[str]) -> None:
    Path("train.sh").write_text(f"{VERL} trainer.n_gpus_per_node=$GPUS\n")
    assert dispatch(["init", "--from", "train.sh", "--gpus", "8"]) == 0
    assert "$GPUS" not in capsys.readouterr().out
    assert "$GPUS" not in Path("run.toml").read_text()


PRIME = """
[model]
name = "m"
[trainer.optim]
lr = 3e-6
[orchestrator]
batch_size = 512
group_size = {group}
[deployment]
num_train_gpus = 2
num_infer_gpus = 6
"""


def test_a_run_of_prime_rl_keeps_its_learning_rate_and_its_gpus(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rl.toml").write_text(PRIME.format(group=16) + "[inference]\n")
    assert dispatch(["init", "--from", "rl.toml", "--tasks", "t.jsonl"]) == 0
    made = tomllib.loads(Path("run.toml").read_text())
    assert (made["actor"]["lr"], made["data"]["train_batch_size"], made["slurm"]["gpus_per_node"]) == (3e-6, 32, 8)
    shared = "the trainer and the server of a run.toml share all GPUs"
    assert capsys.readouterr().out.splitlines() == [
        AGENTS,
        f"changes the run: rl.toml:10: deployment.num_train_gpus = 2: {shared}",
        f"changes the run: rl.toml:11: deployment.num_infer_gpus = 6: {shared}",
        "run.toml written: 7 settings, 3 changes of the run",
        "next: skyrl-doctor preflight --structure-only run.toml",
    ]


@pytest.mark.parametrize(
    ("orchestrator", "n", "batch"),
    [
        ("batch_size = 512", 1, 512),
        ("[[orchestrator.train.source]]\nname = 'a'\ngroup_size = 8", 8, 16),
        (
            "batch_size = 64\n[[orchestrator.train.source]]\ngroup_size = 4\n[[orchestrator.train.source]]\ngroup_size = 4",
            4,
            16,
        ),
    ],
)
def test_a_run_of_prime_rl_keeps_its_batch(orchestrator: str, n: int, batch: int) -> None:
    """Its own defaults are 1 rollout of a prompt and 128 of a step."""
    Path("rl.toml").write_text(
        f"[model]\nname = 'm'\n[deployment]\ntype = 'single_node'\n[orchestrator]\n{orchestrator}\n"
    )
    assert dispatch(["init", "--from", "rl.toml", "--tasks", "t.jsonl"]) == 0
    made = tomllib.loads(Path("run.toml").read_text())
    assert (made["rollout"]["n"], made["data"]["train_batch_size"], made["actor"]["ppo_mini_batch_size"]) == (
        n,
        batch,
        batch,
    )


def test_the_lengths_of_prime_rl_are_translated(capsys: pytest.CaptureFixture[str]) -> None:
    lengths = "seq_len = 10000\n" + PRIME.format(group=16) + "[orchestrator.sampling]\nmax_tokens = 512\n[inference]\n"
    Path("rl.toml").write_text(lengths)
    assert dispatch(["init", "--from", "rl.toml"]) == 0
    made = tomllib.loads(Path("run.toml").read_text())
    assert (made["rollout"]["max_tokens"], made["rollout"]["max_model_len"]) == (512, 10000)
    assert made["data"]["max_response_tokens"] == 10000 - 2048
    printed = capsys.readouterr().out
    assert "not carried over" not in printed
    assert printed.splitlines()[-2:] == [
        "first: set data.train_files in run.toml, the file of training tasks",
        "next: skyrl-doctor preflight --structure-only run.toml",
    ]


def test_rollouts_that_are_no_whole_prompts_and_missing_tasks_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rl.toml").write_text(PRIME.format(group=3))
    assert dispatch(["init", "--from", "rl.toml"]) == 0
    lines = capsys.readouterr().out.splitlines()
    why = "counts rollouts, and the source has no rollout.n that divides it; set data.train_batch_size in prompts"
    assert f"changes the run: rl.toml:7: orchestrator.batch_size = 512: {why}" in lines
    assert f"changes the run: {NO_TASKS}" in lines


def test_the_comments_keep_lines_whole_and_begin_with_what_changes_the_run() -> None:
    path = f"{'long-' * 30}name.sh"
    Path(path).write_text(
        f"{VERL} actor_rollout_ref.actor.strategy=megatron data.truncation=left data.train_files=t.parquet\n"
    )
    assert dispatch(["init", "--from", path]) == 0
    lines = Path("run.toml").read_text().splitlines()
    change, left = (
        next(line for line in lines if f": {name} = " in line)
        for name in ("actor_rollout_ref.actor.strategy", "data.truncation")
    )
    assert change.startswith(f"# {path}:1: ")
    assert lines.index(change) < 6
    assert lines[-2:] == ["# Not carried over:", left]


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
