"""CFG009."""

import dataclasses

from plans import example, found, plan, verdict
from skyrl_doctor.core.model import Location, Severity, Status
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan, Value

PRIME = "[orchestrator]\ngroup_size = 8\nbatch_size = 64\n[inference.vllm]\nmax_model_len = 4096\n"


def own(**values: object) -> Plan:
    """A plan with these keys, dots written as double underscores."""
    keys = {name.replace("__", "."): value for name, value in values.items()}
    return Plan(
        ("run.sh",),
        "verl",
        {},
        {key: Value(key, value, Location("run.sh", 1, key), own=key) for key, value in keys.items()},
    )


def messages(made: Plan) -> list[str]:
    return [finding.message for finding in found("CFG009", made)]


def verl(**changes: object) -> Plan:
    clean: dict[str, object] = {
        "async_training__staleness_threshold": 0.5,
        "async_training__trigger_parameter_sync_step": 4,
        "actor_rollout_ref__hybrid_engine": False,
        "data__train_batch_size": 0,
        "data__gen_batch_size": 1,
        "actor_rollout_ref__rollout__calculate_log_probs": True,
    }
    return own(**{**clean, **changes})


def test_verl_asserts_its_batches_and_engines() -> None:
    assert messages(verl()) == []
    assert found("CFG009", verl(data__train_batch_size=512)) == [
        config_finding(
            "data.train_batch_size = 512, but this asynchronous trainer needs 0",
            Location("run.sh", 1, "data.train_batch_size"),
            {"data.train_batch_size": "0"},
        )
    ]
    assert messages(verl(actor_rollout_ref__hybrid_engine=True, async_training__trigger_parameter_sync_step=0)) == [
        "actor_rollout_ref.hybrid_engine = True, but this asynchronous trainer needs False",
        "async_training.trigger_parameter_sync_step = 0; expected at least 1",
    ]
    assert messages(verl(async_training__staleness_threshold=-0.1)) == [
        "async_training.staleness_threshold = -0.1; expected at least 0"
    ]


def test_a_default_is_a_warning_in_a_file_without_a_command() -> None:
    key = "actor_rollout_ref.hybrid_engine"
    made = verl()
    default = Value(key, True, None, written=False, own=key, source="default of verl 0.9.1")
    config = dataclasses.replace(made, own={**made.own, key: default})
    command = dataclasses.replace(config, values={"python.launcher": Value("python.launcher", "python3")})
    severities = [finding.severity for one in (config, command) for finding in found("CFG009", one)]
    assert severities == [Severity.WARNING, Severity.ERROR]


def skyrl(**changes: object) -> Plan:
    clean: dict[str, object] = {
        "trainer__fully_async__enabled": True,
        "trainer__fully_async__max_staleness_steps": 2,
        "trainer__fully_async__num_parallel_generation_workers": 96,
        "trainer__policy_mini_batch_size": 32,
        "trainer__train_batch_size": 32,
        "trainer__placement__colocate_all": False,
        "generator__batched": False,
    }
    return own(**{**clean, **changes})


def test_skyrl_asserts_workers_batches_and_placement() -> None:
    assert messages(skyrl()) == []
    key = "trainer.fully_async.num_parallel_generation_workers"
    for workers, nearest in ((97, "96"), (31, "32")):
        assert found("CFG009", skyrl(trainer__fully_async__num_parallel_generation_workers=workers)) == [
            config_finding(
                f"{key} is {workers}; with mini batches of 32 and a staleness of 2 steps, expected 32 to 96",
                Location("run.sh", 1, key),
                {key: nearest},
            )
        ]
    assert messages(skyrl(trainer__train_batch_size=64, trainer__placement__colocate_all=True)) == [
        "trainer.placement.colocate_all = True, but this asynchronous trainer needs False",
        "trainer.train_batch_size is 64, but trainer.policy_mini_batch_size is 32; fully asynchronous training needs the same number",
    ]


ALGORITHM, SAMPLES = "trainer.algorithm", "trainer.algorithm.dynamic_sampling.type"
FULL, FILTER = "trainer.fully_async.sample_full_batch", f"{ALGORITHM}.zero_variance_filter"


def script(*words: str, module: str = "skyrl.train.entrypoints.main_base") -> Plan:
    """A fully asynchronous start of SkyRL."""
    return plan(f"python3 -m {module} trainer.fully_async.enabled=true {' '.join(words)}\n", "run.sh")


