"""How long until a hang is reported, by NVRx and by the watch: `python -m benchmarks.hang`.

Two ranks add tensors with gloo, a step each second, until rank 1 waits forever. The launcher of NVRx runs them first, with
heartbeats from the program and the limits that NVRx derives from the observed intervals; then plain torchrun runs them beside
`skyrl-doctor watch`. Both need torch; NVRx is the package nvidia-resiliency-ext. Seven minutes, nearly all of them waiting.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

STEPS, CALIBRATED = 12, 8
LIMIT_S = 500.0
NVRX, WATCH = "NVRx", "skyrl-doctor watch"
LAUNCHERS = {
    NVRX: "nvidia_resiliency_ext.fault_tolerance.launcher",
    WATCH: "torch.distributed.run",
}
SIGNS = {NVRX: "Did not get subsequent heartbeat", WATCH: "AGT018"}


def train() -> None:
    """The program: heartbeats if NVRx started it, and a hang of rank 1."""
    import torch
    import torch.distributed

    client = None
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    if "FT_RANK_MONITOR_IPC_SOCKET" in os.environ:
        from nvidia_resiliency_ext.fault_tolerance import RankMonitorClient  # type: ignore[import-not-found]

        client = RankMonitorClient()
        client.init_workload_monitoring()
    for step in range(1, 10**6):
        time.sleep(1.0)
        while step > STEPS and rank == 1:
            time.sleep(60.0)
        torch.distributed.all_reduce(torch.ones(8))
        if client is not None:
            client.send_heartbeat()
            if step == CALIBRATED:
                client.calculate_and_set_hb_timeouts()
        if rank == 0:
            print(f"step:{step} - critic/score/mean:0.5 - timing_s/step:1.0", flush=True)


def measure(tool: str, folder: Path) -> tuple[float, str]:
    """Seconds from the last step to the report, and the report."""
    log, seen = folder / "train.log", folder.with_suffix(".watch")
    command = [sys.executable, "-m", LAUNCHERS[tool], "--nproc-per-node=2", "--max-restarts=0", "--master-port=29591"]
    with log.open("w") as out, seen.open("w") as said:
        job = subprocess.Popen(
            [*command, __file__, "--train"], stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
        watch = None
        if tool == WATCH:
            words = [sys.executable, "-m", "skyrl_doctor", "watch", str(folder), "--pid", str(job.pid)]
            watch = subprocess.Popen(words, stdout=said, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            return _wait(log, seen if watch else log, SIGNS[tool])
        finally:
            for child in filter(None, (watch, job)):
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()


def _wait(log: Path, report: Path, sign: str) -> tuple[float, str]:
    began = last = time.monotonic()
    steps = 0
    while time.monotonic() - began < LIMIT_S:
        count = log.read_text(errors="replace").count("step:")
        if count > steps:
            steps, last = count, time.monotonic()
        found = [line for line in report.read_text(errors="replace").splitlines() if sign in line]
        if found:
            return time.monotonic() - last, found[0].strip()
        time.sleep(0.2)
    raise TimeoutError(f"no report in {LIMIT_S:g} s; see {report}")


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--tool", choices=(NVRX, WATCH), action="append", help="default: both")
    args = parser.parse_args(words)
    if args.train:
        train()
        return 0
    with tempfile.TemporaryDirectory(prefix="hang-") as root:
        for tool in args.tool or (NVRX, WATCH):
            folder = Path(root) / tool.replace(" ", "-")
            folder.mkdir()
            seconds, report = measure(tool, folder)
            print(f"{tool}: {seconds:.0f} s after the last step: {report}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
