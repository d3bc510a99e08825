"""RUN005."""

from checks.run.no_worker_slots import no_worker_slots
from plans import MIG20, example, found, plan, verdict
from skyrl_doctor.core.model import Location, Severity, Status
from skyrl_doctor.plan.findings import config_finding
from support import plan_of

CONF, TASK = "examples/skyrl-agent/long_context.conf", "examples/skyrl-agent/long_context.yaml"


def test_counts_slots_as_the_notes_do() -> None:
    for cpus, batch, n, told in ((32, 1, 7, 0), (32, 1, 8, 1), (4, 1, 1, 1), (3, 1, 1, 1)):
        made = plan_of(slurm__runtime_cpus=cpus, sandbox__cpus=4, data__train_batch_size=batch, rollout__n=n)
        assert len(list(no_worker_slots(made))) == told


def test_without_a_slot_nothing_runs() -> None:
    made = plan_of(slurm__runtime_cpus=4, sandbox__cpus=4, data__train_batch_size=1, rollout__n=1)
    (finding,) = no_worker_slots(made)
    assert (finding.severity, finding.location) == (Severity.ERROR, Location("plan.toml", None, "slurm.runtime_cpus"))


def test_memory_bounds_them_too() -> None:
    text = "[model]\npath = 'x'\n[slurm]\nruntime_memory_mib = 8192\n[data]\ntrain_batch_size = 2\n[agent]\nmax_parallel = 4\n"
    (finding,) = found("RUN005", plan(text))
    assert finding.location == Location("run.toml", 8, "agent.max_parallel")


def test_reproduces_too_many_rollouts() -> None:
    assert found("RUN005", example(CONF, TASK)) == [
        config_finding(
            "9 rollouts at once (3 prompts x 3 rollouts) need 9 sandboxes, but the runtime has 7 slots",
            Location(TASK, 10, "dispatcher.max_parallel_agents"),
            {"dispatcher.max_parallel_agents": "7"},
            severity=Severity.WARNING,
        )
    ]


def test_silent_on_the_clean_configuration() -> None:
    assert found("RUN005", example(MIG20)) == []
    running = plan("[model]\npath = 'x'\n[sandbox]\nruntime_url = 'http://node:8000'\n")
    assert verdict("RUN005", running) == (Status.SKIP, "the configuration uses a runtime that is already running")
