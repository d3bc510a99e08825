"""One sandbox's share of what the kernel counts for all sandboxes of a user together, since they have one user id."""

import contextlib
from pathlib import Path

from skyrl_train.sandbox.engine import Share

_TERMINALS, _FOR_THE_HOST = "kernel/pty/max", "kernel/pty/reserve"
_INOTIFY, _PIPES = "fs/inotify/max_user_instances", "fs/pipe-user-pages-soft"
_LEAST_TERMINALS, _LEAST_INOTIFY = 16, 8
"""What ordinary programs need, however many sandboxes there are."""


def share_of(slots: int, sysctls: str = "/proc/sys") -> Share:
    terminals = _read(sysctls, _TERMINALS) - _read(sysctls, _FOR_THE_HOST)
    inotify = _read(sysctls, _INOTIFY)
    return Share(
        terminals=max(_LEAST_TERMINALS, terminals // (slots + 1)),
        inotify=inotify and max(_LEAST_INOTIFY, inotify // (slots + 1)),
        pipe_pages=_read(sysctls, _PIPES) // 2,  # beyond the whole, pipes of others get small, but still work
    )


def _read(sysctls: str, name: str) -> int:
    with contextlib.suppress(OSError, ValueError):
        return int(Path(sysctls, name).read_text(encoding="utf-8"))
    return 0
