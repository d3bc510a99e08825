"""A node has failed earlier launches, and is not excluded from this one.

## What it does
Reads the directories of the earlier launches beside this one (what their gates found, how they ended, what the watch named as
the cause), and Slurm's accounting where there is one. It counts the failures that may be a node's: of its GPUs, its
environment, its Podman, its end. On a login node it names the nodes that failed twice or more; on a node of the job, this
one. A node in `slurm.exclude` is none of it.

## Why it breaks training
A broken node has no work, so Slurm gives it to the next job at once, and the job fails there again. Each time the
queue is waited through for nothing.

## How to fix
Put the node into `slurm.exclude`, or submit with `--exclude`, and tell the administrators.

## Example
    gpu07 failed 3 of 5 launches: GPU003, GPU003, ended the run
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host, Roles
from skyrl_doctor.facts.launches import Failure, Launches, short
from skyrl_doctor.plan.model import Plan

EXCLUDE = "slurm.exclude"
OFTEN = 2


@check("SLM002", roles=[Role.LOGIN, Role.GPU], fix="skyrl_train/launch/jobs.py")
def bad_node_repeats(plan: Plan, launches: Launches, roles: Roles, host: Host, environ: Environ) -> Iterator[Finding]:
    excluded = plan.texts(EXCLUDE) or ()
    known = {short(node) for node in excluded}
    here = short(environ.get("SLURMD_NODENAME") or host.name)
    for node in launches.nodes:
        failures = launches.of(node)
        if short(node) in known:
            continue
        if Role.GPU in roles and short(node) == here:
            yield _finding(node, failures, excluded, plan, f"this node, {node},")
        elif Role.LOGIN in roles and len(failures) >= OFTEN:
            yield _finding(node, failures, excluded, plan, node)


def _finding(node: str, failures: tuple[Failure, ...], excluded: tuple[str, ...], plan: Plan, who: str) -> Finding:
    times = f"{len(failures)} earlier launch{'es' if len(failures) > 1 else ''}"
    return Finding(
        message=f"{who} failed {times}: {', '.join(failure.what for failure in failures)}; wanted it excluded, or repaired",
        evidence=tuple(f"{failure.job}: {failure.what}" for failure in failures),
        severity=Severity.WARNING,
        location=plan.place(EXCLUDE),
        remedy=Remedy(
            kind=RemedyKind.EXCLUDE_NODE,
            summary="exclude it, and tell the administrators",
            commands=(f"sbatch --exclude={','.join((*excluded, node))} …",),
            settings=plan.settings({EXCLUDE: "[" + ", ".join(f'"{one}"' for one in (*excluded, node)) + "]"}),
        ),
    )
