"""`skyrl-train train` as a child of a test: started, waited for with a limit, and ended whatever happens."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cpu_stack.run import environment
from lanes.processes import described
from skyrl_train.contracts.verdict import Verdict, config_hash, write
from skyrl_train.launch import directory
from skyrl_train.launch.marks import end_marked, marked

LIMIT_S = 1200.0
"""Of one run, above what the run's own phases may take: it says then where it hangs. Alone on two cores it takes 60 s."""
GONE_S = 180.0
"""Agents of Ray look for a lost head for a minute: 63 s were measured."""
SHOWN = 20_000
STEP_S = 0.2
MARK = "SKYRL_TEST_RUN"


def allow(job: Path) -> None:
    """The verdict of a gate that has passed."""
    now = time.time()
    verdict = Verdict(
        config_sha256=config_hash([(job / directory.CONFIG).read_bytes()]),
        node=socket.gethostname(),
        role="gpu",
        gpus=(),
        versions={},
        outcomes={},
        unknown_allowed=False,
        written_at=now,
        expires_at=now + 3600,
    )
    write(str(job), verdict)


@dataclass
class Run:
    """A run that goes on. `log` is what it said, both streams together."""

    child: "subprocess.Popen[bytes]"
    path: Path
    mark: str

    @property
    def log(self) -> str:
        return self.path.read_text(errors="replace")

    def until(self, condition: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + LIMIT_S
        while not condition():
            assert self.child.poll() is None or condition(), self.shown(
                f"ended with {self.child.returncode} before {what}"
            )
            assert time.monotonic() < end, self.shown(f"{what} did not come within {LIMIT_S:g} s")
            time.sleep(STEP_S)

    def status(self) -> int:
        try:
            return self.child.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(self.shown(f"it did not end within {LIMIT_S:g} s")) from None

    def ends_with(self, status: int) -> None:
        """The run ends by itself, and nothing of it is left."""
        found = self.status()
        assert found == status, self.shown(f"ended with {found}, not {status}")
        left = self.left()
        assert left == [], self.shown(f"processes outlive their run:\n{described(left)}")

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.child.pid, number)

    def until_gone(self) -> None:
        """Nobody ends what a killed run leaves: it must end by itself."""
        end = time.monotonic() + GONE_S
        while left := self.left():
            late = time.monotonic() > end
            assert not late, self.shown(f"{GONE_S:g} s after their run was killed live on:\n{described(left)}")
            time.sleep(STEP_S)

    def left(self) -> list[int]:
        """Processes of the run that live, the first one included."""
        return marked({MARK: self.mark})

    def shown(self, what: str) -> str:
        """What a failure says: all that a person without this machine has."""
        return f"{what}; the end of {self.path.name}:\n{self.log[-SHOWN:]}"


@contextmanager
def training(job: Path, name: str) -> Iterator[Run]:
    path, mark = job / f"{name}.log", f"{job}-{name}"
    with path.open("wb") as out:
        child = subprocess.Popen(
            [sys.executable, "-m", "skyrl_train", "train", str(job)],
            env={**environment(job), MARK: mark},
            cwd=job.parent,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        yield Run(child, path, mark)
    finally:
        end_marked({MARK: mark}, 10.0)
        child.wait()
