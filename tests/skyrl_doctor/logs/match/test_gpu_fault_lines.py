"""GPU006: the driver's lines about GPUs and NVSwitches."""

import re

import pytest

from checks.gpu.gpu_fault import SIGNATURES


def _explained(line: str) -> list[str]:
    found = ((each, re.search(each.pattern, line)) for each in SIGNATURES)
    return [each.explain.format(**match.groupdict()) for each, match in found if match]


@pytest.mark.parametrize("gpu", ["PCI:0000:3b:00", "0000:03:00", "PCI:0000:9b:00.0"])
@pytest.mark.parametrize("number", range(1, 200))
def test_each_xid_has_one_explanation(number: int, gpu: str) -> None:
    (explained,) = _explained(f"[  12.5] NVRM: Xid ({gpu}): {number}, pid='<unknown>', name=<unknown>, odd")
    assert gpu.removeprefix("PCI:") in explained


def test_a_fatal_sxid_is_a_fault_of_the_switch() -> None:
    line = "nvidia-nvswitch1: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 48 LTSSM Fault Up"
    assert _explained(line) == [
        "the NVSwitch 0000:06:00.0 reports a fatal error (SXid 20034): the node's GPUs cannot reach each other over it"
    ]


@pytest.mark.parametrize(
    "rest",
    ["12028, Non-fatal, Link 32 egress non-posted PRIV error", "20034, Data {0x1, 0x2}", "20034, Severity 1 Engine"],
)
def test_an_sxid_that_is_not_fatal_is_no_fault(rest: str) -> None:
    assert _explained(f"nvidia-nvswitch1: SXid (PCI:0000:06:00.0): {rest}") == []
