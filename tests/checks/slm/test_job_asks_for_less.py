"""SLM005."""

import pytest

from plans import example, found, plan, verdict
from skyrl_doctor.core.model import Location, Severity, Status
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan

RUN = "python3 -m verl.trainer.main_ppo trainer.nnodes=2 trainer.n_gpus_per_node=8"

RUNS = {
    "SEVEN": "python3 -m verl.trainer.main_ppo trainer.n_gpus_per_node=8 actor_rollout_ref.model.path=Qwen/Qwen2.5-7B-Instruct trainer.save_freq=20",
    "OFFLOADED": (
        "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.max_prompt_length=1024 "
        "data.max_response_length=2048 trainer.n_gpus_per_node=8 trainer.save_freq=20 "
        "actor_rollout_ref.model.path=Qwen/Qwen3-8B actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 "
        "actor_rollout_ref.rollout.name=vllm actor_rollout_ref.actor.fsdp_config.param_offload=True "
        "actor_rollout_ref.actor.fsdp_config.optimizer_offload=True"
    ),
}


def script(*options: str, run: str = RUN) -> Plan:
    return plan("#!/bin/bash\n" + "".join(f"#SBATCH {option}\n" for option in options) + run + "\n", "run.sh")


FEWER_GPUS = "the job asks for 8 GPUs, but the run uses 16 (trainer.n_gpus_per_node)"


@pytest.mark.parametrize(
    ("options", "message", "key", "expected", "value", "instead"),
    [
        (
            ("--nodes=1", "--gres=gpu:8"),
            "the job asks for 1 node, but the run uses 2 (trainer.nnodes)",
            "--nodes",
            "2",
            "2",
            "trainer.nnodes = 1",
        ),
        (("-N 2", "--gres=gpu:h100:4"), FEWER_GPUS, "--gres", "8", "gpu:h100:8", "trainer.n_gpus_per_node = 4"),
        (("-N 2", "--gres=gpu:4"), FEWER_GPUS, "--gres", "8", "gpu:8", "trainer.n_gpus_per_node = 4"),
        (("-N 2", "--gpus-per-node=4"), FEWER_GPUS, "--gpus-per-node", "8", "8", "trainer.n_gpus_per_node = 4"),
        (("-N 2", "--gpus-per-node=a100:4"), FEWER_GPUS, "--gpus-per-node", "8", "a100:8", "trainer.n_gpus_per_node = 4"),
        (("-N 2", "--gpus=8"), FEWER_GPUS, "--gpus", "16", "16", "trainer.n_gpus_per_node = 4"),
    ],
)  # fmt: skip
def test_the_job_has_too_little(
    options: tuple[str, ...], message: str, key: str, expected: str, value: str, instead: str
) -> None:
    """Both ways are named and none is written: the nodes may not have more GPUs."""
    own = f"#SBATCH {key}"
    line = next(number for number, option in enumerate(options, 2) if option.startswith(key))
    assert found("SLM005", script(*options)) == [
        config_finding(
            f"{message}; expected {expected} in {own}",
            Location("run.sh", line, own),
            summary=f"set {own}={value}, or {instead}",
        )
    ]


@pytest.mark.parametrize(
    "options",
    [
        ("--nodes=2", "--gres=gpu:8"),
        ("--nodes=4", "--gres=gpu:8"),
        ("-N 2", "--gpus=16"),
        ("--time=1:00:00",),
        ("--nodes=2",),
    ],
)
def test_enough_or_not_named(options: tuple[str, ...]) -> None:
    assert found("SLM005", script(*options, run=f"{RUN} trainer.save_freq=5")) == []


def test_a_time_limit_without_checkpoints() -> None:
    made = script("--time=1:00:00", run=f"{RUN} trainer.save_freq=-1")
    assert found("SLM005", made) == [
        config_finding(
            "the job ends after 1:00:00, and trainer.save_freq = -1 saves no checkpoint: at the limit everything is lost",
            Location("run.sh", 3, "trainer.save_freq"),
            severity=Severity.INFO,
            summary="save checkpoints",
        )
    ]


def test_silent_on_clean_configurations() -> None:
    assert found("SLM005", example("examples/verl/grpo_mig20.sh")) == []
    assert verdict("SLM005", example("examples/mig20.toml")) == (Status.SKIP, "no #SBATCH lines of this run were found")


