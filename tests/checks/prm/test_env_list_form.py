"""PRM005."""

from checks.prm.env_list_form import env_list_form
from plans import MIG20, example, found, plan, verdict
from skyrl_doctor.core.model import Location, Status
from skyrl_doctor.plan.findings import config_finding

FIRST = "examples/prime-rl-2025/first.toml"


def test_an_entry_of_today_names_its_environment() -> None:
    made = plan(
        "[[orchestrator.train.source]]\nname = 'a'\n[[orchestrator.train.source]]\nenv = { taskset = { id = 'x' } }\n"
    )
    assert list(env_list_form(made)) == [
        config_finding(
            "orchestrator.train.source[0] names no environment; expected env = { taskset = { id = … } }",
            Location("run.toml", 1, "orchestrator.train.source[0]"),
            summary="name the environment",
        )
    ]


def test_reproduces_the_first_file() -> None:
    assert found("PRM005", example(FIRST)) == [
        config_finding(
            "[orchestrator.env] is one table; expected a list of tables: [[orchestrator.env]]",
            Location(FIRST, 24, "orchestrator.env"),
            summary="use double brackets: [[orchestrator.env]]",
        )
    ]


def test_silent_on_clean_configurations() -> None:
    assert found("PRM005", example("examples/prime-rl-2025/v5.toml")) == []
    assert found("PRM005", example("examples/prime-rl/two_gpus.toml")) == []
    assert verdict("PRM005", example(MIG20)) == (Status.SKIP, "the configuration is not for prime-rl")
