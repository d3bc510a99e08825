"""From `skyrl-train launch` to both jobs submitted, on a real Slurm of this machine: best, median, and where it goes.

    python -m benchmarks.launch [--rounds 9]

Needs what the slurm lane needs: slurmctld, slurmd and munged, and root.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
LIMIT_S = 1.5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    from lanes.slurm.lab import a_cluster

    with tempfile.TemporaryDirectory(prefix="sl", dir="/tmp", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        with a_cluster(Path(name)) as cluster:
            return measured(cluster, Path(name), rounds)


def measured(cluster, at: Path, rounds: int) -> int:  # type: ignore[no-untyped-def]  # the lab is on a path of its own
    from lanes.slurm.site import CONFIG

    (at / "run.toml").write_text(CONFIG)
    words = [sys.executable, "-m", "skyrl_train", "launch", "run.toml"]
    words += ["--runtime-command", "true", "--trainer-command", "true"]
    doctor = [
        sys.executable,
        "-m",
        "skyrl_doctor",
        "preflight",
        "run.toml",
        "--role",
        "login",
        "--ignore",
        "ENV001",
        "--output",
        "report",
    ]
    sides = {
        "launch, with its login gate": words,
        "launch --no-gate": [*words, "--no-gate"],
        "the login gate alone": doctor,
    }
    took: dict[str, list[float]] = {title: [] for title in sides}
    for number in range(rounds):  # in turns, so that what else the machine does meets all of them
        for title, line in sides.items():
            more = [] if line is doctor else ["--job-dir", str(at / f"job-{len(line)}-{number}")]
            began = time.monotonic()
            done = cluster.run(*line, *more, cwd=at, limit_s=120)
            took[title].append(time.monotonic() - began)
            if done.returncode:
                sys.stderr.write(done.stderr)
                return 1
            cluster.clear()
    for title, times in took.items():
        sys.stdout.write(f"{title:<30} best {min(times):.2f} s, median {statistics.median(times):.2f} s of {rounds}\n")
    sys.stdout.write(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs; wanted below {LIMIT_S:g} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
