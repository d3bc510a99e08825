"""CFG002."""

import dataclasses

import pytest

from checks.cfg.batch_not_divisible import batch_not_divisible
from plans import MIG20, example, found, plan, verdict
from skyrl_doctor.core.model import Location, Severity, Status
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.keys import TAKES_ANY_BATCH, TAKES_LARGER_MINI_BATCH
from skyrl_doctor.plan.load import load
from skyrl_doctor.plan.model import Value
from support import plan_of

BROKEN = "examples/verl/grpo_broken.sh"


def test_divides_samples_over_all_devices() -> None:
    for batch, n, gpus, told in ((3, 3, 2, 1), (4, 3, 2, 0), (1, 2, 1, 0), (5, 2, 4, 1), (1, 1, 0, 0)):
        made = plan_of(data__train_batch_size=batch, rollout__n=n, slurm__gpus_per_node=gpus)
        assert len(list(batch_not_divisible(made))) == told


def test_reproduces_two_faults_at_their_lines() -> None:
    assert found("CFG002", example(BROKEN)) == [
        config_finding(
            "9 samples (3 prompts x 3 rollouts) do not divide over 2 GPUs",
            Location(BROKEN, 7, "data.train_batch_size"),
            {"data.train_batch_size": "4"},
        ),
        config_finding(
            "a mini batch of 4 prompts is larger than the train batch of 3",
            Location(BROKEN, 11, "actor_rollout_ref.actor.ppo_mini_batch_size"),
        ),
    ]


def test_a_verl_that_takes_any_mini_batch_is_not_refused_one() -> None:
    made = example(BROKEN)
    own = {**made.own, TAKES_ANY_BATCH: Value(TAKES_ANY_BATCH, value=True)}
    assert [one.message for one in found("CFG002", dataclasses.replace(made, own=own))] == [
        "9 samples (3 prompts x 3 rollouts) do not divide over 2 GPUs"
    ]


def test_a_verl_whose_source_does_not_compare_them_is_warned_of_a_larger_mini_batch() -> None:
    made = example(BROKEN)
    source = Value(TAKES_LARGER_MINI_BATCH, value="verl/trainer/ppo/ray_trainer.py")
    own = {**made.own, TAKES_LARGER_MINI_BATCH: source}
    assert found("CFG002", dataclasses.replace(made, own=own))[1:] == [
        config_finding(
            "a mini batch of 4 prompts is larger than the train batch of 3; "
            "verl refuses that, but verl/trainer/ppo/ray_trainer.py here does not compare them",
            Location(BROKEN, 11, "actor_rollout_ref.actor.ppo_mini_batch_size"),
            severity=Severity.WARNING,
        )
    ]


def test_megatron_divides_over_the_copies_of_the_model() -> None:
    table = "actor_rollout_ref.actor.megatron"
    words = (
        "model_engine=megatron",
        "trainer.n_gpus_per_node=8",
        "data.train_batch_size=6",
        "actor_rollout_ref.rollout.n=1",
        "actor_rollout_ref.actor.ppo_mini_batch_size=6",
        f"{table}.tensor_model_parallel_size=4",
    )
    command = f"python3 -m verl.trainer.main_ppo {' '.join(words)}"
    assert found("CFG002", plan(command, "run.sh")) == []  # 8 GPUs do not divide 6, two copies do
    micro = plan(f"{command} actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2", "run.sh")
    assert [finding.message for finding in found("CFG002", micro)] == [
        "6 samples (6 prompts x 1 rollouts) do not divide over 2 copies of the model x micro batches of 2"
    ]
    wrong = plan(command.replace("parallel_size=4", "parallel_size=3"), "run.sh")
    assert verdict("CFG002", wrong) == (Status.SKIP, "the parallel sizes do not divide the GPUs (CFG008)")


def test_prime_rl_counts_in_rollouts() -> None:
    made = plan("[orchestrator]\nbatch_size = 9\ngroup_size = 2\n")
    assert found("CFG002", made) == [
        config_finding(
            "a batch of 9 rollouts does not hold whole groups of 2; use a multiple of 2",
            Location("run.toml", 2, "orchestrator.batch_size"),
            {"orchestrator.batch_size": "10"},
        )
    ]


