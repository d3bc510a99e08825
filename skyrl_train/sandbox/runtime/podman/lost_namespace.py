"""A store whose pause process died under a running server: the user namespace of its containers is lost.

Podman's service then exits at every start, as long as its database lists running containers and none is left to join
(POD001). No process of the store can be reached any more. So the store is put into its state after a boot: Podman then
makes a new namespace and treats every container as ended. Nothing is repaired, migrated or reset: the images stay, and
the server removes its dead sandboxes one by one.
"""

import contextlib
import os
import re

from skyrl_train.sandbox.runtime.podman.leftovers import end_leftovers

NAMESPACE_LOST = re.compile(
    r"invalid internal status, try resetting the pause process"
    r"|cannot re-exec process to join the existing user namespace"
    r"|cannot set user namespace"
)
"""level=error msg="invalid internal status, try resetting the pause process with \\"podman system migrate\\": could not
find any running process: no such process"; the second while dead processes are not reaped, the third if another process has
the dead one's id."""
NOBODY_LEFT = "could not find any running process"
"""Part of the first message: no sandbox is left with a namespace to join. Otherwise it is enough to remove the pause
process's pid file."""
PAUSE, OF_THIS_BOOT = "libpod/tmp/pause.pid", "libpod/tmp/alive"
"""Below the run directory. Without the second file Podman treats a store as unused since the boot."""


def reset_lost_namespace(run_dir: str, output: str) -> str:  # FIX(POD001)
    """Only for the server's own store. Returns what was done; empty if Podman's output has another cause."""
    if not NAMESPACE_LOST.search(output):
        return ""
    _forget(run_dir, PAUSE)
    if NOBODY_LEFT not in output:
        return "the pause process was gone; its pid file was removed"
    ended = end_leftovers(run_dir)
    _forget(run_dir, OF_THIS_BOOT)
    return (
        f"the namespace of the sandboxes was lost; the store is now as after a boot, {len(ended)} processes were killed"
    )


def _forget(run_dir: str, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(run_dir, name))
