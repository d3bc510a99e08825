"""SLM001."""

from checks.slm.walltime_mismatch import walltime_mismatch
from plans import MIG20, example, found, plan
from skyrl_doctor.core.model import Location
from skyrl_doctor.plan.findings import config_finding
from support import plan_of

CONF = "examples/skyrl-agent/long_context.conf"


def test_compares_the_two_limits() -> None:
    for trainer, runtime, told in (
        ("6:00:00", "4:00:00", 1),
        ("6:00:00", "0-6", 0),
        ("90", "1:30:00", 0),
        ("1-0", "23:59:59", 1),
    ):
        made = plan_of(slurm__trainer_time_limit=trainer, slurm__runtime_time_limit=runtime)
        assert len(list(walltime_mismatch(made))) == told


def test_reproduces_a_runtime_that_dies_first() -> None:
    assert found("SLM001", example(CONF)) == [
        config_finding(
            "the runtime job ends after 4:00:00, before the trainer that needs it (6:00:00); use at least 6:00:00",
            Location(CONF, 10, "RUNTIME_TIME_LIMIT"),
            {"RUNTIME_TIME_LIMIT": "6:00:00"},
        )
    ]


def test_what_slurm_cannot_read_is_told() -> None:
    assert found("SLM001", plan("MODEL=x\nTIME_LIMIT=six\n", "dev.conf"))[0] == config_finding(
        "TIME_LIMIT = 'six' is not a valid time for Slurm; expected a value such as 6:00:00",
        Location("dev.conf", 2, "TIME_LIMIT"),
        {"TIME_LIMIT": "6:00:00"},
    )


def test_silent_on_the_clean_configuration() -> None:
    assert found("SLM001", example(MIG20)) == []
