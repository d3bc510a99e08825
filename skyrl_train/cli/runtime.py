"""skyrl-train runtime serve: hands out sandboxes over the remote runtime API until it is told to end."""

import argparse
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a command's module imports nothing of weight before it runs
    from skyrl_train.config.sections.sandbox import SandboxSection
    from skyrl_train.config.sections.slurm import SlurmSection
    from skyrl_train.sandbox.runtime.serve import Options

_RESOLVED = "config.json"
"""What `launch` leaves in the job's directory."""


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    serve = actions.add_parser("serve", help="run the server", allow_abbrev=False)
    serve.add_argument(
        "--job-dir", required=True, metavar="DIR", help="where the URL, the key and the ready flag are written"
    )
    serve.add_argument("--config", metavar="FILE", help="TOML of the run (default: the one in the job's directory)")
    serve.add_argument(
        "--host", default="auto", help="address to listen at (default: loopback; the node's own inside of a Slurm job)"
    )
    serve.add_argument("--port", type=int, help="port (default: sandbox.bind_port; 0 takes a free one)")
    serve.add_argument("--slots", type=int, help="sandboxes at a time (default: what the node's CPUs and memory hold)")
    serve.add_argument("--store", metavar="DIR", help="where the job's container store is made (default: /tmp)")
    serve.add_argument("--idle-limit", type=float, metavar="S", help="end a sandbox that nobody talks to for so long")
    serve.add_argument("--drain", type=float, default=25.0, metavar="S", help="longest orderly end (default: 25)")


def run(args: argparse.Namespace) -> int:
    import asyncio
    import logging
    import sys

    from skyrl_train.contracts.errors import TrainError, UsageError
    from skyrl_train.launch.needs import refuse_without_packages
    from skyrl_train.launch.role import Role

    refuse_without_packages(Role.RUNTIME)
    from skyrl_train.sandbox.runtime.serve import serve

    if args.slots is not None and args.slots < 1:
        raise UsageError(f"--slots {args.slots}: wanted 1 or more")
    if args.port is not None and not 0 <= args.port <= 65535:
        raise UsageError(f"--port {args.port}: wanted 0 to 65535")
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    try:
        return asyncio.run(serve(_options(args)))
    except UsageError:
        raise
    except TrainError as error:
        sys.stderr.write(f"skyrl-train runtime serve: {error}\n")
        return 1


def _options(args: argparse.Namespace) -> "Options":
    from dataclasses import replace

    from skyrl_train.node.podman_store import LOCAL_BASE
    from skyrl_train.sandbox.runtime.options import settings_of
    from skyrl_train.sandbox.runtime.serve import Options

    sandbox, slurm = _sections(args)
    settings = settings_of(sandbox, slurm, os.environ, slots=args.slots, host=args.host)
    if args.idle_limit is not None:
        settings = replace(settings, idle_limit_s=args.idle_limit)
    if args.port is None:
        args.port = sandbox.bind_port
    return Options(
        job_dir=os.path.abspath(args.job_dir),
        settings=settings,
        environ=dict(os.environ),
        port=args.port,
        base=os.path.abspath(args.store or sandbox.store or LOCAL_BASE),
        drain_s=args.drain,
        sandbox=sandbox,
    )


def _sections(args: argparse.Namespace) -> "tuple[SandboxSection, SlurmSection]":
    """Of the run's configuration; the defaults where there is none."""
    import tomllib

    from skyrl_train.config.load import ConfigError, from_resolved, read
    from skyrl_train.config.sections.sandbox import SandboxSection
    from skyrl_train.config.sections.slurm import SlurmSection
    from skyrl_train.contracts.errors import UsageError

    kept = os.path.join(args.job_dir, _RESOLVED)
    if args.config is None and not os.path.exists(kept):
        return SandboxSection(), SlurmSection()
    try:
        if args.config is not None:
            config = read(args.config)
        else:
            with open(kept, encoding="utf-8") as file:
                config = from_resolved(file.read())
    except (OSError, ConfigError, tomllib.TOMLDecodeError, ValueError) as error:
        raise UsageError(f"{args.config or kept} cannot be used: {error}") from error
    return config.sandbox, config.slurm
