"""skyrl-doctor budget: estimates the GPU memory of a run. Exit status 0: fits, 1: does not fit, 2: no estimate."""

import argparse
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from skyrl_doctor.cli.options import add_versions
from skyrl_train.contracts.screen import columns, print_lines, print_note

if TYPE_CHECKING:
    from skyrl_doctor.budget.lengths import KnownLengths
    from skyrl_doctor.budget.models import Model
    from skyrl_doctor.budget.past_rollouts import PastLengths
    from skyrl_doctor.budget.show import Solved
    from skyrl_doctor.facts.gpu.budget import GpuBudget
    from skyrl_doctor.machine.base import Machine
    from skyrl_doctor.plan.model import Plan
    from skyrl_train.memory import Device, Job, Solution

AUTO = "auto"
LIMIT_S = 20.0
DOES_NOT_FIT = 1
PROGRAM = "python -m verl.trainer.main_ppo"
ASSUMED_GPUS = 8
ASSUMED = {
    "algorithm.adv_estimator": "grpo",
    "data.max_prompt_length": 1024,
    "data.max_response_length": 2048,
    "actor_rollout_ref.rollout.n": 8,
    "actor_rollout_ref.rollout.tensor_model_parallel_size": 1,
    "actor_rollout_ref.model.use_remove_padding": True,
    "actor_rollout_ref.actor.use_dynamic_bsz": True,
}
"""What a run has of which only the model is given. The rest is verl's default."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "targets",
        nargs="*",
        metavar="TARGET",
        help="configuration, as for preflight, or the directory of a launch; without one, --model NAME is judged with GRPO in verl's defaults",
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
        "--model",
        metavar="NAME|DIR|FILE",
        help="the model, if the configuration does not name it or its files are elsewhere: a public name, a directory or a config.json",
    )
    parser.add_argument(
        "--gpus", type=int, metavar="N", help="the number of GPUs of the trainer (default: that of the configuration)"
    )
    parser.add_argument(
        "--solve",
        metavar="KEY",
        help="find the largest value of KEY that fits: micro_batch, response_length, max_model_len, n or gpu_memory_utilization",
    )
    for name in ("prompt", "reply"):
        parser.add_argument(
            f"--{name}-tokens",
            metavar="P50,P99",
            help=f"median and 99th percentile of the tokens of a {name}, for the expected figure",
        )
    parser.add_argument(
        "--job",
        metavar="DIR",
        help="take the expected lengths from the rollouts/step_N.jsonl of this job directory (default: that of TARGET)",
    )
    add_versions(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="list the components of each phase")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    parser.add_argument("--figure", metavar="F", help="draw the phases as bars into this .svg, .png or .html file")
    parser.epilog = "Exit status: 0 fits (with the expected lengths, if they are known), 1 does not fit, 2 no estimate or bad input."


def run(args: argparse.Namespace) -> int:
    from skyrl_doctor.budget.job import knob_of
    from skyrl_doctor.budget.question import estimate
    from skyrl_doctor.budget.show import Solved
    from skyrl_doctor.core.errors import CouldNotLook, NotApplicable, UsageError
    from skyrl_doctor.machine.local import LocalMachine

    machine = LocalMachine()
    try:
        plan, model, job, device, free = _read_inputs(machine, args)
        known = _lengths(machine, plan, args)
        gpus = _other_gpus(plan, job) if args.gpus is not None else None
        found = estimate(model, job, device, free, known)
        solved = None
        if args.solve is not None:
            key = knob_of(plan, args.solve)
            likely = None if known is None else _solve(key, model, known.job(job), device, free)
            solved = Solved(_solve(key, model, job, device, free), likely)
    except (CouldNotLook, NotApplicable) as error:
        raise UsageError(f"no estimate: {error}") from None
    finally:
        machine.close()
    if args.figure is not None:
        from skyrl_doctor.budget.figure import draw

        draw(found, args.figure)
    if not args.targets:
        print_note(f"no TARGET, so this run is assumed: {plan.targets[-1]}")
    _write(args, plan, found, solved, gpus)
    _print_problems(plan)
    return 0 if found.likely.fits else DOES_NOT_FIT


def _read_inputs(machine: "Machine", args: argparse.Namespace) -> "tuple[Plan, Model, Job, Device, int | None]":
    """The plan, the model, the job, the device and its free memory. Each is read within a time limit."""
    from skyrl_doctor.budget.job import memory_job
    from skyrl_doctor.budget.models import given_model, planned_model
    from skyrl_doctor.core.errors import CouldNotLook, NotApplicable, UsageError
    from skyrl_doctor.core.time_limit import call_within
    from skyrl_doctor.facts.environ import Environ
    from skyrl_doctor.plan.load import load

    if not args.targets and not args.model:
        raise UsageError("pass a TARGET, or --model NAME for an estimate with verl's defaults")
    if args.gpus is not None and args.gpus < 1:
        raise UsageError(f"--gpus is {args.gpus}; expected 1 or more")
    _refuse_model_names(machine, args.targets)
    targets = [_configuration(target) for target in args.targets] or [_assumed(args.model, args.gpus)]
    plan = call_within(LIMIT_S, lambda: load(machine, targets, verl_version=args.verl_version), "reading the target")
    environ = Environ(machine.environ())
    try:
        model = call_within(
            LIMIT_S,
            lambda: given_model(machine, args.model, environ) if args.model else planned_model(machine, plan, environ),
            "reading the model",
        )
    except (CouldNotLook, NotApplicable) as error:
        raise type(error)(_with_the_jobs(plan, str(error), args.gpus)) from None
    device, free = _device(machine, plan, environ, args)
    return plan, model, memory_job(plan, gpus=args.gpus), device, free


def _configuration(target: str) -> str:
    """The configuration of a launch, if the target is its directory."""
    from skyrl_doctor.budget.past_rollouts import is_job_directory
    from skyrl_train.contracts.job_files import CONFIG

    return os.path.join(target, CONFIG) if is_job_directory(target) else target


def _with_the_jobs(plan: "Plan", refusal: str, gpus: int | None) -> str:
    """The refusal of a model and, if the job has one too, that: the user can mend both at once."""
    from skyrl_doctor.budget.job import is_of_training, memory_job
    from skyrl_doctor.core.errors import CouldNotLook, NotApplicable

    try:
        memory_job(plan, gpus=gpus)
    except (CouldNotLook, NotApplicable) as error:
        return f"{refusal}. Also: {error}" if is_of_training(plan) else str(error)
    return refusal


def _refuse_model_names(machine: "Machine", targets: Sequence[str]) -> None:
    """A model's public name in place of a configuration."""
    from skyrl_doctor.core.errors import UsageError
    from skyrl_train.memory import known_config

    for target in targets:
        if re.fullmatch(r"[\w.-]+(?:/[\w.-]+)?", target) and known_config(target) and not machine.exists(target):
            raise UsageError(f"{target} is a model and not a configuration; use --model {target}")


