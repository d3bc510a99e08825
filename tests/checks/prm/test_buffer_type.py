"""PRM004."""

from checks.prm.buffer_type import buffer_type
from plans import MIG20, example, found, plan, verdict
from skyrl_doctor.core.model import Location, Status
from skyrl_doctor.plan.findings import config_finding

FIRST = "examples/prime-rl-2025/first.toml"


def test_names_the_successor_of_each_schema() -> None:
    today = plan("[orchestrator]\ngroup_size = 2\n[orchestrator.buffer]\ntype = 'x'\n")
    (finding,) = buffer_type(today)
    assert finding.remedy is not None
    assert finding.remedy.settings == {"orchestrator.train.filter_zero_advantages": "true"}
    assert finding.remedy.removes == ("orchestrator.buffer.type",)


def test_reproduces_the_first_file() -> None:
    assert found("PRM004", example(FIRST)) == [
        config_finding(
            "orchestrator.buffer.type = 'online-difficulty'; expected orchestrator.buffer.online_difficulty_filtering = true",
            Location(FIRST, 22, "orchestrator.buffer.type"),
            {"orchestrator.buffer.online_difficulty_filtering": "true"},
            removes=("orchestrator.buffer.type",),
        )
    ]


def test_silent_on_clean_configurations() -> None:
    assert found("PRM004", example("examples/prime-rl-2025/v5.toml")) == []
    assert found("PRM004", example("examples/prime-rl/two_gpus.toml")) == []
    assert verdict("PRM004", example(MIG20)) == (Status.SKIP, "the configuration is not for prime-rl")
