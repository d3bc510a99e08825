"""skyrl-doctor budget: estimates the GPU memory of a run. Exit status 0: fits, 1: does not fit, 2: no estimate."""

import argparse
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from skyrl_doctor.cli.options import add_versions
from skyrl_train.contracts.screen import print_lines, print_note

if TYPE_CHECKING:
    from skyrl_doctor.budget.question import Model
    from skyrl_doctor.facts.gpu.budget import GpuBudget
    from skyrl_doctor.machine.base import Machine
    from skyrl_doctor.plan.model import Plan
    from skyrl_train.memory import Device, Job, Solution

AUTO = "auto"
LIMIT_S = 20.0
DOES_NOT_FIT = 1


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "targets",
        nargs="+",
        metavar="TARGET",
        help="configuration: RunConfig TOML, dev.conf, task YAML, verl script or command line, prime-rl TOML",
    )
    device = parser.add_mutually_exclusive_group()
    device.add_argument(
        "--gpu",
        default=AUTO,
        metavar="NAME|auto",
        help="the GPU, such as H200, A100-40GB or '3g.20gb' (default: auto, the GPU of this job, else the type that the configuration requests)",
    )
    device.add_argument("--gpu-memory", metavar="SIZE", help="the memory of the GPU, such as 20GiB")
    parser.add_argument(
        "--solve",
        metavar="KEY",
        help="find the largest value of KEY that fits: micro_batch, response_length, max_model_len, n or gpu_memory_utilization",
    )
    add_versions(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    parser.add_argument("--figure", metavar="F", help="draw the phases as bars into this .svg or .png file")
    parser.epilog = "Exit status: 0 fits, 1 does not fit, 2 no estimate or bad input."


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.budget.job import knob_of
    from skyrl_doctor.budget.question import estimate
    from skyrl_doctor.core.errors import CouldNotLook, NotApplicable, UsageError
    from skyrl_doctor.machine.local import LocalMachine

    machine = LocalMachine()
    try:
        plan, model, job, device, free = _read_inputs(machine, args)
        found = estimate(model, job, device, free)
        solution = _solve(knob_of(plan, args.solve), model, job, device) if args.solve is not None else None
    except (CouldNotLook, NotApplicable) as error:
        raise UsageError(f"no estimate: {error}") from None
    finally:
        machine.close()
    if args.figure is not None:
        from skyrl_doctor.budget.figure import draw

        draw(found, args.figure)
    _write(args.format, plan, found, solution)
    _print_problems(plan)
    return 0 if found.budget.fits else DOES_NOT_FIT


def _read_inputs(machine: "Machine", args: argparse.Namespace) -> "tuple[Plan, Model, Job, Device, int | None]":
    """The plan, the model, the job, the device and its free memory. Each is read within a time limit."""
    from skyrl_doctor.budget.job import memory_job
    from skyrl_doctor.budget.question import model_of
    from skyrl_doctor.core.time_limit import call_within
    from skyrl_doctor.facts.environ import Environ
    from skyrl_doctor.facts.model_files import model_files
    from skyrl_doctor.plan.load import load

    plan = call_within(
        LIMIT_S, lambda: load(machine, args.targets, verl_version=args.verl_version), "reading the target"
    )
    environ = Environ(machine.environ())
    files = call_within(LIMIT_S, lambda: model_files(machine, plan, environ), "reading the model")
    device, free = _device(machine, plan, environ, args)
    return plan, model_of(files), memory_job(plan), device, free


def _device(
    machine: "Machine", plan: "Plan", environ: Mapping[str, str], args: argparse.Namespace
) -> "tuple[Device, int | None]":
    from skyrl_doctor.budget.question import job_device, planned_device
    from skyrl_doctor.core.errors import NotApplicable, UsageError
    from skyrl_train.memory import MemoryModelError, device_named, device_of_size

    try:
        if args.gpu_memory is not None:
            return device_of_size(args.gpu_memory), None
        if args.gpu != AUTO:
            return device_named(args.gpu), None
    except MemoryModelError as error:
        by_size = "" if args.gpu_memory is not None else "; for another GPU give its size, such as --gpu-memory 20GiB"
        raise UsageError(f"{error}{by_size}") from None
    from skyrl_doctor.facts.gpu.probe import gpu

    try:
        return job_device(gpu(machine), environ)
    except NotApplicable as no_gpu:
        try:
            return planned_device(plan), None
        except NotApplicable:
            raise UsageError(f"{no_gpu}; pass --gpu NAME or --gpu-memory SIZE") from None


def _solve(key: str, model: "Model", job: "Job", device: "Device") -> "Solution":
    from skyrl_doctor.core.errors import UsageError
    from skyrl_train.memory import MemoryModelError, solve

    try:
        return solve(key, model.shape, job, device)
    except MemoryModelError as error:
        raise UsageError(str(error)) from None


def _write(form: str, plan: "Plan", found: "GpuBudget", solution: "Solution | None") -> None:
    from skyrl_doctor.budget import show

    if form == "json":
        from skyrl_doctor.report.json import encode

        sys.stdout.write(encode(show.budget_data(plan, found, solution)))
    else:
        print_lines(show.budget_lines(plan, found, solution))


def _print_problems(plan: "Plan") -> None:
    """Prints on stderr what is wrong with the target; the estimate ignores those lines."""
    if not plan.problems:
        return
    from skyrl_doctor.machine.redact import Redactor

    redact = Redactor.of(os.environ)
    for problem in plan.problems:
        line = "" if problem.location.line is None else f":{problem.location.line}"
        print_note(redact(f"skyrl-doctor budget: {problem.location.file}{line}: {problem.message}"))
