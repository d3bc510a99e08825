"""verl targets: command lines, scripts, Hydra YAML."""

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Location
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.load import load
from skyrl_doctor.plan.model import Plan, Problem, Value

SOURCE = "default of verl 0.9.1"
BEST = "verl 0.9.1 (the release that fits best)"


def plan(text: str, file: str = "run.sh", **answers: object) -> Plan:
    machine = RecordedMachine({"environ": {}, f"read {file}": text, **answers})
    return load(machine, (file,))


def messages(found: Plan) -> list[str]:
    return [problem.message for problem in found.problems]


def test_defaults_and_what_follows_from_them() -> None:
    found = plan("python3 -m verl.trainer.main_ppo data.max_response_length=700\n")
    assert found.values["rollout.max_tokens"] == Value(
        "rollout.max_tokens",
        700,
        None,
        written=False,
        own="actor_rollout_ref.rollout.response_length",
        source=SOURCE,
    )
    assert found.values["data.train_batch_size"].assignment == f"data.train_batch_size = 1024 ({SOURCE})"
    assert found.text("trainer.checkpoint_dir") == "checkpoints/verl_examples/gsm8k"
    assert found.find("rollout.engine") is None  # ??? in verl's file: not set
    assert found.problems == ()


def test_every_line_is_the_users_own() -> None:
    text = """\
#!/bin/bash
N=4
ARGS=(
    data.train_batch_size=$((N * 2))
    "trainer.logger=['console','wandb']"
)
uv run python3 -m verl.trainer.main_ppo --config-name=ppo_trainer \\
    "${ARGS[@]}" \\
    actor_rollout_ref.rollout.n=$N $@ 2>&1 | tee log
"""
    found = plan(text)
    assert {
        key: found.place(key) for key in ("data.train_batch_size", "trainer.logger", "rollout.n", "python.launcher")
    } == {
        "data.train_batch_size": Location("run.sh", 4, "data.train_batch_size"),
        "trainer.logger": Location("run.sh", 5, "trainer.logger"),
        "rollout.n": Location("run.sh", 9, "actor_rollout_ref.rollout.n"),
        "python.launcher": Location("run.sh", 7, "main_ppo"),
    }
    assert found.integer("data.train_batch_size") == 8
    assert found.texts("trainer.logger") == ("console", "wandb")
    assert found.text("python.launcher") == "uv run"


def test_what_hydra_would_refuse_is_a_problem_each() -> None:
    found = plan(
        "python3 -m verl.trainer.main_ppo data.train_batchsize=4 +data.max_prompt_length=3 ray_init.num_cpus=4 "
        "nonsense ~no.such data.val_files=[a +mine.own=1\n"
    )
    assert messages(found) == [
        "no release of verl has the key data.train_batchsize; did you mean data.train_batch_size?",
        "data.max_prompt_length exists already, and + only adds new keys; use data.max_prompt_length=… or ++data.max_prompt_length=…",
        f"{BEST} has no key ray_init.num_cpus; verl 0.4.0 to 0.5.0 have it, this verl calls it ray_kwargs.ray_init.num_cpus",
        "'nonsense' is not an override; expected KEY=VALUE",
        f"cannot delete no.such: {BEST} has no such key",
        "'data.val_files=[a': a list has no closing ]",
    ]
    assert found.own["mine.own"].value == 1


@pytest.mark.parametrize(
    ("end", "why"),
    [
        (" \\ \n", "line 1 has a blank after its backslash, which"),
        (" \\\n# note\n", "the comment in line 2"),
        ("\n", "a comment or a missing backslash"),
    ],
)
def test_the_end_of_a_command_is_explained(end: str, why: str) -> None:
    made = plan(f"python3 -m verl.trainer.main_ppo trainer.nnodes=1{end}  trainer.total_epochs=2\n", "run.sh")
    messages = [problem.message for problem in made.problems]
    assert messages == [f"verl does not get trainer.total_epochs=2: {why} ends the command of line 1 before it"]


def test_a_word_in_the_place_of_a_number_is_a_warning() -> None:
    words = "trainer.total_epochs=many actor_rollout_ref.actor.use_kl_loss=yes_please trainer.save_freq=10 actor_rollout_ref.actor.optim.lr=1e-6"
    made = plan(f"python3 -m verl.trainer.main_ppo {words}", "run.sh")
    label = "verl 0.9.1 (the newest release that knows these keys)"
    assert [(problem.message, problem.fatal) for problem in made.problems] == [
        (f"trainer.total_epochs = 'many'; expected a number, since {label} has 30", False),
        (f"actor_rollout_ref.actor.use_kl_loss = 'yes_please'; expected true or false, since {label} has False", False),
    ]


