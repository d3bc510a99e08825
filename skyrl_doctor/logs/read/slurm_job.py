"""Finds what the first lines of a log say of the Slurm job that wrote it."""

import re

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.read.blocks import Block

LIMIT = 1 << 18
"""The first bytes of a log, in which a job names itself."""
_PRINTED = re.compile(
    rb"\bSLURM_JOB_?ID['\"]?\s{0,3}[=:]\s{0,3}['\"]?([1-9]\d{0,7})\b|\*\*\* (?:JOB|STEP) ([1-9]\d{0,7})\b|\bStepId=([1-9]\d{0,7})\b"
    rb"|\bsrun: job ([1-9]\d{0,7}) |(?i:\bslurm job(?: ?id)?[ :=#]{1,3}([1-9]\d{0,7})\b)"
)
_ARRAY = re.compile(rb"\bSLURM_ARRAY_(JOB|TASK)_ID['\"]?\s{0,3}[=:]\s{0,3}['\"]?(\d{1,8})\b")
_CONTINUED = re.compile(
    rb"(?i)\b(?:requeue|resubmit|re-submit|restart|resum|continu)\w{0,6}\b[^\n]{0,60}?\bjob(?:[ _]?id)?[ :=#]{1,3}([1-9]\d{0,7})\b"
)
_DRIVER = re.compile(
    rb"[^\n]{0,200}(?:\bStarted a local Ray instance\b|\((?:TaskRunner|main_task|skyrl_entrypoint) pid=\d{1,9}\b|\bStarting RL run\b|\bError executing job with overrides\b)[^\n]{0,80}"
)
"""A line of the process that drives a run: a run has one."""
_DRIVER_PID = re.compile(rb"\((?:TaskRunner|main_task|skyrl_entrypoint) pid=(\d{1,9})\b")
MAX_DRIVERS = 64


@record
class JobWords:
    """The job ids that a log prints. `continues` are the jobs that it says it continues.

    `array_task` is set where it names one task of an array, as Slurm's file names do: 81230_4. Slurm gives each task a job
    id of its own too. `driver` tells the processes that drive a run apart: their first line and their number; empty in the
    log of another process. `driver_pids` are the numbers of all of them: a log may hold several attempts of a run.
    """

    ids: frozenset[str] = frozenset()
    array_task: str = ""
    continues: frozenset[str] = frozenset()
    driver: str = ""
    driver_pids: frozenset[str] = frozenset()


class JobWordsReader:
    """Collects what the first blocks of a file say of its job."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._array: dict[bytes, set[str]] = {b"JOB": set(), b"TASK": set()}
        self._continued: set[str] = set()
        self._driver = b""
        self._driver_pids: dict[bytes, None] = {}

    def add_block(self, block: Block) -> None:
        if block.start >= LIMIT:
            return
        text = block.data[: LIMIT - block.start]
        self._ids |= {next(filter(None, found.groups())).decode() for found in _PRINTED.finditer(text)}
        self._continued |= {found[1].decode() for found in _CONTINUED.finditer(text)}
        if not self._driver and (driver := _DRIVER.search(text)):
            self._driver = driver[0].strip()
        for pid in _DRIVER_PID.finditer(text):
            if len(self._driver_pids) < MAX_DRIVERS:
                self._driver_pids[pid[1]] = None
        for found in _ARRAY.finditer(text):
            self._array[found[1]].add(found[2].decode())

    def words(self) -> JobWords:
        arrays, tasks = self._array[b"JOB"], self._array[b"TASK"]
        task = f"{min(arrays)}_{min(tasks)}" if len(arrays) == len(tasks) == 1 else ""
        driver = b" ".join(filter(None, (next(iter(self._driver_pids), b""), self._driver))).decode("utf-8", "replace")
        pids = frozenset(pid.decode() for pid in self._driver_pids)
        return JobWords(frozenset(self._ids), task, frozenset(self._continued), driver, pids)