@pytest.mark.parametrize(
    ("version", "more", "told"),
    [
        ("0.9.1", "", []),  # its trainer fills the batch up
        ("0.9.1", "trainer.use_v1=False", ["500 samples"]),
        ("0.8.0", "", ["500 samples"]),
        ("0.4.1", "", ["500 samples"]),
        ("0.9.1", "actor_rollout_ref.actor.ppo_mini_batch_size=50", ["a mini batch of 250 samples"]),
        ("0.8.0", "actor_rollout_ref.actor.ppo_mini_batch_size=50", ["500 samples", "a mini batch of 250 samples"]),
        ("0.7.1", "actor_rollout_ref.actor.ppo_mini_batch_size=50", ["500 samples"]),
        ("0.8.0", "data.train_batch_size=96", []),
        ("0.8.0", "actor_rollout_ref.actor.ulysses_sequence_parallel_size=2", []),  # four workers
    ],
)
def test_verl_still_divides_some_where_batches_are_dynamic(version: str, more: str, told: list[str]) -> None:
    line = (
        "python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.use_dynamic_bsz=True data.train_batch_size=100 "
        f"actor_rollout_ref.rollout.n=5 trainer.n_gpus_per_node=8 {more}\n"
    )
    machine = RecordedMachine({"environ": {"HOME": "/home/ada"}, "read run.sh": line})
    findings = found("CFG002", load(machine, ("run.sh",), verl_version=version))
    assert [one.message[: len(start)] for one, start in zip(findings, told, strict=True)] == told
    assert {one.severity for one in findings} <= {Severity.ERROR}


@pytest.mark.parametrize(
    ("version", "more", "severity"),
    [
        ("0.8.0", "", Severity.ERROR),
        ("0.8.0", "actor_rollout_ref.actor.use_dynamic_bsz=True", Severity.ERROR),
        ("0.9.1", "trainer.use_v1=False", Severity.ERROR),
        ("0.9.1", "", None),  # its V1 trainer fills the batch up
        ("0.7.1", "", None),  # the last mini batch is smaller
        (None, "", Severity.WARNING),
    ],
)
def test_a_mini_batch_divides_the_batch(version: str | None, more: str, severity: Severity | None) -> None:
    line = (
        "python3 -m verl.trainer.main_ppo data.train_batch_size=64 actor_rollout_ref.actor.ppo_mini_batch_size=40 "
        f"actor_rollout_ref.rollout.n=4 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 trainer.n_gpus_per_node=1 {more}\n"
    )
    machine = RecordedMachine({"environ": {"HOME": "/home/ada"}, "read run.sh": line})
    findings = found("CFG002", load(machine, ("run.sh",), verl_version=version))
    message = "mini batches of 40 prompts do not divide the train batch of 64: verl stops at the first update"
    ending = "" if version else "; verl 0.8.0 refuses it"
    assert [(one.severity, one.message, one.remedy and one.remedy.settings) for one in findings] == (
        [(severity, message + ending, {"actor_rollout_ref.actor.ppo_mini_batch_size": "32"})] if severity else []
    )


def test_the_proposed_mini_batch_divides_the_batch() -> None:
    line = (
        "python3 -m verl.trainer.main_ppo data.train_batch_size=1024 actor_rollout_ref.actor.ppo_mini_batch_size=300 "
        "actor_rollout_ref.rollout.n=5 trainer.n_gpus_per_node=8\n"
    )
    (one,) = found("CFG002", plan(line, "run.sh"))
    assert one.remedy is not None
    assert one.remedy.settings == {"actor_rollout_ref.actor.ppo_mini_batch_size": "256"}


def test_a_batch_that_only_some_releases_divide_is_a_warning() -> None:
    made = plan(
        "python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.use_dynamic_bsz=True data.train_batch_size=3\n",
        "run.sh",
    )
    (told,) = found("CFG002", made)
    assert (told.severity, told.message) == (
        Severity.WARNING,
        "3 samples (3 prompts x 1 rollouts) do not divide over 8 data-parallel workers; only verl 0.9.0 and later accepts it",
    )


def test_silent_on_the_clean_configuration() -> None:
    assert found("CFG002", example(MIG20)) == []


MICRO = """[model]
path = "a/b"
[data]
train_batch_size = 4
[rollout]
n = 2
log_prob_micro_batch_size_per_gpu = 8
[actor]
ppo_mini_batch_size = 2
micro_batch_size_per_gpu = 3
[critic]
micro_batch_size_per_gpu = 8
"""


def test_micro_batches_divide_what_a_mini_batch_gives_each_gpu() -> None:
    said = "do not divide the 4 sequences of a mini batch on each GPU (2 prompts x 2 rollouts over 1 GPU)"
    assert found("CFG002", plan(MICRO)) == [
        config_finding(
            f"micro batches of 3 sequences {said}",
            Location("run.toml", 10, "actor.micro_batch_size_per_gpu"),
            {"actor.micro_batch_size_per_gpu": "1"},
        ),
        config_finding(
            f"micro batches of 8 sequences {said}",
            Location("run.toml", 7, "rollout.log_prob_micro_batch_size_per_gpu"),
            {"rollout.log_prob_micro_batch_size_per_gpu": "4"},
        ),
    ]
    with_critic = plan(MICRO + '[algorithm]\nadvantage = "gae"\n')
    assert [one.location.key for one in found("CFG002", with_critic) if one.location][2:] == [
        "critic.micro_batch_size_per_gpu"
    ]


