"""The trainer opens a path that exists only in the sandbox.

## What it does
`skyrl-doctor diagnose` and `watch` find errors about `/testbed`, `/r2e_tests` and `/workspace` in the trainer's logs.
No check can see it before the job.

## Why it breaks training
These directories are in the container of the rollout. On the trainer's node the path does not exist or may not be
written, so the rollout fails; where it exists, the agent changes the wrong files.

## How to fix
Read and write these paths through the sandbox, by a command or a file transfer. The agent loop of `skyrl-train` opens
no path of a sandbox on its own machine.

## Example
    PermissionError: [Errno 13] Permission denied: '/testbed'
"""

from skyrl_doctor.core.signature import Signature

CAUSE = "a path of the sandbox was used on this machine"

SIGNATURES = (
    Signature(
        pattern=r"Error: \[Errno \d+\] [\w -]{1,40}: '/(?:testbed|r2e_tests|workspace)(?:/|')|cannot change to '/(?:testbed|r2e_tests|workspace)\b|\b(?:NoSuchPath|InvalidGitRepository)Error: /(?:testbed|r2e_tests|workspace)\b",
        sample="OSError: [Errno 30] Read-only file system: '/testbed'",
        explain=CAUSE,
        versions="python",
        unless=r"\bWARN",
    ),
    Signature(
        pattern=r"PermissionError: \[Errno 13\] Permission denied: '/(?:testbed|r2e_tests|workspace)",
        sample="PermissionError: [Errno 13] Permission denied: '/testbed'",
        explain=CAUSE,
        versions="python",
    ),
)
