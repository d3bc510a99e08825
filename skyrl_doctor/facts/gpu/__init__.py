"""The GPUs that a job can use: their records, the two readers of the driver, the probes, and the job's GPU budget."""

from skyrl_doctor.facts.gpu.devices import Closed, Device, Gpu, Gpus, Memory, Owner, Process, Slice, usable

__all__ = ["Closed", "Device", "Gpu", "Gpus", "Memory", "Owner", "Process", "Slice", "usable"]
