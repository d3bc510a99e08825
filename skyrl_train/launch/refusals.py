"""What a login node can refuse beside the doctor's findings. `launch` and `launch --dry-run` share it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from skyrl_train.contracts.job_files import LAUNCHES
from skyrl_train.launch.request import Request, job_dir_name
from skyrl_train.launch.role import Role

if TYPE_CHECKING:
    from skyrl_train.launch.launch import LaunchPlan


def refuse(request: Request, plan: "LaunchPlan", say: Callable[[str], None]) -> None:
    """UsageError if the launch would fail on its nodes or never leave the queue."""
    from skyrl_train.config.tasks import refuse_without_tasks
    from skyrl_train.launch import partitions, sbatch_variables, trial
    from skyrl_train.launch.jobs import own_options
    from skyrl_train.launch.launch import planned
    from skyrl_train.launch.needs import refuse_without_packages
    from skyrl_train.launch.task_rows import refuse_bad_rows

    if Role.RUNTIME in plan.roles and not request.runtime_command:
        refuse_without_packages(Role.RUNTIME, plan.python)
    if Role.TRAINER in plan.roles and not (plan.prime or request.trainer_command):
        refuse_without_tasks(plan.config)
        refuse_without_packages(Role.TRAINER, plan.config.python.interpreter or plan.python)
        refuse_bad_rows(plan.config, plan.work_dir, say)
    if not request.local:
        own = own_options(plan.config, "", plan.trainer_options)
        sbatch_variables.report([(role, own[role]) for role in plan.roles], plan.variables, say)
        partitions.refuse(
            plan.config,
            plan.roles,
            variables=plan.variables,
            has_own_options=plan.prime is not None,
            judges_slices=request.has_gate,
            say=say,
        )
        trial.refuse(planned(plan, job_dir_name(request, LAUNCHES)), say)
