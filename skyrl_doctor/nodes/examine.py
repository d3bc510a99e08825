"""`--nodes`: from parsed arguments to one report of all nodes; and `--node-report`: the report of one node."""

import argparse
import os
import shlex
import time
from collections.abc import Mapping

from skyrl_doctor.core.errors import CouldNotLook, UsageError
from skyrl_doctor.core.model import Severity
from skyrl_doctor.inventory import STACK
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.nodes import clock, node_report, old_reports
from skyrl_doctor.nodes.collect import (
    Round,
    allocated_nodes,
    collect,
    default_step,
    report_path,
    write_lists,
)
from skyrl_doctor.nodes.merge import merge
from skyrl_doctor.nodes.traits import ABSENT
from skyrl_doctor.report.model import Report
from skyrl_train.contracts.files import write_whole
from skyrl_train.contracts.version import VERSION
from skyrl_train.node.ray_cluster import LAUNCH_ADDRESS, ports

NAME = "SLURMD_NODENAME"
REPORTS = ".skyrl_nodes"
"""The directory of the reports of all jobs without a job directory, below the current directory."""
SLACK_S = 30.0
"""Extra time for srun, and for Python starting on all nodes at once from a network file system."""


def all_nodes(args: argparse.Namespace, environ: Mapping[str, str]) -> Report:
    """Examines every node of this Slurm job and merges their reports."""
    if args.bundle is not None:
        raise UsageError(
            "--nodes examines the nodes of this job, but --from examines a recording; use only one of them"
        )
    if getattr(args, "structure_only", False):
        raise UsageError("--nodes examines machines, but --structure-only examines none; use only one of them")
    nodes = allocated_nodes(environ)
    directory = os.path.abspath(args.node_dir or _directory(args, environ))
    if args.node_dir is None and os.path.basename(os.path.dirname(directory)) == REPORTS:
        old_reports.remove(os.path.dirname(directory), keep=os.path.basename(directory))
    step = tuple(shlex.split(args.step)) if args.step else default_step(len(nodes))
    limit_s = args.deadline + SLACK_S
    results = collect(
        Round(
            nodes=nodes,
            directory=directory,
            step=step,
            words=_words(args),
            limit_s=limit_s,
            ports=tuple(port for port, _ in ports(environ.get("SLURM_JOB_ID", ""))),
        )
    )
    fail_on = Severity[args.fail_on.upper()]
    merged = merge(results, fail_on)
    states = {state: getattr(merged.nodes, state) for state in ("passing", "failing", "unknown")}
    write_lists(directory, states)
    machine = LocalMachine()
    first = next((one for one in results.values() if isinstance(one, node_report.NodeReport)), None)
    return Report(
        outcomes=merged.outcomes,
        roles=first.roles if first else (args.role if args.role != "auto" else "gpu",),
        targets=tuple(args.targets),
        dialect=first.dialect if first else "none",
        duration_s=time.monotonic() - args.started,
        version=VERSION,
        host=machine.identity().host,
        fail_on=fail_on,
        notes=(*merged.notes, f"{_node_counts(states)}; lists for sbatch --exclude: {directory}/nodes_*.txt"),
        versions={name: value for name, value in (first.traits if first else {}).items() if _is_version(name, value)},
        nodes=states,
        finished_at=machine.now(),
    )


def send(report: Report, args: argparse.Namespace, environ: Mapping[str, str]) -> None:
    """Writes this node's report into the directory that all nodes share."""
    node = environ.get(NAME, "")
    if not node:
        raise UsageError(f"--node-report needs {NAME}, which only tasks of srun have")
    found, unreached = None, ""
    try:
        host = environ.get(LAUNCH_ADDRESS, "")
        if not host:
            raise CouldNotLook(f"{LAUNCH_ADDRESS} is not set")
        found = clock.measure_clock(host, args.clock)
    except CouldNotLook as error:
        unreached = str(error)
    try:
        write_whole(
            report_path(args.node_report, node), node_report.write(node, report, clock=found, unreached=unreached)
        )
    except OSError as error:
        raise UsageError(f"cannot write into {args.node_report}: {error.strerror}") from None


def _words(args: argparse.Namespace) -> tuple[str, ...]:
    """The doctor's arguments for the same examination of one node."""
    lists = [(option, value) for option in ("select", "ignore") for value in getattr(args, option)]
    named = [*lists, ("role", args.role), ("fail-on", args.fail_on), ("deadline", f"{args.deadline:g}")]
    if args.waivers:
        named.append(("waivers", os.path.abspath(args.waivers)))
    if args.verl_version:
        named.append(("verl-version", args.verl_version))
    options = [f"--{option}={value}" for option, value in named]
    return ("preflight", *(_target(target) for target in args.targets), *options)


def _target(text: str) -> str:
    return os.path.abspath(text) if os.path.exists(text) else text


def _directory(args: argparse.Namespace, environ: Mapping[str, str]) -> str:
    job_dir = getattr(args, "job_dir", None) or environ.get("SKYRL_JOB_DIR")
    return os.path.join(job_dir, "nodes") if job_dir else f"{REPORTS}/{environ.get('SLURM_JOB_ID', 'job')}"


def _node_counts(states: Mapping[str, tuple[str, ...]]) -> str:
    """`nodes: 3 passing, 1 failing (gpu7), 0 unknown`"""
    named = [
        f"{len(names)} {state}" + (f" ({', '.join(names)})" if names and state != "passing" else "")
        for state, names in states.items()
    ]
    return f"nodes: {', '.join(named)}"


def _is_version(name: str, value: str) -> bool:
    return name in ("python", *STACK) and value != ABSENT
