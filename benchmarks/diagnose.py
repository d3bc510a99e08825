"""How fast a log is diagnosed, beside `rg -c -f` with the same patterns on the same bytes, in turns.

python benchmarks/diagnose.py [--short] [--megabytes N] [--rounds N]

A log like those of verl, vLLM, Ray and the sandbox runtime is made on the spot; then lines of 50 and of 100 MB, and files
whose every line is a failure, one twice the other; and a log of 10 kB, for what it takes to start. Each round times both
programs; the best of the rounds stands, and the load of the machine.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from skyrl_doctor.logs.match.engine import LOOKAHEAD
from skyrl_doctor.logs.match.engines import make_engine
from skyrl_doctor.logs.match.patterns import installed_patterns

RAY = "\x1b[36m(TaskRunner pid=81234)\x1b[0m "
LINES: tuple[Callable[[random.Random], str], ...] = (
    lambda r: (
        f"{RAY}step:{r.randrange(900)} - global_seqlen/min:{r.randrange(9999)} - actor/entropy:{r.random()} - "
        f"actor/pg_loss:{r.random()} - actor/grad_norm:{r.random()} - critic/score/mean:{r.random()} - "
        f"response_length/clip_ratio:{r.random()} - timing_s/gen:{r.random()} - timing_s/update_actor:{r.random()} - "
        f"perf/throughput:{r.random()} - rollout_metrics/finish_tool_ratio:{r.random()}"
    ),
    lambda r: (
        f"(EngineCore_DP0 pid=4411) INFO 03-02 09:{r.randrange(10, 60)}:30 [loggers.py:116] Engine 000: Avg prompt "
        f"throughput: {r.random() * 900:.1f} tokens/s, Running: {r.randrange(64)} reqs, Waiting: 0 reqs, "
        f"GPU KV cache usage: {r.random() * 90:.1f}%, Prefix cache hit rate: {r.random() * 90:.1f}%"
    ),
    lambda r: f'INFO:     10.4.0.17:{r.randrange(65535)} - "POST /v1/chat/completions HTTP/1.1" 200 OK',
    lambda r: f"2026-03-02 09:14:03,{r.randrange(1000):03} - DEBUG - session {r.getrandbits(48):x}: exit_code=0",
    lambda r: (
        f"\x1b[36m(AgentLoopWorker pid={r.randrange(9999)})\x1b[0m Added request cmpl-{r.getrandbits(128):032x}-0."
    ),
    lambda r: (
        f"Training Progress:  {r.randrange(99)}%|█▋        | {r.randrange(99)}/400 [1:0{r.randrange(9)}:51<9:40:11, 98.3s/it]\r"
    ),
    lambda r: (
        f"(raylet) [2026-03-02 09:14:03,{r.randrange(1000):03} I 812 812] (raylet) node_manager.cc:522: alive {r.getrandbits(96):x}"
    ),
    lambda r: (
        f"ERROR:tools:command failed in sandbox {r.getrandbits(32):x} [repeated {r.randrange(2, 99)}x across cluster]"
    ),
)
WEIGHTS = (8, 20, 40, 30, 20, 6, 10, 0.05)
RG = ("-c", "-a", "--no-unicode", "--regex-size-limit", "1G", "--dfa-size-limit", "1G", "-f")
"""Bytes, as we read them; with the limits that it was built with it refuses so many patterns."""
FAILURE = f"{RAY}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.16 GiB. GPU 0 has a total capacity of 19.62 GiB.\n"
FLOOR = 48.0
FORMS = 1_000
"""So many lines of failures differ."""


def realistic(megabytes: float) -> Iterator[bytes]:
    """Blocks of a megabyte of fresh lines, each used eight times over; the failure comes last."""
    rng = random.Random(1)
    left = megabytes * 1e6
    while left > 0:
        makers = rng.choices(LINES, WEIGHTS, k=5_000)
        block = "".join(f"{make(rng)}\n" for make in makers).encode()
        for _ in range(8):
            if left > 0:
                yield block
                left -= len(block)
    yield FAILURE.encode()


def fill(log: Path, pieces: list[bytes]) -> None:
    """Piece by piece: what this process holds when it starts another counts as that one's peak."""
    with log.open("wb") as out:
        out.writelines(pieces)


def patterns() -> str:
    """As ripgrep takes them: what is escaped needlessly, and what looks ahead, it refuses."""
    texts = (LOOKAHEAD.sub("", text) for text in installed_patterns().texts)
    return "".join(re.sub(r"\\(['\"/<>])", r"\1", text) + "\n" for text in texts)


