"""Start-up and preflight beside other tools, in one run: medians and ratios.

    python -m benchmarks.preflight [--rounds 7] [--short] [--scripts CHECKOUT]

The other tools live in an environment of their own (`make bench` installs it into .venv-bench); one that is not
installed is named as left out. The ten checks are the same on every side: benchmarks/ten_checks. With `--scripts`, also the
launch scripts of a checkout: one alone, and up to 200 in one call.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
TEN = HERE / "ten_checks"
OUT = HERE / "out" / "preflight.json"
MOST_SCRIPTS = 200


@dataclass(frozen=True)
class Side:
    """One thing to time: commands run one after another."""

    name: str
    commands: tuple[tuple[str, ...], ...]
    env: Mapping[str, str]


def gcm(binary: Path) -> list[tuple[str, ...]]:
    """The ten checks as health_checks has them: one process each."""
    tail = ("bench", "nagios", "--sink", "do_nothing")
    storage = (str(binary), "check-storage")
    directories = [(*storage, "directory-exists", "-d", path, *tail) for path in ("/tmp", "/var/tmp", "/dev/shm")]
    files = [
        (*storage, "file-exists", "-f", path, *tail)
        for path in ("/etc/passwd", "/etc/group", "/etc/hosts", "/usr/bin/env")
    ]
    mounts = [(*storage, "mounted-directory", "-d", path, *tail) for path in ("/", "/proc")]
    usage = (
        *storage,
        "disk-usage",
        "-v",
        "/",
        "--usage-critical-threshold",
        "99",
        "--usage-warning-threshold",
        "99",
        *tail,
    )
    return [usage, *mounts, *directories, *files]


def sides(others: Path) -> tuple[list[Side], list[str]]:
    """What there is to compare, and what is left out."""
    plain = dict(os.environ)
    with_ten = {**plain, "PYTHONPATH": str(TEN)}
    python = sys.executable
    doctor = str(Path(python).with_name("skyrl-doctor"))
    found = [
        Side("python -c pass", ((python, "-c", "pass"),), plain),
        Side("skyrl-doctor --version", ((doctor, "--version"),), plain),
        Side(
            "skyrl-doctor preflight, all checks", ((doctor, "preflight", "--role", "gpu", "--format", "json"),), plain
        ),
        Side("skyrl-doctor, the ten checks", ((doctor, "preflight", "--select", "BEN", "--format", "json"),), with_ten),
    ]
    missing = []
    health_checks, pytest = others / "bin" / "health_checks", others / "bin" / "pytest"
    if health_checks.exists():
        commands = gcm(health_checks)
        found.append(Side("gpucm, one check", (commands[3],), plain))
        found.append(Side("gpucm, the ten checks", tuple(commands), plain))
    else:
        missing.append("gpucm")
    if pytest.exists():
        words = (str(pytest), "-q", "-p", "no:cacheprovider", "--rootdir", str(TEN), str(TEN / "test_ten.py"))
        found.append(Side("pytest-testinfra, the ten checks", (words,), plain))
    else:
        missing.append("pytest-testinfra")
    nhc = os.environ.get("BENCH_NHC")
    if nhc:
        settings = {
            "INCDIR": f"{nhc}/scripts",
            "MARK_OFFLINE": "0",
            "DETACHED_MODE": "0",
            "LOGFILE": "-",
            "TIMEOUT": "20",
        }
        words = (
            "bash",
            f"{nhc}/nhc",
            "-c",
            str(TEN / "nhc.conf"),
            *(f"{name}={value}" for name, value in settings.items()),
        )
        found.append(Side("NHC, the ten checks", (words,), plain))
    else:
        missing.append("NHC (say BENCH_NHC=/path/to/a/checkout/of/mej/nhc)")
    torch_python = os.environ.get("BENCH_TORCH_PYTHON", python)
    if subprocess.run([torch_python, "-c", "import torch"], capture_output=True, check=False).returncode == 0:
        found.append(Side("torch.utils.collect_env", ((torch_python, "-m", "torch.utils.collect_env"),), plain))
    else:
        missing.append("torch (say BENCH_TORCH_PYTHON=/path/to/python)")
    return found, missing


def of_scripts(checkout: Path) -> list[Side]:
    """One script alone, and many in one call."""
    scripts = sorted(map(str, checkout.rglob("run_*.sh")))[:MOST_SCRIPTS]
    doctor = str(Path(sys.executable).with_name("skyrl-doctor"))
    sets = [("preflight, one script", scripts[:1]), (f"preflight, {len(scripts)} scripts in one call", scripts)]
    return [Side(name, ((doctor, "preflight", *words),), dict(os.environ)) for name, words in sets if words]


def seconds(side: Side, scratch: str) -> float:
    """Wall time; in a directory of its own, since some leave logs where they stand."""
    started = time.perf_counter()
    for command in side.commands:
        subprocess.run(
            command,
            cwd=scratch,
            env=dict(side.env),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=120,
            check=False,
        )
    return time.perf_counter() - started


def measure(found: Sequence[Side], rounds: int) -> dict[str, float]:
    """Medians; the sides take turns, so that a slow minute hits all of them."""
    times: dict[str, list[float]] = {side.name: [] for side in found}
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(rounds):
            for side in found:
                times[side.name].append(seconds(side, scratch))
    return {name: statistics.median(values) for name, values in times.items()}


def table(medians: Mapping[str, float]) -> str:
    base, ten = medians["python -c pass"], medians["skyrl-doctor, the ten checks"]
    lines = [f"{'':38}{'median s':>10}{'x python':>10}{'x our ten':>11}"]
    lines += [f"{name:38}{value:10.3f}{value / base:10.1f}{value / ten:11.2f}" for name, value in medians.items()]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Start-up and preflight beside other tools.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--short", action="store_true", help="two rounds: shows that it runs")
    parser.add_argument("--others", type=Path, default=Path(".venv-bench"))
    parser.add_argument("--scripts", type=Path, metavar="CHECKOUT", help="time launch scripts too: its run_*.sh")
    args = parser.parse_args()
    found, missing = sides(args.others.absolute())
    found += of_scripts(args.scripts) if args.scripts else []
    medians = measure(found, 2 if args.short else args.rounds)
    print(table(medians))
    for name in missing:
        print(f"left out, not installed: {name}")
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps({"median_s": medians, "left_out": missing}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
