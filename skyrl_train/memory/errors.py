"""What the memory model refuses. Each error names the value found and the value expected.

MemoryModelError
├── BadModelError          config.json cannot be read, or a value of it is missing or absurd
├── UnsupportedModelError  a model that this model of memory does not describe, with the reason
├── BadJobError            a setting of the run that cannot be
└── UnknownDeviceError     a GPU or a size that is not known
"""


class MemoryModelError(ValueError):
    """The question cannot be answered; the message says why."""


class BadModelError(MemoryModelError):
    """A config.json that is not one, or lacks a value, or holds an absurd one."""


class UnsupportedModelError(MemoryModelError):
    """A model whose memory is not described here. A figure for it would only look right."""


class BadJobError(MemoryModelError):
    """A setting of the run that is missing, of the wrong kind, or out of its range."""


class UnsupportedJobError(BadJobError):
    """A setting that makes sense and whose memory is not described here."""


class UnknownDeviceError(MemoryModelError):
    """Neither a GPU known by name nor a size."""
