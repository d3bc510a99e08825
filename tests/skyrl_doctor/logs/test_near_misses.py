"""Lines with some of the words of a failure that report another thing, or nothing: none of them names a failure."""

import pytest

from skyrl_doctor.logs.cause.root_cause import find_root_cause
from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.match.patterns import installed_patterns

LINES = [
    "ValueError: Invalid reference format: 'Patient'. Expected 'ResourceType/id'.",
    "fatal: invalid reference: own-branch",
    "ValueError: own names must be lowercase",
    "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build",
    "NVRM: GPU0 gspTraceServiceVgpuEventTracing: GSP RPC trace started",
    'process "/bin/sh -c make" did not complete successfully: exit code: 137: context canceled: context canceled',
    "ERRO[0000] Refreshing container 7a86ba26: getting its state: no such container",
    "ValueError: the own panel is odd. Please set OWN_PANEL.",
    "ValueError: You cannot specify both input_ids and inputs_embeds at the same time",
    "ValueError: `position_ids` must be a tensor of 3 dimensions",
    "ValueError: Unsupported own dataset file 'a.bin'. Expected one of: csv, json",
    "RuntimeError: own layer metadata is missing fields: {'a'}",
    "sqlite3.OperationalError: unable to open database file",
    "AttributeError: 'OwnConfig' object has no attribute 'rope_theta'",
    "  ╰─▶ Because own-engine was not found in the package registry and mine depends on own-engine, we can conclude that your requirements are unsatisfiable.",
    "AssertionError: the reward must be greater than 0",
    "conda: error: argument COMMAND: invalid choice: 'ativate' (choose from activate, clean)",
    "/var/spool/slurmd/job4711/slurm_script: line 31: ...: command not found",
    "Skipping import of cpp extensions: /venv/torchao/_C.abi3.so: undefined symbol: _ZN3c105ErrorC2E",
    "RecursionError: maximum recursion depth exceeded while calling a Python object",
]


@pytest.mark.parametrize("line", LINES)
def test_a_near_miss_names_no_failure(line: str) -> None:
    assert find_root_cause([scan_chunks("a.log", [f"{line}\n".encode()], installed_patterns())]).root is None
