"""The GPU memory that the run will need, according to the trainer's memory model."""

from typing import TYPE_CHECKING

from skyrl_doctor.core.record import record

if TYPE_CHECKING:  # the memory model is imported only if a plan needs it
    from skyrl_train.memory import Budget, Host, Job, ModelShape, StepTime


@record(kw_only=True)
class GpuBudget:
    """`budget` is the worst case, with every sequence at its limit. `expected` is that with the lengths that `lengths`
    describes, `host` and `seconds` go with it; None if none are known. `replies_known`: replies are not taken at their
    limit. `time_needs_lengths`: the time depends on lengths that are not known. `shape_from` is the source of the model's
    shape. `kept` bytes stay on the GPU during an update, whatever the batch size.
    """

    model: str
    shape_from: str
    shape: "ModelShape"
    job: "Job"
    budget: "Budget"
    expected: "Budget | None" = None
    lengths: str = ""
    replies_known: bool = False
    time_needs_lengths: bool = False
    host: "Host | None" = None
    seconds: "StepTime | None" = None
    kept: int

    @property
    def free(self) -> int | None:
        """The free bytes of the device; None if no driver reports them."""
        return self.budget.free

    @property
    def limit(self) -> int:
        """The bytes that the run can use: the free memory if it is known, else all of the device."""
        return self.budget.limit

    @property
    def likely(self) -> "Budget":
        """The expected figure; the worst case if no lengths are known."""
        return self.budget if self.expected is None else self.expected

    @property
    def where(self) -> str:
        """The device and its limit, for messages."""
        device = self.budget.device
        if self.limit < device.total:
            return f"{device.name} has {in_gib(self.limit)} free of {in_gib(device.total)}"
        return f"{device.name} has {in_gib(device.total)}"


def in_gib(size: float) -> str:
    return f"{size / 2**30:.1f} GiB"
