"""What a watch costs beside a run that logs 2,000 lines a second, and how soon it tells of a root.

python benchmarks/watch.py [--seconds 60] [--lines 2000] [--no-samplers]

CPU seconds are those of the watch and of every child it started, out of /proc, over the whole run after its start-up;
memory is the most that it ever held (VmHWM).
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
ROOT = (
    "ERROR 03-02 09:14:00 [serving.py:9] ValueError: 'max_tokens' or 'max_completion_tokens' is too large: 4000. "
    "This model's maximum context length is 4096 tokens and your request has 1297 input tokens (4000 > 4096 - 1297).\n"
)
KINDS = (
    "INFO 03-02 09:14:{s:02d} [loggers.py:123] Engine 000: Avg prompt throughput: {a}.1 tokens/s, Avg generation throughput: {b}.9 tokens/s, Running: {a} reqs, Waiting: 0 reqs, GPU KV cache usage: {b}.2%\n",
    'INFO:     10.0.0.{a}:5{b:04d} - "POST /v1/chat/completions HTTP/1.1" 200 OK\n',
    "\x1b[36m(AgentLoopWorker pid={b}{a})\x1b[0m INFO:2026-03-02 09:14:{s:02d},123:rollout {a} turn {b}: <function=terminal> ok\n",
    "(TaskRunner pid=81234) DEBUG 2026-03-02 09:14:{s:02d} dispatching batch {a} of {b} to worker group, uid 7f3a{a:04x}{b:04x}\n",
    "Generating rollouts:  {a}%|{a}        | {a}/512 [00:{s:02d}<01:22,  3.1it/s]\r",
)
STEP = "(TaskRunner pid=81234) step:{n} - actor/loss:0.11 - actor/grad_norm:0.4 - critic/score/mean:0.3 - timing_s/step:28.1\n"
FILES = ("training_1.out", "vllm.log", "runtime_1.out")


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--seconds", type=float, default=60.0)
    asked.add_argument("--lines", type=int, default=2000)
    asked.add_argument("--no-samplers", action="store_true")
    args = asked.parse_args()
    with tempfile.TemporaryDirectory() as job_dir:
        measure(Path(job_dir), args.seconds, args.lines, samplers=not args.no_samplers)


def measure(job_dir: Path, seconds: float, lines: int, *, samplers: bool) -> None:
    command = [sys.executable, "-m", "skyrl_doctor", "watch", str(job_dir), *([] if samplers else ["--no-samplers"])]
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        warm_up(job_dir, process.pid)
        before, begun = cpu(process.pid), time.monotonic()
        write(job_dir, seconds, lines)
        spent, wall = cpu(process.pid) - before, time.monotonic() - begun
        delay = report_delay(job_dir)
        print(
            f"lines a second              {lines} in {len(FILES)} files, for {wall:.0f} s, load {os.getloadavg()[0]:.1f}"
        )
        print(f"CPU of one core             {100 * spent / wall:.2f} %   ({spent:.2f} s in {wall:.0f} s)")
        print(f"CPU with start-up           {cpu(process.pid):.2f} s in {time.monotonic() - started:.0f} s")
        print(f"memory, most                {peak_mib(process.pid):.1f} MiB")
        print(f"root reported after         {delay:.2f} s")
    finally:
        process.kill()
        process.wait()


def warm_up(job_dir: Path, pid: int) -> None:
    """Start-up, and the engine for long logs, which is made once, after 8 MiB: until the watch has caught up."""
    write(job_dir, 2.0, 50_000)
    idle, before = 0, cpu(pid)
    while idle < 4:
        time.sleep(1.0)
        now = cpu(pid)
        idle, before = (idle + 1 if now - before < 0.05 else 0), now


def write(job_dir: Path, seconds: float, lines: int) -> None:
    """As a run does: some lines ten times a second, a step every five seconds."""
    dice = random.Random(7)
    begun = time.monotonic()
    for beat in range(int(seconds * 10)):
        for name in FILES:
            with (job_dir / name).open("a", encoding="utf-8") as file:
                for _ in range(lines // 10 // len(FILES)):
                    numbers = {"a": dice.randrange(1, 100), "b": dice.randrange(10, 999), "s": beat // 10 % 60}
                    file.write(dice.choice(KINDS).format(**numbers))
                if beat % 50 == 0 and name == FILES[0]:
                    file.write(STEP.format(n=int(time.time())))
        time.sleep(max(0.0, begun + (beat + 1) / 10 - time.monotonic()))


def report_delay(job_dir: Path) -> float:
    with (job_dir / "vllm.log").open("a", encoding="utf-8") as file:
        file.write(ROOT)
    written = time.monotonic()
    while time.monotonic() - written < 10:
        text = (job_dir / "events.jsonl").read_text(encoding="utf-8")
        if any(json.loads(line).get("id") == "CFG001" for line in text.splitlines()):
            return time.monotonic() - written
        time.sleep(0.01)
    return float("inf")


def cpu(pid: int) -> float:
    """Seconds of the process, and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return sum(int(fields[n]) for n in (11, 12, 13, 14)) / TICKS


def peak_mib(pid: int) -> float:
    text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("VmHWM"))


if __name__ == "__main__":
    main()
