"""PRM001."""

from checks.prm.ac_is_not_a_table import ac_is_not_a_table
from plans import MIG20, example, found, plan, verdict
from skyrl_doctor.core.model import Location, Status
from skyrl_doctor.plan.findings import config_finding

WORD = "examples/prime-rl-2025/v3.toml"


def test_a_table_or_nothing() -> None:
    for text, told in (("{ freq = 1 }", 0), ("'full'", 1), ("true", 1), ("1", 1)):
        made = plan(f"[orchestrator]\nrollouts_per_example = 2\n[trainer.model]\nac = {text}\n")
        assert len(list(ac_is_not_a_table(made))) == told


def test_reproduces_the_third_attempt() -> None:
    assert found("PRM001", example(WORD)) == [
        config_finding(
            "trainer.model.ac = 'selective'; expected a table such as { freq = 1 }",
            Location(WORD, 11, "trainer.model.ac"),
            {"trainer.model.ac": "{ freq = 1 }"},
        )
    ]


def test_silent_on_clean_configurations() -> None:
    assert found("PRM001", example("examples/prime-rl-2025/v5.toml")) == []
    assert found("PRM001", example("examples/prime-rl/two_gpus.toml")) == []
    assert verdict("PRM001", example(MIG20)) == (Status.SKIP, "the configuration is not for prime-rl")