def test_an_old_key_of_the_supervised_trainer_has_its_new_name() -> None:
    made = plan("torchrun -m verl.trainer.sft_trainer model.partial_pretrain=m", "run.sh")
    (problem,) = made.problems
    assert problem.message.endswith("; did you mean model.path?")


@pytest.mark.parametrize(
    ("before", "value"),
    [
        ("#!/bin/bash\n#SBATCH --nodes=2\n", False),
        ("#!/bin/bash\n#SBATCH --nodes=2\nsrun ray start --head &\n", True),
        ("#!/bin/bash\n", None),
    ],
)
def test_a_job_says_whether_it_starts_ray(before: str, value: bool | None) -> None:
    made = plan(f"{before}python3 -m verl.trainer.main_ppo trainer.nnodes=2", "run.sh")
    found = made.own.get("ray start")
    assert (None if found is None else found.value) is value


def test_a_comment_ends_the_command() -> None:
    text = "python3 -m verl.trainer.main_ppo \\\n    data.train_batch_size=4 \\\n    # note \\\n    trainer.nnodes=2\n"
    found = plan(text)
    assert found.problems == (
        Problem(
            message="verl does not get trainer.nnodes=2: the comment in line 3 ends the command of line 1 before it",
            location=Location("run.sh", 4, "trainer.nnodes"),
        ),
    )
    assert found.integer("slurm.nodes") == 1


def test_only_the_last_of_several_calls_is_read() -> None:
    call = "python3 -m verl.trainer.main_ppo data.train_batch_size={}\n"
    found = plan(call.format(4) + call.format(6))
    assert found.integer("data.train_batch_size") == 6
    assert messages(found) == ["2 calls of main_ppo found; only the last one is checked, not line 1"]


def test_an_unset_variable_makes_the_value_unknown() -> None:
    found = plan("python3 -m verl.trainer.main_ppo data.train_batch_size=$SIZE trainer.project_name='${my.own}'\n")
    assert messages(found) == [
        "data.train_batch_size = $SIZE: SIZE is not set here",
        "trainer.project_name = ${my.own}: key my.own does not exist",
    ]


@pytest.mark.parametrize(
    ("lines", "gpus"),
    [
        ("#SBATCH --gres=gpu:8,nvme:1", 8),
        ("#SBATCH --gres=gpu", 1),
        ("#SBATCH --gres=gpu:", None),
        ("#SBATCH --gres=gpu:a100:4,gpu:h100:4", 8),
        ("#SBATCH --gres=nvme:1", None),
        ("#SBATCH --gpus=2\n#SBATCH --gpus-per-node=4", 4),
        ("#SBATCH --gpus=2\n#SBATCH hetjob\n#SBATCH --gpus=4", None),
        ("#SBATCH --gpus=2\nmodule load cuda\n#SBATCH --gpus=4", 2),
        ("\n# a\n  # b\n#SBATCH --gpus=2\nN=1\n#SBATCH --gpus=4", 2),
        ("set -e\n#SBATCH --gpus=2", None),
        ("#SBATCH --gres=gpu:8\n#SBATCH --gres=nvme:1", None),
    ],
)
def test_sbatch_lines_are_read_as_slurm_reads_them(lines: str, gpus: int | None) -> None:
    found = plan(f"#!/bin/bash\n{lines}\npython3 -m verl.trainer.main_ppo\n")
    asked = [value.value for value in found.own.values() if value.name.startswith(("#SBATCH --g", "#SBATCH -G"))]
    assert asked == ([] if gpus is None else [gpus])


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        ("#SBATCH --gres=gpu:h100:8", "h100"),
        ("#SBATCH --gres=gpu:nvidia_h100_80gb_hbm3:8,nvme:1", "nvidia_h100_80gb_hbm3"),
        ("#SBATCH --gres=gpu:3g.40gb:1", "3g.40gb"),
        ("#SBATCH --gpus-per-node=h200:8", "h200"),
        ("#SBATCH -G a100_80gb:2", "a100_80gb"),
        ("#SBATCH --gres=gpu:8", None),
        ("#SBATCH --gres=gpu:a100:4,gpu:h100:4", None),
        ("#SBATCH --gres=gpu:8 --constraint=h100", "h100"),
        ("#SBATCH --gres=gpu:a100:8 --constraint=a100_80gb", "a100_80gb"),
        ("#SBATCH --gres=gpu:8 --constraint=infiniband", None),
        ("#SBATCH --gres=gpu:8 -C h100\n#SBATCH --constraint=infiniband", None),
        ("#SBATCH --gpus-per-node=a100:8\n#SBATCH --gpus-per-node=8", None),
        ("#SBATCH --gpus=a100:8\n#SBATCH -G 8", None),
        ("#SBATCH --gres=gpu:a100:8\n#SBATCH --gpus=8", "a100"),
        ("#SBATCH --gres=gpu:8\n#SBATCH --gres=gpu:h100:8", "h100"),
        ("#SBATCH --gres=gpu:8 --constraint='a100|h100'", None),
    ],
)
def test_the_type_of_gpu_is_read_from_sbatch_lines(lines: str, kind: str | None) -> None:
    found = plan(f"#!/bin/bash\n{lines}\npython3 -m verl.trainer.main_ppo\n")
    assert found.text("slurm.gpu_type") == kind
    assert found.integer("slurm.gpus_per_node") == 8  # verl's own default


