"""PRM003."""

from checks.prm.top_p_forbidden import top_p_forbidden
from plans import MIG20, example, found, plan, verdict
from skyrl_doctor.core.model import Location, Status
from skyrl_doctor.plan.findings import config_finding

FIRST = "examples/prime-rl-2025/first.toml"


def test_in_todays_schema_the_list_is_closed() -> None:
    made = plan(
        "[orchestrator.train.sampling]\ntemperature = 1.0\ntop_p = 0.9\nmin_p = 0.1\n[orchestrator.eval.sampling]\ntop_p = 0.9\n"
    )
    assert [finding.location for finding in top_p_forbidden(made)] == [
        Location("run.toml", 3, "orchestrator.train.sampling.top_p"),
        Location("run.toml", 4, "orchestrator.train.sampling.min_p"),
    ]


def test_reproduces_the_first_file() -> None:
    assert found("PRM003", example(FIRST)) == [
        config_finding(
            "orchestrator.sampling.top_p = 0.95; expected no top_p, because training samples with 1",
            Location(FIRST, 19, "orchestrator.sampling.top_p"),
            removes=("orchestrator.sampling.top_p",),
        )
    ]


def test_silent_on_clean_configurations() -> None:
    assert found("PRM003", example("examples/prime-rl-2025/v5.toml")) == []
    assert found("PRM003", example("examples/prime-rl/two_gpus.toml")) == []
    assert verdict("PRM003", example(MIG20)) == (Status.SKIP, "the configuration is not for prime-rl")
