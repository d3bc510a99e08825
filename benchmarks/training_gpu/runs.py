"""A run: started, followed step by step, and ended with all that it started. What is seen is written down at once."""

import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.training_gpu import cpu
from benchmarks.training_gpu.marks import GO, LIMIT, MOVED, OF, RUN
from skyrl_train import process as processes
from skyrl_train.launch.marks import end_marked

BEGUN = "Training Progress:"
"""verl's bar appears when all is loaded and the first step begins."""
ROOT = Path(__file__).parents[2]
POLL_S = 0.05
LEAVE_S = 20.0
"""For a run that has done its steps to end by itself."""


@dataclass(slots=True)
class Run:
    """`steps` are verl's own metrics, in their order."""

    name: str
    mark: str
    folder: Path
    tell: Callable[[dict[str, Any]], None]
    process: processes.Child
    began: float = field(default_factory=time.monotonic)
    steps: list[dict[str, float]] = field(default_factory=list)
    begun_s: float | None = None
    first_s: float | None = None
    exit: int | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def log(self) -> str:
        path = self.folder / f"{self.name}.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def watch(self) -> None:
        """In a thread of its own: when something came is known also of a run that nobody waits for."""
        while self.look() and self.exit is None:
            time.sleep(POLL_S)

    def look(self) -> bool:
        """Takes what is new; whether it still runs."""
        with self.lock:
            self._take()
            return self.process.poll() is None

    def _take(self) -> None:
        if self.begun_s is None and BEGUN in self.log:
            self.begun_s = time.monotonic() - self.began
            self.tell({"run": self.name, "begun_s": self.begun_s})
        for step in metrics(self.folder / f"{self.name}.metrics")[len(self.steps) :]:
            self.first_s = self.first_s or time.monotonic() - self.began
            self.steps.append(step)
            self.tell({"run": self.name, "step": len(self.steps), "after_s": time.monotonic() - self.began, **step})

    def until(self, condition: Callable[[], bool], limit_s: float) -> bool:
        """Whether the condition came while it ran, within the limit."""
        end = time.monotonic() + limit_s
        while self.look() and time.monotonic() < end:
            if condition():
                return True
            time.sleep(POLL_S)
        return condition()

    def follow(self, steps: int, limit_s: float, *, leave_s: float = LEAVE_S) -> None:
        """To its last step, and then to its end."""
        if self.until(lambda: len(self.steps) >= steps, limit_s) and leave_s:
            self.until(lambda: False, leave_s)
        self.end()

    def end(self) -> None:
        """Nothing of it is left. A run that hung, or was stopped after its steps, has the exit status of its signal."""
        self.look()
        self.process.end(3.0)
        end_marked({RUN: self.mark}, 3.0)
        self.exit = self.process.status
        self.tell({"run": self.name, "exit": self.exit, "wall_s": time.monotonic() - self.began, "moved": self.moved()})

    def moved(self) -> list[dict[str, float]]:
        """What each optimiser step changed."""
        return read_lines(self.folder / f"{self.name}.moved")


def start(
    name: str,
    words: Sequence[str],
    folder: Path,
    tell: Callable[[dict[str, Any]], None],
    *,
    torch_gib: float = 0.0,
    go: Path | None = None,
    on_cpu: bool = False,
    more: Mapping[str, str] = {},
) -> Run:
    """In a process group of its own, with its log, its metrics and its weights' moves beside each other."""
    mark = f"{name}{OF}{uuid.uuid4().hex[:12]}"  # another program on this machine may have a run of this name
    for kind in ("log", "metrics", "moved"):
        (folder / f"{name}.{kind}").unlink(missing_ok=True)
    modules = [*([cpu.MODULE] if on_cpu else []), "benchmarks.training_gpu.inside", "benchmarks.training_gpu.faults"]
    places = [str(ROOT), str(ROOT / "tests"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environ = os.environ | {
        RUN: mark,
        GO: str(go or ""),
        MOVED: str(folder / f"{name}.moved"),
        LIMIT: f"{torch_gib:g}" if torch_gib and not on_cpu else "",
        "VERL_FILE_LOGGER_PATH": str(folder / f"{name}.metrics"),
        "VERL_USE_EXTERNAL_MODULES": ",".join(modules),
        "PYTHONPATH": os.pathsep.join(places),
        "RAY_ADDRESS": "local",
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "RAY_USAGE_STATS_ENABLED": "0",
        **(cpu.ENVIRON if on_cpu else {}),
        **more,
    }
    with (folder / f"{name}.log").open("wb") as log:
        process = processes.start(words, stdout=log, stderr=log, env=environ, cwd=folder)
    run = Run(name, mark, folder, tell, process)
    threading.Thread(target=run.watch, name=name, daemon=True).start()
    return run


def metrics(path: Path) -> list[dict[str, float]]:
    return [line["data"] for line in read_lines(path)]


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Whole lines of JSON; the last one may be being written."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return [json.loads(line) for line in text.split("\n")[:-1]]
