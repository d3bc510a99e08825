"""The SDK's local conversation gets a remote workspace.

## What it does
`skyrl-doctor diagnose` and `watch` find the SDK's error in the logs. No check can see it before the job.

## Why it breaks training
`LocalConversation` runs tools on its own machine and accepts only a `LocalWorkspace`. With a remote workspace it
raises before the first turn, so every rollout fails.

## How to fix
Use the SDK's remote conversation with a remote workspace, or run the agent loop yourself and send only the tool calls
to the sandbox, as `skyrl-train` does.

## Example
    AssertionError: workspace must be a LocalWorkspace instance
"""

from skyrl_doctor.core.signature import Signature

CAUSE = "the SDK's local conversation was given a remote workspace"

SIGNATURES = (
    Signature(
        pattern=r"(?:must be|requires|expected) an? (?:instance of )?'?LocalWorkspace",
        sample="TypeError: conversation requires a LocalWorkspace, got APIRemoteWorkspace",
        explain=CAUSE,
        versions="openhands-sdk",
    ),
    Signature(
        pattern=r"workspace must be a LocalWorkspace",
        sample="AssertionError: workspace must be a LocalWorkspace instance",
        explain=CAUSE,
        versions="openhands-sdk",
    ),
)