def test_skyrl_samples_no_further_prompts() -> None:
    assert found("CFG009", script(f"{SAMPLES}=filter")) == [
        config_finding(
            f"{SAMPLES} = 'filter', but fully asynchronous training has no dynamic sampling; expected null",
            Location("run.sh", 1, SAMPLES),
            {SAMPLES: "null"},
        )
    ]
    for word in (f"{SAMPLES}=null", f"{SAMPLES}=$KIND", f"{SAMPLES}=filter trainer.fully_async.enabled=false"):
        assert messages_or_skip(script(word)) == []


def messages_or_skip(made: Plan) -> list[str]:
    return [] if verdict("CFG009", made)[0] is Status.SKIP else messages(made)


def test_full_batches_of_skyrl_need_the_filter() -> None:
    unset = f"{FULL} is true, but {FILTER} is not set; full batches need it"
    place = Location("run.sh", 1, FULL)
    assert found("CFG009", script(f"{FULL}=true")) == [config_finding(unset, place, {FILTER: "true"})]
    own = script(f"{FULL}=true trainer.policy.model.path=m", "environment.env_class=a", module="examples.my.main_mine")
    assert found("CFG009", own) == [config_finding(unset, place, {FILTER: "true"}, severity=Severity.WARNING)]
    assert found("CFG009", script(f"{FULL}=true", f"{FILTER}=false")) == [
        config_finding(
            f"{FULL} is true, but {FILTER} is false; full batches need it",
            Location("run.sh", 1, FILTER),
            {FILTER: "true"},
        )
    ]
    for words in ((f"{FULL}=true", f"{FILTER}=true"), (f"{FULL}=true", f"{FILTER}=$F"), (f"{FULL}=false",)):
        assert messages(script(*words)) == []


def test_a_loss_of_skyrl_that_needs_an_old_policy_is_a_warning() -> None:
    key = f"{ALGORITHM}.policy_loss_type"
    text = "uses log-probs of a policy that fully asynchronous training does not keep; SkyRL 0.3 and later refuse it, expected 'rollout_is' or 'dppo'"
    for loss in ("regular", "cispo"):
        assert found("CFG009", script(f"{key}={loss}")) == [
            config_finding(f"{key} = '{loss}' {text}", Location("run.sh", 1, key), severity=Severity.WARNING)
        ]
    anchor = f"{ALGORITHM}.cispo.cispo_anchor"
    for words in ((f"{key}=rollout_is",), (f"{key}=mine",), (f"{key}=cispo", f"{anchor}=rollout"), (f"{key}=cispo", f"{anchor}=$A")):  # fmt: skip
        assert messages(script(*words)) == []


def test_prime_rl_sends_adapters_by_file() -> None:
    lora = "[trainer.model.lora]\nrank = 8\n[weight_broadcast]\ntype = "
    assert messages(plan(f"{PRIME}{lora}'filesystem'\n")) == []
    assert found("CFG009", plan(f"{PRIME}{lora}'nccl'\n")) == [
        config_finding(
            "weight_broadcast.type = 'nccl' sends weights in memory, which LoRA training does not support; expected 'filesystem'",
            Location("run.toml", 9, "weight_broadcast.type"),
            {"weight_broadcast.type": "filesystem"},
        )
    ]


def test_prime_rl_keeps_groups_in_flight() -> None:
    made = plan(f"{PRIME}[orchestrator.concurrency]\nmax_inflight = 4\n")
    assert messages(made) == [
        "orchestrator.concurrency.max_inflight is 4, less than the 8 rollouts of one group; expected at least 8"
    ]
    both = plan(PRIME.replace("batch_size = 64", "batch_size = 64\ntoken_batch_size = 4096"))
    assert messages(both) == [
        "orchestrator.batch_size and orchestrator.token_batch_size are both set; expected one of them"
    ]


def test_an_unknown_value_is_no_finding() -> None:
    made = verl()
    hidden = dataclasses.replace(made.own["data.train_batch_size"], value="$B", unknown="B is not set here")
    assert messages(dataclasses.replace(made, own={**made.own, "data.train_batch_size": hidden})) == []


def test_silent_on_clean_configurations() -> None:
    assert found("CFG009", example("examples/prime-rl/two_gpus.toml")) == []
    assert verdict("CFG009", example("examples/mig20.toml")) == (
        Status.SKIP,
        "the configuration does not train asynchronously",
    )