def _assumed(model: str, gpus: int | None) -> str:
    """The run that is judged if the user names a model alone."""
    settings = {
        "actor_rollout_ref.model.path": model,
        "trainer.n_gpus_per_node": gpus or ASSUMED_GPUS,
        **ASSUMED,
    }
    return " ".join([PROGRAM, *(f"{key}={shlex.quote(str(value))}" for key, value in settings.items())])


def _device(
    machine: "Machine", plan: "Plan", environ: Mapping[str, str], args: argparse.Namespace
) -> "tuple[Device, int | None]":
    from skyrl_doctor.budget.question import job_device, planned_device
    from skyrl_doctor.core.errors import NotApplicable, UsageError
    from skyrl_doctor.plan.answers import GPU_TYPE
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
        requested = GPU_TYPE in plan.values
        try:
            return planned_device(plan), None
        except NotApplicable as open_:
            by = " with --gpu" if str(open_).endswith("name one of them") else "; pass --gpu NAME or --gpu-memory SIZE"
            raise UsageError(f"{open_ if requested else no_gpu}{by}") from None


def _solve(key: str, model: "Model", job: "Job", device: "Device", free: int | None) -> "Solution":
    from skyrl_doctor.core.errors import UsageError
    from skyrl_train.memory import MemoryModelError, solve

    try:
        return solve(key, model.shape, job, device, free=free)
    except MemoryModelError as error:
        raise UsageError(str(error)) from None


