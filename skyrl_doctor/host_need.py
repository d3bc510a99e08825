"""The host memory that a run needs on each node. SLM005, ENV007 and `budget` print the same figure."""

from collections.abc import Mapping

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.model_files import MODEL_KEY, ModelFiles, by_name
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.plan.training import training_of
from skyrl_train.node.host_memory import host_memory_need_gib, resident_gib

GIB = 1 << 30


@record(kw_only=True)
class HostNeed:
    """`terms` add up to the memory of one node, in GiB. `resident_gib` of it stays there during the whole run."""

    run: str
    terms: Mapping[str, float]
    resident_gib: float

    @property
    def gib(self) -> float:
        return sum(self.terms.values())

    def __str__(self) -> str:
        kept = f" ({self.resident_gib:.0f} GiB of it during the whole run)" if self.resident_gib else ""
        return f"about {self.gib:.0f} GiB for {self.run}{kept}"


def host_need(plan: Plan, model: ModelFiles | None) -> HostNeed | None:
    """The figure of the memory model, else of a simpler formula; None where the model's size is unknown."""
    if MODEL_KEY not in plan.values:
        return None
    return _of_memory_model(plan, model) or _of_formula(plan)


def _of_memory_model(plan: Plan, model: ModelFiles | None) -> HostNeed | None:
    from skyrl_doctor.budget.job import memory_job  # loads the memory model: only if memory is compared
    from skyrl_doctor.budget.models import model_of
    from skyrl_train.memory import host_memory

    try:
        gpus = _gpus(plan)
        found = model_of(model or by_name(plan))
        host = host_memory(found.shape, memory_job(plan))
    except (NotApplicable, CouldNotLook):
        return None
    moving = max(host.activations, host.loading)
    name = "activations" if host.activations >= host.loading else "weights while they are read"
    terms = {"states kept there": host.states, name: moving, "processes": host.processes}
    return HostNeed(
        run=f"{found.name} on {_counted(gpus)}",
        terms={term: size * gpus / GIB for term, size in terms.items() if size},
        resident_gib=host.states * gpus / GIB,
    )


def _of_formula(plan: Plan) -> HostNeed | None:
    run = training_of(plan)
    if run is None:
        return None
    return HostNeed(
        run=f"{run.billions:g}B parameters on {_counted(run.ranks)}",
        terms=host_memory_need_gib(run),
        resident_gib=resident_gib(run),
    )


def _gpus(plan: Plan) -> int:
    return plan.integer("slurm.gpus_per_node") or 1


def _counted(gpus: int) -> str:
    return f"{gpus} GPU{'s' * (gpus > 1)}"
