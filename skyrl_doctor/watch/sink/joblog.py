"""One line for each alert in watch.log; or, where the user asks for it, in the job's own log."""

import glob
import os
import stat

from skyrl_doctor.logs.read.watch_lines import WATCH_PREFIX
from skyrl_doctor.report.plain import plain
from skyrl_doctor.watch.files import LOG
from skyrl_doctor.watch.finding import Alert

AUTO, OWN, NONE = "auto", "watch.log", "none"


def line(one: Alert) -> str:
    """The alert as one line. The evidence is only in events.jsonl: quoted here, it would look like the error itself."""
    where = one.finding.location
    at = f" at {where.file}:{where.line}" if where else ""
    kind = "root cause" if one.root else one.finding.severity.word
    return f"{WATCH_PREFIX.decode()}{one.id} {one.slug} ({kind}){at}: {' '.join(plain(one.finding.message).split())}"


class JobLog:
    """Appends in one write. `file` is watch.log, auto (the newest training_*.out of the job), none or a path."""

    def __init__(self, job_dir: str, file: str = OWN) -> None:
        self._own = os.path.join(job_dir, LOG)
        self._file = self._own if file == OWN else file
        self._job_dir = job_dir

    def add(self, text: str) -> str:
        """The file that got the line; "" if none did."""
        wanted = self._job_log() if self._file == AUTO else self._file
        for path in () if wanted == NONE else (wanted, self._own):
            if path and _appended(path, text, create=path == self._own):
                return path
        return ""

    def _job_log(self) -> str:
        found = [path for path in glob.glob(f"{glob.escape(self._job_dir)}/training_*.out") if os.path.isfile(path)]
        return max(found, key=os.path.getmtime, default="")


def _appended(path: str, text: str, *, create: bool) -> bool:
    flags = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY | (os.O_CREAT if create else 0)
    data = f"{text}\n".encode("utf-8", "replace")
    try:
        handle = os.open(path, flags, 0o644)
    except OSError:
        return False
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return False
        if _is_stdout(handle):  # the watch already prints into the job's log
            return True
        return os.write(handle, data) == len(data)
    except OSError:
        return False
    finally:
        os.close(handle)


def _is_stdout(handle: int) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.fstat(1))
    except OSError:
        return False
