"""CFG010."""

import pytest

from plans import example, found, plan, verdict
from skyrl_doctor.core.model import Location, Status
from skyrl_doctor.plan.findings import config_finding

R = "actor_rollout_ref.rollout"


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        (f"{R}.gpu_memory_utilization", "1.2", "more than 0 to 1"),
        (f"{R}.gpu_memory_utilization", "0", "more than 0 to 1"),
        (f"{R}.top_p", "1.5", "more than 0 to 1"),
        (f"{R}.temperature", "-1", "at least 0"),
        (f"{R}.n", "0", "at least 1"),
        ("trainer.nnodes", "0", "at least 1"),
    ],
)
def test_names_the_range(key: str, value: str, expected: str) -> None:
    made = plan(f"python3 -m verl.trainer.main_ppo {key}={value}", "run.sh")
    assert found("CFG010", made) == [
        config_finding(f"{key} = {value}; expected {expected}", Location("run.sh", 1, key))
    ]


@pytest.mark.parametrize(("value", "fraction"), [("60", "0.6"), ("85.0", "0.85"), ("100", "1")])
def test_a_percentage_is_named_as_one(value: str, fraction: str) -> None:
    key = f"{R}.gpu_memory_utilization"
    made = plan(f"python3 -m verl.trainer.main_ppo {key}={value}", "run.sh")
    message = f"{key} = {value}; expected more than 0 to 1; {float(value):g} looks like a percentage: write {fraction}"
    assert found("CFG010", made) == [config_finding(message, Location("run.sh", 1, key), {key: fraction})]


@pytest.mark.parametrize(("key", "value"), [("trainer.n_gpus_per_node", "eight"), (f"{R}.n", "true")])
def test_text_where_a_number_belongs(key: str, value: str) -> None:
    made = plan(f"python3 -m verl.trainer.main_ppo {key}={value}", "run.sh")
    shown = "True" if value == "true" else repr(value)
    assert [one.message for one in found("CFG010", made)] == [f"{key} = {shown}; expected a number, at least 1"]


@pytest.mark.parametrize(
    "word", [f"{R}.gpu_memory_utilization=1.0", f"{R}.temperature=0", f"{R}.n=$(nproc)", f"{R}.top_p=0.1"]
)
def test_the_ends_of_a_range_and_unknown_values_are_silent(word: str) -> None:
    assert found("CFG010", plan(f"python3 -m verl.trainer.main_ppo {word}", "run.sh")) == []


def test_silent_on_clean_configurations() -> None:
    assert found("CFG010", example("examples/verl/grpo_mig20.sh")) == []
    assert verdict("CFG010", example("examples/mig20.toml")) == (
        Status.SKIP,
        "CFG004 checks the ranges of a run.toml",
    )
