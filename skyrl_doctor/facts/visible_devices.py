"""CUDA_VISIBLE_DEVICES as data. The reading of it is the trainer's own rule, for it decides by it what to set."""

from skyrl_train.node.visible_devices import (
    NO_DEVICES,
    VARIABLE,
    Entry,
    Form,
    Kind,
    VisibleDevices,
    parse,
)

__all__ = ["NO_DEVICES", "VARIABLE", "Entry", "Form", "Kind", "VisibleDevices", "parse"]
