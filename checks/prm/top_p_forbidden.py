"""The sampling of training has a setting that prime-rl does not accept, such as `top_p`.

## What it does
Finds `top_p` among the sampling settings of training, and in the current schema every setting except `temperature`,
`max_completion_tokens` and `extra_body`. Evaluation may set top_p.

## Why it breaks training
prime-rl rejects the file. Training samples with top_p = 1, so that the log-probabilities are those of the policy.

## How to fix
Remove the line.

## Example
    orchestrator.sampling.top_p
      Extra inputs are not permitted [type=extra_forbidden, ...]
"""

from collections.abc import Iterator

from checks.prm.shared import below, of_unknown_version, refused
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.dialect import TODAY

CAUSE = "top_p is not allowed in the sampling of training"

SIGNATURES = (
    Signature(
        pattern=r"(?:^|\] |[-|\"] ?)\W*(?:orchestrator\.)?(?:train\.)?sampling\.top_p\b\W*$",
        sample="orchestrator.sampling.top_p",
        explain=CAUSE,
        versions="prime-rl",
        near=r"validation errors? for \w*(?:Config|Settings|RL)\w*",
        within=120,
    ),
    Signature(
        pattern=refused(r"(?:orchestrator\.)?(?:train\.)?sampling\.top_p"),
        sample="orchestrator.sampling.top_p: Extra inputs are not permitted",
        explain=CAUSE,
        versions="prime-rl",
    ),
)

TABLES = ("orchestrator.sampling", "orchestrator.train.sampling")
TAKEN = ("temperature", "max_completion_tokens", "extra_body")


@check("PRM003", fix="operator: prime-rl reads a file that is the user's own")
def top_p_forbidden(plan: Plan) -> Iterator[Finding]:
    for table in TABLES:
        is_closed = plan.is_of(TODAY) and table == TABLES[1]
        for value in below(of_unknown_version(plan), table):
            name = value.own.rpartition(".")[2]
            if name == "top_p" or (is_closed and name not in TAKEN):
                expected = (
                    f"expected only {', '.join(TAKEN)}"
                    if is_closed
                    else "expected no top_p, because training samples with 1"
                )
                yield config_finding(f"{value.assignment}; {expected}", value.location, removes=(value.own,))