def _lengths(machine: "Machine", plan: "Plan", args: argparse.Namespace) -> "KnownLengths | None":
    """The lengths that the user gives, those of the job's earlier rollouts, or of a sample of the data on this machine."""
    from skyrl_doctor.budget.lengths import known_lengths
    from skyrl_doctor.core.errors import CouldNotLook, NotApplicable, UsageError
    from skyrl_doctor.facts.environ import Environ
    from skyrl_doctor.facts.model_files import model_files
    from skyrl_doctor.facts.prompts import prompts
    from skyrl_train.memory import MemoryModelError, lengths_from

    try:
        given = [None if text is None else lengths_from(text) for text in (args.prompt_tokens, args.reply_tokens)]
    except MemoryModelError as error:
        raise UsageError(str(error)) from None
    past = _past(plan, args.job) if None in given else None
    sampled = None
    if given[0] is None and past is None and "data.train_files" in plan.values:
        environ = Environ(machine.environ())
        try:
            sampled = prompts(machine, plan, environ, model_files(machine, plan, environ))
        except (CouldNotLook, NotApplicable):
            sampled = None  # the limit is the safe side
    return known_lengths(given[0], given[1], sampled, past)


def _past(plan: "Plan", job: str | None) -> "PastLengths | None":
    """The lengths of earlier rollouts. UsageError if the user names a job that has none."""
    from skyrl_doctor.budget.past_rollouts import job_directory_of, past_lengths
    from skyrl_doctor.core.errors import UsageError
    from skyrl_doctor.core.time_limit import call_within

    named = [job] if job is not None else [job_directory_of(target) for target in plan.targets]
    directory = next((each for each in named if each is not None), None)
    if directory is None:
        return None
    found = call_within(LIMIT_S, lambda: past_lengths(directory), "reading rollouts")
    if found is None and job is not None:
        raise UsageError(
            f"--job {job}: no rollouts that were trained on; expected a job directory with rollouts/step_N.jsonl"
        )
    return found


def _other_gpus(plan: "Plan", job: "Job") -> int | None:
    """The number of GPUs in the configuration, where the job is judged on another number."""
    from skyrl_doctor.budget.job import memory_job
    from skyrl_doctor.core.errors import CouldNotLook, NotApplicable

    try:
        configured = memory_job(plan).n_gpus
    except (CouldNotLook, NotApplicable):
        return None
    return configured if configured != job.n_gpus else None


def _write(
    args: argparse.Namespace, plan: "Plan", found: "GpuBudget", solved: "Solved | None", other_gpus: int | None
) -> None:
    from skyrl_doctor.budget import show

    if args.format == "json":
        from skyrl_doctor.report.json import encode

        sys.stdout.write(encode(show.budget_data(plan, found, solved)))
    else:
        print_lines(
            show.budget_lines(plan, found, solved, verbose=args.verbose, screen=columns(), other_gpus=other_gpus)
        )


def _print_problems(plan: "Plan") -> None:
    """Prints on stderr what is wrong with the target; the estimate ignores those lines."""
    problems = [problem for problem in plan.problems if not problem.is_note]
    if not problems:
        return
    from skyrl_doctor.machine.redact import Redactor

    redact = Redactor.of(os.environ)
    for problem in problems:
        line = "" if problem.location.line is None else f":{problem.location.line}"
        print_note(redact(f"skyrl-doctor budget: {problem.location.file}{line}: {problem.message}"))
