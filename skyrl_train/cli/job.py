"""skyrl-train job: the internal command that the batch scripts of `launch` run."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("part", choices=("runtime", "trainer", "check", "node", "clear"), metavar="PART")
    parser.add_argument("job_dir", metavar="JOB_DIR")
    parser.add_argument("words", nargs=argparse.REMAINDER, help="for check: the doctor's command line")


def run(args: argparse.Namespace) -> int:
    import os
    import time

    from skyrl_train.launch import restarts
    from skyrl_train.launch.commands import read
    from skyrl_train.launch.role import Role
    from skyrl_train.launch.signals import PATIENCE_S, Signals
    from skyrl_train.launch.slurm import own_id
    from skyrl_train.launch.stop_cause import log_size
    from skyrl_train.launch.supervise import supervise
    from skyrl_train.launch.work import Work

    signals = Signals()
    signals.listen()
    launch = read(args.job_dir)
    signals.patience_s = min(PATIENCE_S, launch.config.slurm.signal_before_end_s / 2 or PATIENCE_S)
    environ = {**os.environ, **launch.config.env}
    if args.part == "clear":
        return _clear(environ)
    role = Role.RUNTIME if args.part == "runtime" else Role.TRAINER
    payload = launch.payload(role)
    script = os.path.join(args.job_dir, role.node_script)
    if args.part == "check":
        from skyrl_train.launch import node_check

        return node_check.run(script, args.words, signals.stop_requested)
    if args.part == "node":
        from skyrl_train.launch import node_work

        return node_work.run(
            node_work.NodeWork(
                job_dir=args.job_dir,
                node_script=script,
                config=launch.config,
                payload=payload,
                environ=environ,
                signals=signals,
            )
        )
    several = role is Role.TRAINER and launch.config.slurm.nodes > 1
    job_id = own_id(environ)
    return supervise(
        Work(
            role=role,
            job_dir=args.job_dir,
            config=launch.config,
            payload=payload,
            environ=environ,
            signals=signals,
            external_url=launch.runtime_url,
            logs=launch.commands.logs,
            started_at=time.time(),
            log_start=log_size(args.job_dir, role, job_id) if restarts.count(environ) else 0,
            node_script="" if several else script,
        )
    )


def _clear(environ: "Mapping[str, str]") -> int:
    """Removes what a killed part of the job left on this node; exit status 1 if something stays."""
    from skyrl_train.launch import leftovers
    from skyrl_train.launch.work import say

    troubles = leftovers.of_this_job(environ)
    for trouble in troubles:
        say(trouble)
    return 1 if troubles else 0
