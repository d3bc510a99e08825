"""Makes the stored tables of keys by date from the history of a repository.

`python -m benchmarks.schemas prime-rl CHECKOUT` writes skyrl_doctor/plan/defaults/prime_rl_schemas.json.gz,
`python -m benchmarks.schemas skyrl CHECKOUT` the one of SkyRL. Nothing of the repository is run.
"""

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from skyrl_doctor.plan.schemas.dated import FOLDER
from skyrl_doctor.plan.schemas.packages import PRIME, SKYRL, Package, program_keys
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.yaml import leaves

PACKAGES = {"prime-rl": PRIME, "skyrl": SKYRL}
TAGS = {"prime-rl": "v*.*.0", "skyrl": "skyrl*-v*"}
OLD_YAML = ("skyrl-train/skyrl_train/config/", "skyrl/train/config/")
"""SkyRL's configuration before its classes: a Hydra tree."""
Table = dict[str, list[list[str]]]


def main(name: str, checkout: str) -> None:
    package = PACKAGES[name]
    programs: dict[str, dict[str, list[list[str]]]] = {}
    dates: dict[str, list[str]] = {}
    for date, commit in versions(checkout, package):
        found = dict(keys_of(checkout, commit, package))
        for program, keys in found.items():
            if extend(programs.setdefault(program, {}), keys, date):
                dates.setdefault(program, []).append(date)
        for program in programs:
            if program not in found:
                extend(programs[program], {}, date)
    tables = {program: {"dates": dates[program], "keys": programs[program]} for program in programs}
    stored = {"package": package.name, "releases": dict(releases(checkout, TAGS[name])), "programs": tables}
    path = Path(FOLDER) / f"{name.replace('-', '_')}_schemas.json.gz"
    text = json.dumps(stored, sort_keys=True, separators=(",", ":"))
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    counts = {program: (len(programs[program]), len(dates[program])) for program in programs}
    print(f"{path}: {path.stat().st_size} bytes; keys and versions: {counts}")


def extend(table: Table, keys: dict[str, str], date: str) -> bool:
    """Adds a version to the spans of each key. Returns whether anything changed."""
    changed = False
    for key, spans in table.items():
        if not spans[-1][2] and keys.get(key) != spans[-1][0]:
            spans[-1][2] = date
            changed = True
    for key, words in keys.items():
        spans = table.setdefault(key, [])
        if not spans or spans[-1][2]:
            spans.append([words, date, ""])
            changed = True
    return changed


def versions(checkout: str, package: Package) -> Iterator[tuple[str, str]]:
    """The last commit of each day that changed a Python or YAML file of a configuration, oldest first."""
    paths = [f":(glob){root}**/*config*/**" for root in package.roots]
    paths += [f":(glob){root}**/*config*.py" for root in package.roots] + [
        f"{root}prime_rl/rl.py" for root in package.roots
    ]
    lines = git(checkout, "log", "--first-parent", "--reverse", "--format=%cs %H", "--", *paths).splitlines()
    by_day = dict(line.split() for line in lines)
    yield from sorted(by_day.items())


def keys_of(checkout: str, commit: str, package: Package) -> list[tuple[str, dict[str, str]]]:
    listed = set(git(checkout, "ls-tree", "-r", "--name-only", commit).splitlines())

    def read(module: str) -> str | None:
        stem = module.replace(".", "/")
        names = (f"{root}{stem}{end}" for root in package.roots for end in (".py", "/__init__.py"))
        path = next((name for name in names if name in listed), None)
        return None if path is None else git(checkout, "show", f"{commit}:{path}")

    found = list(program_keys(package, read))
    if package is SKYRL and "train" not in dict(found):
        found += [("train", keys) for keys in old_keys(checkout, commit, listed)]
    return found


def old_keys(checkout: str, commit: str, listed: set[str]) -> Iterator[dict[str, str]]:
    """The keys of SkyRL's Hydra tree."""
    folder = next((one for one in OLD_YAML if f"{one}ppo_base_config.yaml" in listed), None)
    if folder is None:
        return
    keys = yaml_keys(git(checkout, "show", f"{commit}:{folder}ppo_base_config.yaml"), "")
    mounts = {
        "megatron_config/policy": "trainer.policy.megatron_config.",
        "megatron_config/ref": "trainer.ref.megatron_config.",
    }
    mounts["skyrl_gym_config/default"] = "environment.skyrl_gym."
    mounts["deepspeed_config/train"] = "trainer.policy.deepspeed_config."
    for group, prefix in mounts.items():
        if f"{folder}{group}.yaml" in listed:
            keys |= yaml_keys(git(checkout, "show", f"{commit}:{folder}{group}.yaml"), prefix)
            keys.setdefault(prefix.rstrip("."), "{}")
    yield keys | {
        "trainer.policy.deepspeed_config": "any",
        "trainer.critic.deepspeed_config": "any",
        "trainer.ref.deepspeed_config": "any",
    }


def yaml_keys(text: str, prefix: str) -> dict[str, str]:
    found = {f"{prefix}{leaf.key}" for leaf in leaves(Source("", text)) if leaf.path[0] != "defaults"}
    parents = {key[:at] for key in found for at in range(len(key)) if key[at] == "."}
    return {key: "{}" if key in parents else "any" for key in sorted(found)}


def releases(checkout: str, pattern: str) -> Iterator[tuple[str, str]]:
    for line in git(checkout, "tag", "--list", pattern, "--format=%(refname:short) %(creatordate:short)").splitlines():
        tag, date = line.split()
        yield tag, date


def git(checkout: str, *words: str) -> str:
    return subprocess.run(["git", "-C", checkout, *words], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
