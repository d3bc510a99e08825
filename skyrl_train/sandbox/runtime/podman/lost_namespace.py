"""A store whose pause process died under a running server: the user namespace of its containers is lost with it.

Podman's service ends as soon as it is started then, for ever, as long as its database tells of containers that run and
none of them is left to join (POD001). Nothing of the store runs any more, or can be reached; so it is put into the state
that it has after a boot, where Podman makes a new namespace and takes every container for ended. Nothing is repaired,
migrated or reset: the images stay, and the server takes its dead sandboxes away one by one.
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
find any running process: no such process"; the second while the dead are not reaped, the third where a stranger has the
number of the dead."""
NOBODY_LEFT = "could not find any running process"
"""In the first of them: no sandbox lives whose namespace Podman could join. Where one does, it needs no more than to
forget the pause process."""
PAUSE, OF_THIS_BOOT = "libpod/tmp/pause.pid", "libpod/tmp/alive"
"""Below the run directory. Podman takes a store without the second for one that was not used since the boot."""


def revive(run_dir: str, said: str) -> str:  # FIX(POD001)
    """Only for the server's own store. What was done; nothing where Podman's words tell of something else."""
    if not NAMESPACE_LOST.search(said):
        return ""
    _forget(run_dir, PAUSE)
    if NOBODY_LEFT not in said:
        return "the pause process is gone, and forgotten"
    ended = end_leftovers(run_dir)
    _forget(run_dir, OF_THIS_BOOT)
    return f"the namespace of the sandboxes was lost: the store is as after a boot, {len(ended)} processes ended"


def _forget(run_dir: str, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(run_dir, name))
