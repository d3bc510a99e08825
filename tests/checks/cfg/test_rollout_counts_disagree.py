"""CFG003."""

from checks.cfg.rollout_counts_disagree import rollout_counts_disagree
from plans import MIG20, example, found, plan, verdict
from skyrl_doctor.core.model import Location, Status
from skyrl_doctor.plan.findings import config_finding
from support import plan_of

CONF, TASK = "examples/skyrl-agent/long_context.conf", "examples/skyrl-agent/long_context.yaml"


def test_compares_two_counts() -> None:
    assert len(list(rollout_counts_disagree(plan_of(rollout__n=2, agent__trajectories=3)))) == 1
    assert list(rollout_counts_disagree(plan_of(rollout__n=2, agent__trajectories=2))) == []


def test_reproduces_across_two_files() -> None:
    assert found("CFG003", example(CONF, TASK)) == [
        config_finding(
            "generator.num_trajectories = 4, but ROLLOUT_N = 3; expected the same number of rollouts in both",
            Location(TASK, 3, "generator.num_trajectories"),
            {"generator.num_trajectories": "3"},
        )
    ]


def test_reads_the_override_of_a_verl_command() -> None:
    made = plan(
        "python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.n=2 +skyrl_agent.num_trajectories=4\n", "run.sh"
    )
    (finding,) = found("CFG003", made)
    assert finding.location == Location("run.sh", 1, "skyrl_agent.num_trajectories")


def test_silent_on_the_clean_configuration() -> None:
    assert found("CFG003", example("examples/skyrl-agent/dev.conf", "examples/skyrl-agent/verl_oh.yaml")) == []
    assert verdict("CFG003", example(MIG20)) == (
        Status.SKIP,
        "the number of rollouts is set only once, so nothing can disagree",
    )
