"""The first process of a sandbox with another server: reaps orphans, enforces the limits, forwards signals, and exits when
that server does.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable

from skyrl_train.sandbox.sandboxd.children import seal, start_unwatched

_SIGNALLED = 128


def run(argv: list[str], *, start_enforcer: Callable[[], None], log: Callable[[str], None]) -> int:
    """Exits with the server's status; a signal counts as 128 plus its number. Returns only if nothing could be run."""
    seal()  # else a process of the sandbox stops the enforcer, which runs here
    server, early = [0], []

    def pass_on(number: int, _frame: object) -> None:
        """Forwards a signal, or keeps it until the server has started."""
        if not server[0]:
            early.append(number)
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(server[0], number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, pass_on)
    try:
        pid = server[0] = start_unwatched(argv)
    except OSError as error:
        log(f"{argv[0]} cannot be run: {error.strerror}")
        return 127 if isinstance(error, FileNotFoundError) else 126
    for asked in early:
        pass_on(asked, None)
    start_enforcer()
    status = _reap_until(pid)
    code = _SIGNALLED + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    log(f"{argv[0]} exited with status {code}")
    os._exit(code)  # the enforcer's thread must not see the interpreter taken down around it


def _reap_until(wanted: int) -> int:
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == wanted:
            return status
