"""Two settings give different numbers of rollouts per prompt.

## What it does
Compares `rollout.n` (ROLLOUT_N) with the agent's own count: `generator.num_trajectories` of a SkyRL-agent task,
`+skyrl_agent.num_trajectories` on a verl command line.

## Why it breaks training
verl repeats each prompt `rollout.n` times, and the agent runs its own number of rollouts. SkyRL-agent stops with an
assertion after the models are loaded.

## How to fix
Set both to the same number.

## Example
    AssertionError: Verl configuration received num trajectories per instance 3 ...
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.batch import counts_disagree

SIGNATURES = (
    Signature(
        pattern=r"received num trajectories per instance",
        sample="AssertionError: Verl configuration received num trajectories per instance 4, but the task has 8",
        explain="the two configurations set different numbers of rollouts per prompt",
        versions="SkyRL-agent",
    ),
)

KEYS = ("rollout.n", "agent.trajectories")


@check("CFG003", fix="skyrl_train/config/batch.py")
def rollout_counts_disagree(plan: Plan) -> Iterator[Finding]:
    counts = {key: count for key in KEYS if (count := required(plan).integer(key)) is not None}
    if len(counts) < len(KEYS):
        raise NotApplicable("the number of rollouts is set only once, so nothing can disagree")
    if not counts_disagree(counts):
        return
    server, agent = (plan.values[key] for key in KEYS)
    written = server if server.written and not agent.written else agent
    place = plan.place(written.key)
    yield config_finding(
        f"{agent.assignment}, but {server.assignment}; expected the same number of rollouts in both",
        place,
        {agent.name: str(server.value)},
    )