def warnings(made: Plan) -> list[str]:
    findings = found("SLM005", made)
    assert all(finding.severity is Severity.WARNING for finding in findings)
    return [finding.message for finding in findings]


SAVING = f"{RUN} trainer.save_freq=5"
DRIVER = SAVING.removeprefix("python3")


@pytest.mark.parametrize(
    ("run", "is_judged"),
    [
        (f"ray job submit --address=http://head:8265 -- {RUN}", False),
        (f"/opt/venv/bin/ray job submit --no-wait -- {RUN}", False),
        (f"srun bash -c 'ray start --head' &\nray job submit -- {RUN}", True),
        (f"ray start --head\nray job submit -- {RUN}", True),
    ],
)
def test_a_job_that_submits_to_another_cluster_is_not_judged_as_the_run(run: str, is_judged: bool) -> None:
    made = script("--nodes=1", "--gres=gpu:1", "--signal=B:USR1@60", run=run)
    assert verdict("SLM005", made)[0] is (Status.FAIL if is_judged else Status.SKIP)


def test_rollouts_with_their_own_gpus_count_too() -> None:
    run = (
        "python3 -m verl.experimental.one_step_off_policy.main_ppo trainer.nnodes=1 trainer.n_gpus_per_node=6 "
        "rollout.nnodes=1 rollout.n_gpus_per_node=2 trainer.save_freq=5"
    )
    message = (
        "the job asks for 6 GPUs, but the run uses 8 (trainer.n_gpus_per_node, rollout.n_gpus_per_node); "
        "expected 8 in #SBATCH --gres"
    )
    (finding,) = found("SLM005", script("-N1", "--gres=gpu:6", run=run))
    assert finding.message == message
    assert found("SLM005", script("-N1", "--gres=gpu:8", run=run)) == []
    assert found("SLM005", script("-N2", "--gres=gpu:4", run=run)) == []


def test_fewer_tasks_than_nodes_take_the_nodes_away() -> None:
    message = (
        "Slurm gives the job 1 node, because #SBATCH --ntasks = 1, but the run uses 2 (trainer.nnodes); "
        "expected 2 in #SBATCH --ntasks"
    )
    for option in ("--ntasks=1", "-n1", "-n 1"):
        assert found("SLM005", script("-N2", option, run=SAVING)) == [
            config_finding(message, Location("run.sh", 3, "#SBATCH --ntasks"), {"#SBATCH --ntasks": "2"})
        ]
    assert found("SLM005", script("-N2", "-n2", run=SAVING)) == []
    assert found("SLM005", script("--ntasks=1", run=SAVING)) == []


@pytest.mark.parametrize(
    ("options", "start", "count"),
    [
        (("-N2", "--ntasks-per-node=1"), "srun", 2),
        (("-N2", "--ntasks=2"), "srun --overlap", 2),
        (("-N2",), "srun -n 4", 4),
        (("-N2", "--ntasks=2"), "srun --ntasks=1", 0),
        (("-N2", "--ntasks=2"), "srun -N1 -n1", 0),
        (("-N2", "--ntasks=2"), "srun -n $TASKS", 0),
        (("-N2", "--ntasks=2"), "", 0),
        (("-N2",), "srun", 2),  # one task on each node
        (("--nodes=2",), "srun --overlap", 2),
        (("-N2",), "srun -w gpu01", 0),
    ],
)
def test_a_driver_starts_once(options: tuple[str, ...], start: str, count: int) -> None:
    made = script(*options, run=f"{start} python3{DRIVER}")
    message = f"srun starts main_ppo {count} times; expected 1: `srun --ntasks=1`"
    findings = [(one.severity, one.message) for one in found("SLM005", made) if one.severity > Severity.INFO]
    assert findings == ([(Severity.ERROR, message)] if count else [])


def test_torchrun_starts_once_on_each_node() -> None:
    run = "torchrun --nnodes=2 --nproc_per_node=8 -m verl.trainer.sft_trainer trainer.save_freq=5"
    message = "srun starts torchrun 16 times; expected 2: `srun --ntasks=2`"
    (one,) = found("SLM005", script("-N2", "--ntasks-per-node=8", run=f"srun {run}"))
    assert (one.severity, one.message) == (Severity.ERROR, message)
    assert warnings(script("-N2", "--ntasks-per-node=1", run=f"srun {run}")) == []
    assert warnings(script("-N2", run=f"srun {run}")) == []


