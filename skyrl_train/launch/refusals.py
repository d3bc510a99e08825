"""What a login node can refuse beside the doctor's findings. `launch` and `launch --dry-run` share it."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.job_files import LAUNCHES
from skyrl_train.launch.request import Request, job_dir_name
from skyrl_train.launch.role import Role

if TYPE_CHECKING:
    from skyrl_train.launch.launch import LaunchPlan


def refusals(request: Request, plan: "LaunchPlan", say: Callable[[str], None]) -> Iterator[str]:
    """Every reason why the launch would fail on its nodes or never leave the queue."""
    from skyrl_train.config.tasks import refuse_without_tasks
    from skyrl_train.launch import directory, partitions, render, sbatch_variables, trial
    from skyrl_train.launch.jobs import own_options
    from skyrl_train.launch.launch import planned
    from skyrl_train.launch.needs import refuse_without_packages
    from skyrl_train.launch.task_rows import refuse_bad_rows

    if job_dir := request.job_dir:
        yield from _reason(lambda: directory.refuse_taken(job_dir))
    unrendered = list(_reason(render.load))
    yield from unrendered
    if Role.RUNTIME in plan.roles and not request.runtime_command:
        yield from _reason(lambda: refuse_without_packages(Role.RUNTIME, plan.python))
    if Role.TRAINER in plan.roles and not (plan.prime or request.trainer_command):
        yield from _reason(lambda: refuse_without_tasks(plan.config))
        python = plan.config.python.interpreter or plan.python
        yield from _reason(lambda: refuse_without_packages(Role.TRAINER, python))
        yield from _reason(lambda: refuse_bad_rows(plan.config, plan.work_dir, say))
    if request.local:
        return
    own = own_options(plan.config, "", plan.trainer_options)
    sbatch_variables.report([(role, own[role]) for role in plan.roles], plan.variables, say)
    of_slurm = list(
        _reason(
            lambda: partitions.refuse(
                plan.config,
                plan.roles,
                variables=plan.variables,
                has_own_options=plan.prime is not None,
                judges_slices=request.has_gate,
                say=say,
            )
        )
    )
    yield from of_slurm
    if not of_slurm and not unrendered:  # Slurm would refuse the same again
        yield from _reason(lambda: trial.refuse(planned(plan, job_dir_name(request, LAUNCHES)), say))


def _reason(refuse: Callable[[], object]) -> Iterator[str]:
    try:
        refuse()
    except UsageError as error:
        yield str(error)
