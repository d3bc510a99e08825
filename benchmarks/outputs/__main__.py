"""Compares today's outputs with stored digests: `python -m benchmarks.outputs [--pin] [--show NAME]`.

Each row of digests.txt has a name and two digests. `judged` covers what was decided: ids, statuses, severities, places,
commands, exit status. `whole` covers every byte of the JSON except durations and the version. A change of words changes
`whole` alone.
"""

import argparse
import contextlib
import hashlib
import io
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from skyrl_doctor.cli.app import dispatch

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
STORED = HERE / "digests.txt"
ROLES = ("auto", "gpu", "runtime", "login")
WORDS = {"message", "reason", "explain", "evidence", "summary", "notes"}
VARIES = {"duration_s", "version"}
SALTED = re.compile(r"<redacted:[0-9a-f]{8}>")
"""The label of a secret is salted anew in each process."""
STATUS_WORDS = {"pass", "fail", "skip", "unknown"}


def commands() -> dict[str, tuple[str, ...]]:
    """Every command line that is pinned, by its name."""
    found: dict[str, tuple[str, ...]] = {}
    machines = sorted(path for path in (ROOT / "tests/machines").iterdir() if path.is_dir())
    for machine in machines:
        for role in ROLES:
            words = ("preflight", "--from", str(machine.relative_to(ROOT)), "--role", role, "--format", "json")
            found[f"preflight {machine.name} {role}"] = words
    targets = sorted(path for path in (ROOT / "examples").rglob("*") if path.suffix in {".toml", ".sh", ".conf"})
    for target in targets:
        path = str(target.relative_to(ROOT))
        words = ("preflight", path, "--from", "tests/machines/clean_gpu_node", "--role", "gpu", "--format", "json")
        found[f"preflight {path}"] = words
    for log in sorted(path for path in (ROOT / "tests/logs").glob("*/*") if path.is_file()):
        path = str(log.relative_to(ROOT))
        found[f"diagnose {path}"] = ("diagnose", path, "--format", "json")
    return found


def printed(words: tuple[str, ...]) -> tuple[int, str]:
    """Exit status and standard output of one command, run in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = dispatch(list(words))
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
    return status, out.getvalue() or err.getvalue()


def without(data: object, keys: set[str]) -> object:
    """The same JSON without these keys; a summary of counts stays."""
    if isinstance(data, Mapping):
        kept = {key: value for key, value in data.items() if key not in keys or _counts(value)}
        return {key: without(value, keys) for key, value in kept.items()}
    return [without(value, keys) for value in data] if isinstance(data, list) else data


def _counts(value: object) -> bool:
    return isinstance(value, Mapping) and set(value) == STATUS_WORDS


def row(name: str, words: tuple[str, ...]) -> tuple[str, str, str]:
    """Name, digest of what was judged, digest of the whole output."""
    status, text = printed(words)
    text = SALTED.sub("<redacted>", text)
    try:
        data = json.loads(text)
    except ValueError:
        return name, digest([status]), digest([status, text])
    return name, digest([status, without(data, WORDS | VARIES)]), digest([status, without(data, VARIES)])


def digest(data: object) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def rows(names: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[str, str, str]]:
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        yield from pool.map(row, names, names.values(), chunksize=16)


def stored() -> dict[str, tuple[str, str]]:
    lines = STORED.read_text(encoding="utf-8").splitlines() if STORED.exists() else []
    parts = [line.rsplit(" ", 2) for line in lines]
    return {name: (judged, whole) for name, judged, whole in parts}


def compare(old: Mapping[str, tuple[str, str]], new: Mapping[str, tuple[str, str]]) -> int:
    """Prints each difference and a summary; the number of outputs that judge otherwise or are gone."""
    gone = sorted(set(old) - set(new))
    judged = [name for name in new if name in old and old[name][0] != new[name][0]]
    worded = [name for name in new if name in old and old[name][0] == new[name][0] and old[name][1] != new[name][1]]
    for title, names in (("gone", gone), ("judged otherwise", judged), ("other words", worded)):
        sys.stdout.writelines(f"{title}: {name}\n" for name in names)
    equal = len(set(old) & set(new)) - len(judged) - len(worded)
    sys.stdout.write(
        f"{len(new)} outputs: {equal} equal, {len(worded)} in other words, {len(judged)} judged otherwise, "
        f"{len(set(new) - set(old))} new, {len(gone)} gone\n"
    )
    return len(judged) + len(gone)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.outputs", description=__doc__.partition("\n")[0])
    parser.add_argument("--pin", action="store_true", help="store today's digests")
    parser.add_argument("--show", metavar="NAME", help="print one output")
    args = parser.parse_args()
    os.chdir(ROOT)
    os.environ["TZ"] = "UTC"
    if args.show:
        sys.stdout.write(printed(commands()[args.show])[1])
        return 0
    new = {name: (judged, whole) for name, judged, whole in rows(commands())}
    worse = compare(stored(), new)
    if args.pin:
        STORED.write_text("".join(f"{name} {a} {b}\n" for name, (a, b) in new.items()), encoding="utf-8")
        return 0
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
