"""skyrl-train runtime serve: starts sandboxes on request over the remote runtime API until a signal ends it."""

import argparse
import os
from typing import TYPE_CHECKING

from skyrl_train.contracts.screen import print_note

if TYPE_CHECKING:  # a command's module imports nothing heavy before it runs
    from skyrl_train.config.sections.sandbox import SandboxSection
    from skyrl_train.config.sections.slurm import SlurmSection
    from skyrl_train.sandbox.runtime.serve import Options

_RESOLVED = "config.json"
"""The resolved configuration, which `launch` writes into the job directory."""


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    serve = actions.add_parser("serve", help="run the server", allow_abbrev=False)
    serve.add_argument(
        "--job-dir", required=True, metavar="DIR", help="directory for the URL, the key and the ready flag"
    )
    serve.add_argument("--config", metavar="FILE", help="TOML of the run (default: the one in the job directory)")
    serve.add_argument(
        "--host", default="auto", help="address to listen at (default: loopback; in a Slurm job: the node's address)"
    )
    serve.add_argument("--port", type=int, help="port; 0 picks a free one (default: sandbox.bind_port)")
    serve.add_argument(
        "--slots",
        type=int,
        help="number of sandboxes at a time (default: as many as the CPUs and memory of the node allow)",
    )
    serve.add_argument(
        "--store",
        metavar="DIR",
        help="directory for the container store of the job (default: sandbox.store, else /tmp)",
    )
    serve.add_argument(
        "--idle-limit",
        type=float,
        metavar="S",
        help="end a sandbox after this many seconds without a request or connection (default: 3600)",
    )
    serve.add_argument(
        "--drain", type=float, default=25.0, metavar="S", help="time limit of the shutdown in seconds (default: 25)"
    )


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
        raise UsageError(f"--slots is {args.slots}; expected 1 or more")
    if args.port is not None and not 0 <= args.port <= 65535:
        raise UsageError(f"--port is {args.port}; expected 0 to 65535")
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    try:
        return asyncio.run(serve(_options(args)))
    except UsageError:
        raise
    except TrainError as error:
        print_note(f"skyrl-train runtime serve: {error}")
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
    """The run's sandbox and Slurm sections; the defaults if there is no configuration."""
    import tomllib

    from skyrl_train.config.load import ConfigError, from_resolved, read
    from skyrl_train.config.sections.sandbox import SandboxSection
    from skyrl_train.config.sections.slurm import SlurmSection
    from skyrl_train.contracts import bounded
    from skyrl_train.contracts.errors import UsageError

    kept = os.path.join(args.job_dir, _RESOLVED)
    if args.config is None and not os.path.exists(kept):
        return SandboxSection(), SlurmSection()
    try:
        config = read(args.config) if args.config is not None else from_resolved(bounded.read_text(kept))
    except (OSError, ConfigError, tomllib.TOMLDecodeError, ValueError) as error:
        raise UsageError(f"{args.config or kept} cannot be used: {error}") from error
    return config.sandbox, config.slurm
