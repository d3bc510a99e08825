"""What a job leaves on its node, and how it is taken away: sandboxes, mounts, and the job's own directory."""

import os
import shutil
import subprocess

from skyrl_train.node.podman_store import job_directory

LIMIT_S = 60.0


def node_directory(uid: int, job_id: str | None) -> str:
    """Everything that the node's rules make for this job lies below it."""
    return os.path.dirname(job_directory(uid=uid, job_id=job_id))


def remove(path: str) -> str:
    """Removes the job's directory with what is in it; why it could not, else nothing.

    Files of a sandbox belong to other ids of the user's range: only `podman unshare` may remove those.
    """
    if os.path.islink(path) or not os.path.isdir(path) or os.stat(path).st_uid != os.getuid():
        return ""
    shutil.rmtree(path, ignore_errors=True)
    if not os.path.exists(path):
        return ""
    try:
        subprocess.run(
            (shutil.which("podman") or "podman", "unshare", "rm", "-rf", path),
            timeout=LIMIT_S,
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{path} could not be removed: {error}"
    shutil.rmtree(path, ignore_errors=True)
    return f"{path} could not be removed as a whole" if os.path.exists(path) else ""