def test_exports_and_sbatch_lines_count() -> None:
    text = """\
#!/bin/bash
#SBATCH --partition=gpu --time=2:00:00
#SBATCH -N 2
#SBATCH --mem=64G --gres=gpu:a100:4
export WANDB_MODE=offline
srun python3 -m verl.trainer.main_ppo data.train_batch_size=4
"""
    found = plan(text)
    assert found.find("env") == Value("env", {"WANDB_MODE": "offline"}, Location("run.sh", 5, "export"), own="export")
    assert found.text("slurm.gpu_partition") == "gpu"
    assert found.text("slurm.trainer_time_limit") == "2:00:00"
    assert found.integer("slurm.trainer_memory_mib") == 65536
    assert found.integer("slurm.nodes") == 1  # verl's own trainer.nnodes: that is what it uses


def test_a_hydra_yaml_stands_on_the_defaults_that_it_names() -> None:
    text = "defaults:\n  - ppo_megatron_trainer\n  - _self_\ndata:\n  train_batch_size: 12\n"
    found = plan(text, "mine.yaml")
    assert found.place("data.train_batch_size") == Location("mine.yaml", 5, "data.train_batch_size")
    assert found.text("actor.strategy") == "megatron"
    alone = plan("actor_rollout_ref:\n  rollout:\n    n: 3\n", "mine.yaml")
    assert sorted(alone.values) == ["rollout.n"]


def test_the_installed_verls_own_file_comes_first() -> None:
    packages = "/opt/py/lib/python3.12/site-packages"
    verl, folder = f"{packages}/verl/trainer", {"kind": "dir", "mode": 493, "uid": 0, "gid": 0, "size": 1, "mtime": 0.0}
    found = plan(
        "/opt/py/bin/python -m verl.trainer.main_ppo trainer.n_gpus_per_node=2\n",
        **{
            "list /opt/py/lib": ["python3.12"],
            f"list {packages}": ["verl", "verl-0.9.4.dist-info"],
            f"stat {verl}/config": {**folder, "device": 1, "inode": 1},
            f"read {verl}/main_ppo.py": '@hydra.main(config_path="config", config_name="ppo_trainer")\n',
            f"read {verl}/config/ppo_trainer.yaml": "trainer:\n  n_gpus_per_node: 8\n  nnodes: 3\n",
        },
    )
    assert found.values["slurm.nodes"].assignment == "trainer.nnodes = 3 (default of the installed verl 0.9.4)"
    assert found.text("python.interpreter") == "/opt/py/bin/python"


def test_overrides_from_elsewhere_leave_no_default_certain() -> None:
    found = plan('source common.sh\npython3 -m verl.trainer.main_ppo "${COMMON[@]}" data.train_batch_size=4\n')
    assert messages(found) == ['"${COMMON[@]}": the array COMMON is not set here; its overrides are unknown']
    assert found.integer("data.train_batch_size") == 4
    with pytest.raises(CouldNotLook, match="COMMON"):
        found.integer("rollout.n")


def test_a_call_that_only_prints_is_no_run() -> None:
    call = "python3 -m verl.trainer.main_ppo data.train_batch_size=4"
    text = f"{call} --cfg job\n{call.replace('=4', '=6')}\nprintf '%q ' {call}\necho {call}\n"
    found = plan(text)
    assert (found.integer("data.train_batch_size"), messages(found)) == (6, [])


def test_a_bare_variable_that_is_not_set_adds_no_override() -> None:
    call = "python3 -m verl.trainer.main_ppo trainer.nnodes=2 $EXTRA_ARGS\n"
    found = plan(call)
    message = "EXTRA_ARGS is not set here, so $EXTRA_ARGS adds no override; set it here if the job sets it"
    assert messages(found) == [message]
    assert found.integer("rollout.n") == 1
    with pytest.raises(CouldNotLook, match="EXTRA_ARGS"):
        plan(f"source common.sh\n{call}").integer("rollout.n")
