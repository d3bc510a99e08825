"""The first process of a sandbox in which another server runs: reaps what is left behind, holds the limits, passes on
what it is asked, and ends when that server does.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable

from skyrl_train.sandbox.sandboxd.children import start_unwatched

_SIGNALLED = 128


def run(argv: list[str], *, start_warden: Callable[[], None], log: Callable[[str], None]) -> int:
    """Ends with the exit status for a shell: a signal is 128 and its number. It returns where nothing could be run."""
    server, early = [0], []

    def pass_on(number: int, _frame: object) -> None:
        """What comes before the server is there is told to it then."""
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
    start_warden()
    status = _reap_until(pid)
    code = _SIGNALLED + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    log(f"{argv[0]} ended with {code}")
    os._exit(code)  # the warden's thread must not see the interpreter taken down around it


def _reap_until(wanted: int) -> int:
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == wanted:
            return status