def test_they_may_be_smaller_and_need_not_be_where_batches_are_dynamic() -> None:
    fits = MICRO.replace("per_gpu = 3", "per_gpu = 2").replace("log_prob_micro_batch_size_per_gpu = 8", "stop = []")
    assert found("CFG002", plan(fits)) == []
    dynamic = MICRO.replace("[actor]", "[actor]\ndynamic_batch_size = true")
    assert verdict("CFG002", plan(dynamic))[0] is Status.SKIP


DYNAMIC = "actor_rollout_ref.actor.use_dynamic_bsz=True"
TOLD = "micro batches of 3 sequences do not divide the 4 sequences of a mini batch on each GPU (2 prompts x 2 rollouts over 1 GPU)"


@pytest.mark.parametrize(
    ("version", "more", "told"),
    [
        ("0.9.1", "", True),
        ("0.7.1", "", True),
        ("0.4.0", "", True),
        ("0.3.0.post1", "", False),  # it takes a rest
        ("0.7.1", DYNAMIC, True),  # it compares what is set, though tokens fill the micro batches
        ("0.8.0", DYNAMIC, False),
    ],
)
def test_verls_workers_compare_the_micro_batch_of_the_actor(version: str, more: str, told: bool) -> None:
    words = f"trainer.n_gpus_per_node=1 data.train_batch_size=4 actor_rollout_ref.rollout.n=2 {more}"
    sizes = "ppo_mini_batch_size=2 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=3"
    line = f"python3 -m verl.trainer.main_ppo {words} actor_rollout_ref.actor.{sizes}\n"
    machine = RecordedMachine({"environ": {"HOME": "/home/ada"}, "read run.sh": line})
    findings = found("CFG002", load(machine, ("run.sh",), verl_version=version))
    assert [(one.severity, one.message) for one in findings] == ([(Severity.ERROR, TOLD)] if told else [])


def test_skyrl_has_rules_of_its_own() -> None:
    """20 samples need not divide over 8 GPUs there; the part of each rank must divide into micro batches."""
    words = "trainer.policy.model.path=m trainer.placement.policy_num_gpus_per_node=8 trainer.policy_mini_batch_size=4"
    start = f"python -m skyrl.train.entrypoints.main_base {words} generator.n_samples_per_prompt=5"
    assert found("CFG002", plan(f"{start} trainer.train_batch_size=16\n", "run.sh")) == []
    micro = plan(f"{start} trainer.train_batch_size=16 trainer.micro_train_batch_size_per_gpu=4\n", "run.sh")
    assert [one.message for one in found("CFG002", micro)] == [
        "trainer.micro_train_batch_size_per_gpu (4) must divide the 2 samples of a mini batch on each of 8 ranks; use 2"
    ]
    assert [one.message for one in found("CFG002", plan(f"{start} trainer.train_batch_size=6\n", "run.sh"))] == [
        "trainer.train_batch_size (6) must be a multiple of trainer.policy_mini_batch_size (4); set trainer.policy_mini_batch_size = 3"
    ]


OF_A_FORK = "python3 -m {} data.train_batch_size=6 actor_rollout_ref.actor.ppo_mini_batch_size=8 actor_rollout_ref.rollout.n=2 trainer.n_gpus_per_node=4"


@pytest.mark.parametrize(
    ("module", "severity", "ending"),
    [
        ("verl.trainer.main_ppo", Severity.ERROR, "train batch of 6"),
        ("recipe.dapo.main_dapo", Severity.ERROR, "train batch of 6"),
        ("myagent.main_ppo", Severity.WARNING, "train batch of 6; myagent.main_ppo may allow it"),
    ],
)
def test_a_program_of_the_users_own_may_compare_in_another_way(module: str, severity: Severity, ending: str) -> None:
    [one] = found("CFG002", plan(OF_A_FORK.format(module), "run.sh"))
    assert (one.severity, one.message) == (severity, f"a mini batch of 8 prompts is larger than the {ending}")


def test_unknown_sizes_of_megatron_refuse_no_batch() -> None:
    table = "actor_rollout_ref.actor.megatron"
    words = (
        "model_engine=megatron trainer.n_gpus_per_node=8 data.train_batch_size=6 actor_rollout_ref.rollout.n=1",
        f"actor_rollout_ref.actor.ppo_mini_batch_size=6 {table}.tensor_model_parallel_size=$TP",
    )
    made = plan(f"python3 -m verl.trainer.main_ppo {' '.join(words)}", "run.sh")
    assert verdict("CFG002", made) == (
        Status.UNKNOWN,
        "the parallel sizes of Megatron are not known, so the copies of the model are not either",
    )
