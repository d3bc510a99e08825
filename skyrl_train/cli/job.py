"""skyrl-train job: what a batch script runs. Not for people: `launch` writes the scripts."""

import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("role", choices=("runtime", "trainer", "node"))
    parser.add_argument("job_dir", metavar="JOB_DIR")


def run(args: argparse.Namespace) -> int:
    import os

    from skyrl_train.launch.commands import read
    from skyrl_train.launch.role import Role
    from skyrl_train.launch.signals import Signals
    from skyrl_train.launch.supervise import supervise
    from skyrl_train.launch.work import Work

    signals = Signals()
    signals.listen()
    launch = read(args.job_dir)
    environ = {**os.environ, **launch.config.env}
    if args.role == "node":
        from skyrl_train.launch import node_work

        payload = launch.payload(Role.TRAINER)
        return node_work.run(
            node_work.NodeWork(
                job_dir=args.job_dir, config=launch.config, payload=payload, environ=environ, signals=signals
            )
        )
    role = Role(args.role)
    return supervise(
        Work(
            role=role,
            job_dir=args.job_dir,
            config=launch.config,
            payload=launch.payload(role),
            environ=environ,
            signals=signals,
            external_url=launch.runtime_url,
            logs=launch.commands.logs,
        )
    )