def test_a_signal_that_nothing_handles_ends_the_script() -> None:
    options = ("--signal=B:USR1@120", "--time=1:00:00")
    message = "#SBATCH --signal = B:USR1@120 ends the script 120 s before the limit, because it has no trap for USR1"
    assert warnings(script(*options, run=SAVING)) == [message]
    assert warnings(script(*options, run=f"trap 'touch stop' SIGTERM\n{SAVING}")) == [message]
    assert warnings(script(*options, run=f"trap 'touch stop' TERM SIGUSR1\n{SAVING}")) == []
    assert warnings(script(*options, run=f"source traps.sh\n{SAVING}")) == []
    assert warnings(script("--signal=USR1@120", run=SAVING)) == []
    assert warnings(script("--signal=B:USR1@99999", run=SAVING)) == []


def test_a_signal_before_the_start() -> None:
    message = "#SBATCH --signal = USR1@600 is sent when the job starts: 600 s before the end of a job of 5:00"
    assert warnings(script("--signal=USR1@600", "--time=5:00", run=SAVING)) == [message]
    assert warnings(script("--signal=USR1@60", "-t5:00", run=SAVING)) == []


@pytest.mark.parametrize(
    ("per_node", "gpus", "more", "told"),
    [
        (4, 8, "", []),  # two nodes of four, and SkyRL trains on one "node" of eight
        (4, 9, "", ["the job asks for 8 GPUs, but the run uses 9"]),
        (4, 8, " trainer.placement.policy_num_nodes=2", ["the job asks for 8 GPUs, but the run uses 16"]),
    ],
)
def test_skyrl_trains_on_one_node_unless_it_is_told(per_node: int, gpus: int, more: str, told: list[str]) -> None:
    run = f"python -m skyrl.train.entrypoints.main_base trainer.placement.policy_num_gpus_per_node={gpus}{more}"
    made = plan(f"#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gres=gpu:{per_node}\n{run}\n", "run.sh")
    assert [one.message.partition(" (")[0] for one in found("SLM005", made)] == told


def test_skyrl_trainer() -> None:
    run = (
        "python -m skyrl.train.entrypoints.main_base trainer.placement.policy_num_nodes=1 "
        "trainer.placement.policy_num_gpus_per_node=4 trainer.ckpt_interval=10"
    )
    key = "#SBATCH --gres"
    message = (
        f"the job asks for 2 GPUs, but the run uses 4 (trainer.placement.policy_num_gpus_per_node); expected 4 in {key}"
    )
    assert found("SLM005", script("--gres=gpu:2", run=run)) == [
        config_finding(
            message,
            Location("run.sh", 2, key),
            summary=f"set {key}=gpu:4, or trainer.placement.policy_num_gpus_per_node = 2",
        )
    ]


@pytest.mark.parametrize(
    ("run", "memory", "severity", "message", "mem"),
    [
        ("SEVEN", "64G", Severity.WARNING, "about 94 GiB for Qwen/Qwen2.5-7B-Instruct on 8 GPUs", "95G"),
        ("OFFLOADED", "130G", Severity.WARNING, "", "187G"),
        ("OFFLOADED", "64G", Severity.ERROR, "", "187G"),
    ],
)
def test_less_memory_than_the_run_needs(run: str, memory: str, severity: Severity, message: str, mem: str) -> None:
    """An error if not even what is offloaded fits; the figure is that of ENV007 and of budget."""
    (finding,) = found("SLM005", script("--gres=gpu:8", f"--mem={memory}", run=RUNS[run]))
    key = "#SBATCH --mem"
    need = message or "about 187 GiB for Qwen/Qwen3-8B on 8 GPUs (92 GiB of it during the whole run)"
    assert finding == config_finding(
        f"the job asks for {memory[:-1]} GiB of host memory on each node; expected {need}",
        Location("run.sh", 3, key),
        {key: mem},
        severity=severity,
        evidence=finding.evidence,
    )


@pytest.mark.parametrize(("run", "memory"), [("SEVEN", "95G"), ("OFFLOADED", "187G"), ("OFFLOADED", "0")])
def test_enough_memory(run: str, memory: str) -> None:
    assert found("SLM005", script("--gres=gpu:8", f"--mem={memory}", run=RUNS[run])) == []
