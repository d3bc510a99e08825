"""PRM002."""

from checks.prm.seq_len_misplaced import seq_len_misplaced
from plans import MIG20, example, found, plan, verdict
from skyrl_doctor.core.model import Location, Status
from skyrl_doctor.plan.findings import config_finding

FIRST = "examples/prime-rl-2025/first.toml"


def test_in_todays_schema_only_the_order_matters() -> None:
    for text, told in (("", 0), ("seq_len = 4096", 0), ("seq_len = 4096\n[trainer.model]\nseq_len = 2048", 1)):
        made = plan(f"{text}\n[orchestrator]\ngroup_size = 2\n")
        assert len(list(seq_len_misplaced(made))) == told
    (finding,) = seq_len_misplaced(plan("[orchestrator]\ngroup_size = 2\nseq_len = 4096\n"))
    assert finding == config_finding(
        "trainer.model.seq_len is 2048, but orchestrator.seq_len is 4096; expected the trainer's to be at least as long",
        Location("run.toml", 3, "orchestrator.seq_len"),
        {"trainer.model.seq_len": "4096"},
    )


def test_reproduces_the_first_file() -> None:
    assert found("PRM002", example(FIRST)) == [
        config_finding(
            "seq_len = 8192 is at the top of the file; expected it in [orchestrator]",
            Location(FIRST, 3, "seq_len"),
            moves={"seq_len": "orchestrator.seq_len"},
            summary="move the setting",
        )
    ]


def test_silent_on_clean_configurations() -> None:
    assert found("PRM002", example("examples/prime-rl-2025/v5.toml")) == []
    assert found("PRM002", example("examples/prime-rl/two_gpus.toml")) == []
    assert verdict("PRM002", example(MIG20)) == (Status.SKIP, "the configuration is not for prime-rl")
