"""A node failed earlier launches and is not excluded.

## What it does
Reads the directories of earlier launches next to this one (findings of their gates, their ends, and the causes that
the watch named), and Slurm's accounting if available. It counts the failures that a node may cause: of its GPUs, its
environment or its Podman, and a sudden end. On a login node it reports the nodes that failed twice or more; on a node
of the job it reports this node. Nodes in `slurm.exclude` are ignored.

## Why it breaks training
A broken node is idle, so Slurm gives it to the next job at once, and that job fails too. Each time you wait in the
queue for nothing.

## How to fix
Put the node into `slurm.exclude`, or submit with `--exclude`, and inform the administrators.

## Example
    gpu07 failed 3 earlier launches: GPU003, GPU003, ended the run; expected it to be excluded or repaired
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
        message=f"{who} failed {times}: {', '.join(failure.what for failure in failures)}; expected it to be excluded or repaired",
        evidence=tuple(f"{failure.job}: {failure.what}" for failure in failures),
        severity=Severity.WARNING,
        location=plan.place(EXCLUDE),
        remedy=Remedy(
            kind=RemedyKind.EXCLUDE_NODE,
            summary="exclude it and inform the administrators",
            commands=(f"sbatch --exclude={','.join((*excluded, node))} …",),
            settings=plan.settings({EXCLUDE: "[" + ", ".join(f'"{one}"' for one in (*excluded, node)) + "]"}),
        ),
    )
