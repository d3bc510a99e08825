"""A workspace that failed to start reports another error when it is deleted.

## What it does
`skyrl-doctor diagnose` finds the warnings of the destructor in the logs. They are never the root cause of a failed
run. No check can see them before the job.

## Why it breaks training
The run does not end. `APIRemoteWorkspace` failed while it was created; Python then calls `__del__` on the incomplete
object, which raises again. The sandbox that was already started may keep its slot until the runtime removes it.

## How to fix
Look for the first error above: it is the reason why the workspace could not be created. Close workspaces with `with`,
not in a destructor, as `skyrl_train/sandbox/client` does.

## Example
    Exception ignored in: <function APIRemoteWorkspace.__del__ at 0x7f3a2c0e5bc0>
"""

from skyrl_doctor.core.signature import Signature

SIGNATURES = (
    Signature(
        pattern=r"Exception ignored in: <function APIRemoteWorkspace\.__del__|APIRemoteWorkspace' object has no attribute '__pydantic_private__'|\bCleanup error: ",
        sample="Exception ignored in: <function APIRemoteWorkspace.__del__ at 0x7f3a2c0e5bc0>",
        explain="an incomplete workspace is cleaned up; this ends no run, but its sandbox may remain",
        versions="openhands-workspace",
        fatal=False,
    ),
)