def timed(argv: list[str]) -> tuple[float, float, int]:
    """Wall-clock seconds, processor seconds, and the peak of resident memory in MiB."""
    started = time.perf_counter()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, status, usage = os.wait4(process.pid, 0)
    spent = time.perf_counter() - started
    said = process.stderr.read().decode() if process.stderr else ""
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"{argv[0]} failed: {said[-400:]}")
    return spent, usage.ru_utime + usage.ru_stime, usage.ru_maxrss >> 10


def failures(megabytes: float) -> list[bytes]:
    """Lines of one failure, which differ in their figures."""
    forms = [FAILURE.replace("2.16", f"{at / 7:.2f}").encode() for at in range(1, FORMS + 1)]
    return [b"".join(forms)] * max(1, int(megabytes * 1e6 / len(FAILURE) / FORMS))


def compare(title: str, log: Path, rounds: int, rg: list[str] | None) -> tuple[float, float]:
    """One line of the table; our seconds, on the wall and of the processor, the best of the rounds."""
    size = log.stat().st_size / 1e6
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(timed([sys.executable, "-m", "skyrl_doctor", "diagnose", str(log)]))
        if rg:
            theirs.append(timed([*rg, str(log)]))
    wall, cpu = min(one[0] for one in ours), min(one[1] for one in ours)
    line = f"{title:21} {size:7.2f} MB: ours {wall:.2f} s, cpu {cpu:.2f} s, {max(one[2] for one in ours)} MiB"
    if theirs:
        rg_wall, rg_cpu = min(one[0] for one in theirs), min(one[1] for one in theirs)
        line += f"; rg {rg_wall:.2f} s, cpu {rg_cpu:.2f} s; speed of ours by rg's: {rg_wall / wall:.2f}, by cpu {rg_cpu / cpu:.2f}"
    print(line, flush=True)
    return wall, cpu


def floor() -> None:
    """What nobody who looks at each byte can do without: one pass of Hyperscan for a text that is not there, the line feeds,
    and what all patterns cost; the best of three. Last, for what this process holds counts as the peak of those that it starts."""
    data = b"".join(realistic(FLOOR))
    blocks = [data[at : at + (1 << 20)] for at in range(0, len(data), 1 << 20)]
    one = make_engine(["no log holds this"], "hyperscan")
    everything = installed_patterns().engine
    stages: dict[str, Callable[[bytes], object]] = {
        "line feeds, one by one": lambda block: block.count(b"\n"),
        "line feeds, each 60th": everything.ends,
        "one text, and noise": one.places,
        "all patterns": everything.places,
    }
    for title, stage in stages.items():
        spent = []
        for _ in range(3):
            started = time.process_time()
            for block in blocks:
                stage(block)
            spent.append(time.process_time() - started)
        print(f"{title:22} {min(spent) * 1e9 / len(data):.2f} s of the processor a gigabyte", flush=True)


def growth(title: str, log: Path, halves: list[list[bytes]], rounds: int, rg: list[str] | None) -> None:
    """A size and its double: what takes more than twice as long is not linear. The start counts in both."""
    spent = []
    for content in halves:
        fill(log, content)
        spent.append(compare(title, log, rounds, rg))
    wall, cpu = (double / single for single, double in zip(*spent, strict=True))
    print(f"{title:21} twice the size takes {wall:.2f} times as long, by cpu {cpu:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="24 MB and one round, to see that it works")
    parser.add_argument("--megabytes", type=float, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    size, rounds = (24.0, 1) if args.short else (args.megabytes, args.rounds)
    with tempfile.TemporaryDirectory() as where:
        directory = Path(where)
        (directory / "patterns").write_text(patterns())
        found = shutil.which("rg")
        rg = [found, *RG, str(directory / "patterns")] if found else None
        log = directory / "train.log"
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {'ripgrep beside it' if rg else 'no rg here'}")
        fill(log, [next(realistic(1))[:10_000]])
        compare("small", log, rounds + 2, rg)
        with log.open("wb") as out:
            out.writelines(realistic(size))
        compare("realistic", log, rounds, rg)
        ends = [b" No available worker slots\n"]
        growth("one line", log, [[b"x" * 50_000] * int(size * part) + ends for part in (1, 2)], rounds, rg)
        half = failures(size * 0.01)
        growth("every line a failure", log, [half, half * 2], rounds, rg)
        floor()
        print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
