"""Real hangs on a CPU, read by py-spy: in a collective of gloo, in Ray, in an HTTP request, in a data loader."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.process import signal_group
from skyrl_doctor.watch.hang.look import stacks
from skyrl_doctor.watch.observations import Hang

pytestmark = pytest.mark.hang
LIMIT_S = 300.0
GLOO = """
import os, threading, torch, torch.distributed as d
d.init_process_group("gloo", rank=int(os.environ["RANK"]), world_size=3, init_method=f"file://{os.environ['STORE']}")
def compute_reward():
    threading.Event().wait()
if os.environ["RANK"] == "1":
    compute_reward()
d.all_reduce(torch.ones(2))
"""
HTTP = """
import socket, urllib.request
server = socket.create_server(("127.0.0.1", 0))
def get_reward():
    return urllib.request.urlopen(f"http://127.0.0.1:{server.getsockname()[1]}/score").read()
get_reward()
"""
LOADER = """
import threading
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, number):
        if number == 5:
            threading.Event().wait()
        return number
for batch in DataLoader(Rows(), num_workers=2):
    pass
"""
RAY = """
import os, threading
os.environ["RAY_raylet_start_wait_time_s"] = "240"
import ray
ray.init("local", num_cpus=2, include_dashboard=False)  # not one that another lane has started
@ray.remote
class Rollout:
    def ping(self):
        return 1
    def generate(self):
        threading.Event().wait()
first, second = Rollout.remote(), Rollout.remote()
ray.get([first.ping.remote(), second.ping.remote()])
ray.get(first.generate.remote())
"""


@contextmanager
def hanging(root: Path, code: str, ranks: int = 0) -> Iterator[Path]:
    """The processes, whose output is a log in this directory."""
    (root / "train.py").write_text(code, encoding="utf-8")
    log = root / "train.log"
    started: list[subprocess.Popen[bytes]] = []
    try:
        for rank in range(max(1, ranks)):
            named = {"RANK": str(rank), "WORLD_SIZE": str(ranks)} if ranks else {}
            with log.open("ab") as out:
                environ = {**os.environ, "STORE": str(root / "store"), **named}
                argv = (sys.executable, str(root / "train.py"))
                started.append(subprocess.Popen(argv, stdout=out, stderr=out, env=environ, start_new_session=True))
        yield log
    finally:
        for process in started:
            signal_group(process.pid, 9)
            process.wait(60)


def seen(log: Path, wanted: str) -> str:
    """What the watch says, once the processes hang. Numbers of processes and lines become N."""
    look, machine, until, message = stacks((), (), [str(log)]), LocalMachine(), time.monotonic() + LIMIT_S, ""
    while time.monotonic() < until:
        try:
            (found,) = look(machine, time.time())
        except CouldNotLook as error:
            message = str(error)
            continue
        assert isinstance(found, Hang)
        message = re.sub(r"(?<=process )\d+|(?<=:)\d+(?=\))", "N", found.message)
        if re.fullmatch(wanted, message):
            return message
    raise AssertionError(f"{message}\n{log.read_text(encoding='utf-8')[-2000:]}")


def test_gloo(tmp_path: Path) -> None:
    with hanging(tmp_path, GLOO, ranks=3) as log:
        assert seen(
            log,
            r"rank 1 \(process N\) waits in compute_reward \((?:.*/)?train.py:N\), in .*threading.py:N\); "
            r"ranks 0, 2 wait for it in all_reduce \(torch/distributed/distributed_c10d.py:N\)",
        )


def test_http(tmp_path: Path) -> None:
    with hanging(tmp_path, HTTP) as log:
        assert seen(
            log, r"python\S* \(process N\) waits in get_reward \((?:.*/)?train.py:N\), in .*readinto \(socket.py:N\)"
        )


def test_data_loader(tmp_path: Path) -> None:
    with hanging(tmp_path, LOADER) as log:
        assert seen(
            log,
            r"pt_data_worker \(process N\) waits in (?:Rows\.)?__getitem__ \((?:.*/)?train.py:N\), in .*threading.py:N\); "
            r"python\S* \(process N\) waits for it in .*_try_get_data \(.*dataloader.py:N\), in .*",
        )


def test_ray(tmp_path: Path) -> None:
    with hanging(tmp_path, RAY) as log:
        assert seen(
            log,
            r"ray::\S* \(process N\) waits in (?:Rollout\.)?generate \((?:.*/)?train.py:N\), in .*threading.py:N\); "
            r"python\S* \(process N\) waits for it in .*get_objects \(ray/_private/worker.py:N\)",
        )
