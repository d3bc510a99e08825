"""Computes the GPU memory of this plan with the trainer's memory model. It reads nothing from the machine.

It has its own file because it imports skyrl_doctor.memory, which imports the record in `budget`.
"""

from skyrl_doctor.core.check import probe
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.gpu.budget import GpuBudget
from skyrl_doctor.facts.gpu.devices import Gpus
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.facts.prompts import PromptLengths
from skyrl_doctor.plan.answers import planned_gpu_type
from skyrl_doctor.plan.model import Plan


@probe(limit_s=5.0)
def gpu_budget(
    plan: Plan, files: ModelFiles, gpus: Gpus | None, environ: Environ, sampled: PromptLengths | None
) -> GpuBudget:
    if gpus is None:
        planned_gpu_type(plan)  # raises if the plan names no GPU type, before the memory model is imported
    from skyrl_doctor.budget.job import memory_job
    from skyrl_doctor.budget.lengths import known_lengths
    from skyrl_doctor.budget.models import model_of
    from skyrl_doctor.budget.question import estimate, job_device, planned_device

    device, free = (planned_device(plan), None) if gpus is None else job_device(gpus, environ)
    return estimate(model_of(files), memory_job(plan), device, free, known_lengths(None, None, sampled))
