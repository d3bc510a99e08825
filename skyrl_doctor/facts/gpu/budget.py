"""What the run will take of the GPU that it gets, by the trainer's own memory model."""

from typing import TYPE_CHECKING

from skyrl_doctor.core.record import record

if TYPE_CHECKING:  # the model of memory is loaded when a plan asks for it
    from skyrl_train.memory import Budget, Job, ModelShape


@record(kw_only=True)
class GpuBudget:
    """`shape_from` says where the model's shape comes from; `kept` is what stays on the GPU during an update, whatever
    the batch is; `free` is None where no driver told it."""

    model: str
    shape_from: str
    shape: "ModelShape"
    job: "Job"
    budget: "Budget"
    kept: int
    free: int | None = None

    @property
    def limit(self) -> int:
        """The bytes that the run can have: what is free now, else the device."""
        total = self.budget.device.total
        return total if self.free is None else min(self.free, total)

    @property
    def where(self) -> str:
        """The device and its limit, for messages."""
        device = self.budget.device
        if self.limit < device.total:
            return f"{device.name} has {in_gib(self.limit)} free of {in_gib(device.total)}"
        return f"{device.name} has {in_gib(device.total)}"


def in_gib(size: float) -> str:
    return f"{size / 2**30:.1f} GiB"
