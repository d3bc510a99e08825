"""As whom a sandbox runs, and whether that user may write where the task's files are (IMG007).

Clients ask for user 10001, and images built for the agent server have a user of their own; the files of R2E-Gym's images
are root's. In a rootless container root is nobody but the user who started it, so sandboxes run as root there.
"""

from skyrl_train.contracts.record import record

ROOT = 0
WORK_PLACES = ("/testbed", "/root")
"""Where the preparation of an R2E-Gym task and the agent write."""
_OTHERS_WRITE = 0o002
_GROUP_WRITES = 0o020


@record(kw_only=True)
class Owner:
    """Of a directory in an image; ids as the container sees them."""

    path: str
    uid: int
    gid: int
    mode: int


def user_of(configured: str, *, as_root: bool) -> str:  # FIX(IMG007)
    """The user that the sandbox gets: root wherever that is asked for, else the image's own, which is root if unsaid."""
    name = configured.partition(":")[0].strip()
    return str(ROOT) if as_root or name in ("", "root", "0") else name


def may_write(user_id: int, owner: Owner) -> bool:
    """As a user without further groups."""
    if user_id == ROOT or owner.mode & _OTHERS_WRITE:
        return True
    return owner.uid == user_id or (owner.gid == user_id and bool(owner.mode & _GROUP_WRITES))
