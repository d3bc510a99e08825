"""The errors of the memory model. Each message states what was found and what is expected.

MemoryModelError
├── BadModelError          config.json cannot be read, or a value in it is missing or out of range
├── UnsupportedModelError  a model that is not supported, with the reason
├── BadJobError            an invalid setting of the run
└── UnknownDeviceError     an unknown GPU or an invalid size
"""


class MemoryModelError(ValueError):
    """The memory cannot be predicted; the message has the reason."""


class BadModelError(MemoryModelError):
    """A config.json is invalid, or a value in it is missing or out of range."""


class UnsupportedModelError(MemoryModelError):
    """A model is not supported. A number for it would look right but be wrong."""


class BadJobError(MemoryModelError):
    """A setting of the run is missing, of the wrong type or out of range."""


class UnsupportedJobError(BadJobError):
    """A valid setting is not supported by the memory model."""


class UnknownDeviceError(MemoryModelError):
    """A name is neither a known GPU nor a size."""
