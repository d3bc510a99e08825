#!/usr/bin/env python3
"""Packs the packages that a node without network lacks for a requirement, in parts that are easy to copy.

GPU nodes often have no access to a package index, but their own torch. On the node:

    python3 -m pip list --format json > node.json

On a machine with a network and uv:

    python3 pack.py --node node.json --out parts 'verl[vllm]==0.9.1'

Copy the folder `parts` and unpack.py to the node, and run there:

    python3 unpack.py parts /tmp/site && export PYTHONPATH=/tmp/site

The node's versions are kept if the requirement allows them, so its torch is not packed.
"""

# ruff: noqa: T201 - a program for a terminal
from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path

PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?==([^\s;]+)")
UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}


class PackError(Exception):
    """Packing failed; the message has the reason."""


def normal(name: str) -> str:
    """A distribution's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def public(version: str) -> str:
    """2.11.0+cu130 -> 2.11.0: an index has no local versions, and the node's build satisfies the public one."""
    return version.partition("+")[0]


def installed(text: str) -> dict[str, str]:
    """The packages of the node, from its `pip list --format json`."""
    try:
        rows = json.loads(text)
        return {normal(row["name"]): public(row["version"]) for row in rows}
    except (ValueError, TypeError, KeyError) as error:
        raise PackError(f"the node's list is not the output of `pip list --format json`: {error!r}") from error


def pins(lock: str) -> dict[str, str]:
    """The name==version lines of a lock file, without comments, hashes and markers."""
    found = (PIN.match(line) for line in lock.splitlines())
    return {normal(match[1]): match[2] for match in found if match}


def lacking(locked: Mapping[str, str], node: Mapping[str, str], without: Iterable[str]) -> list[str]:
    """The pins that the node does not meet, without those in `without`."""
    left_out = [normal(name) for name in without]
    return [
        f"{name}=={version}"
        for name, version in sorted(locked.items())
        if node.get(name) != public(version) and not any(fnmatch(name, pattern) for pattern in left_out)
    ]


def size(text: str) -> int:
    """60M -> 60000000."""
    match = re.fullmatch(r"([1-9][0-9]*)([kMG]?)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 60M")
    return int(match[1]) * UNITS[match[2]]


def target(args: argparse.Namespace) -> list[str]:
    """The node's platform, for uv."""
    return [
        "--python-version",
        args.python,
        "--python-platform",
        f"{args.machine}-manylinux_{args.glibc.replace('.', '_')}",
    ]


def uv(*argv: str) -> None:
    """Runs uv. PackError quotes its message."""
    beside = Path(sys.executable).with_name("uv")
    command = str(beside) if beside.exists() else shutil.which("uv")
    if command is None:
        raise PackError("uv is not on the PATH; run `pip install uv`")
    done = subprocess.run([command, *argv], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PackError(f"uv {' '.join(argv[:2])} failed:\n{done.stderr.strip()}")


def lock(args: argparse.Namespace, node: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Every package that the requirements need. uv prefers the versions that are in its output file already."""
    (folder / "wanted.in").write_text("".join(f"{requirement}\n" for requirement in args.requirement))
    output = folder / "lock.txt"
    output.write_text("".join(f"{name}=={version}\n" for name, version in node.items()))
    quiet = ("-q", "--no-header", "--no-annotate", "--python", sys.executable)
    uv("pip", "compile", *quiet, *target(args), "-o", str(output), str(folder / "wanted.in"))
    return pins(output.read_text())


def install(args: argparse.Namespace, wanted: list[str], site: Path) -> None:
    """Installs the packages as they will be on the node. Packages without a wheel are built here, which is allowed only for pure Python."""
    listed = site.parent / "lacking.txt"
    listed.write_text("".join(f"{pin}\n" for pin in wanted))
    quiet = ("-q", "--no-deps", "--python", sys.executable)
    uv("pip", "install", *quiet, *target(args), "--target", str(site), "-r", str(listed))
    foreign = [name for name in built_here(site) if not has_wheel(args, name, site.parent / "none")]
    if foreign:
        raise PackError(f"{', '.join(foreign)} has no wheel for the node; leave it out (--without) or build it there")


def has_wheel(args: argparse.Namespace, name: str, nowhere: Path) -> bool:
    """Whether the index has a wheel for the node. Some wheels were renamed after the build and are tagged linux inside."""
    distribution, _, version = name.removesuffix(".dist-info").rpartition("-")
    asked = ("-q", "--no-deps", "--no-build", "--dry-run", "--python", sys.executable, "--target", str(nowhere))
    try:
        uv("pip", "install", *asked, *target(args), f"{distribution}=={version}")
    except PackError:
        return False
    return True


def built_here(site: Path) -> list[str]:
    """Packages that were compiled on this machine because there was no wheel, and may not run on the node."""
    return sorted(wheel.parent.name for wheel in site.glob("*.dist-info/WHEEL") if "-linux_" in wheel.read_text())


def carried(site: Path, drop: Iterable[str]) -> Iterator[Path]:
    """The files to carry, in a stable order."""
    patterns = tuple(drop)
    for path in sorted(site.rglob("*")):
        name = path.relative_to(site).as_posix()
        if (
            path.is_file()
            and "__pycache__" not in path.parts
            and not any(fnmatch(name, pattern) for pattern in patterns)
        ):
            yield path


class Parts:
    """A file object that starts a new file whenever one is full."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder, self.limit = folder, limit
        self.written: list[dict[str, str | int]] = []
        self._begin()

    def _begin(self) -> None:
        self.path = self.folder / f"part-{len(self.written):03}"
        self.file = self.path.open("wb")
        self.digest, self.filled = hashlib.sha256(), 0

    def _end(self) -> None:
        self.file.close()
        self.written.append({"name": self.path.name, "bytes": self.filled, "sha256": self.digest.hexdigest()})

    def write(self, data: bytes) -> int:
        """Writes the data to as many parts as needed."""
        rest = memoryview(data)
        while rest:
            if self.filled == self.limit:
                self._end()
                self._begin()
            piece = rest[: self.limit - self.filled]
            self.file.write(piece)
            self.digest.update(piece)
            self.filled += len(piece)
            rest = rest[len(piece) :]
        return len(data)

    def close(self) -> None:
        """Ends the last part."""
        self._end()


def pack(site: Path, out: Path, *, limit: int, drop: Iterable[str], preset: int) -> list[dict[str, str | int]]:
    """A compressed tar of the folder, cut into parts; the manifest names them with their checksums."""
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("part-*"):
        old.unlink()
    parts = Parts(out, limit)
    with lzma.LZMAFile(parts, "wb", preset=preset) as packed, tarfile.open(fileobj=packed, mode="w|") as tar:  # type: ignore[arg-type]
        for path in carried(site, drop):
            tar.add(path, arcname=path.relative_to(site).as_posix(), recursive=False)
    parts.close()
    (out / "manifest.json").write_text(json.dumps({"format": 1, "parts": parts.written}, indent=1) + "\n")
    return parts.written


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("requirement", nargs="+", help="packages that the node needs, in pip's syntax")
    parser.add_argument("--node", type=Path, required=True, help="the node's `pip list --format json`")
    parser.add_argument("--out", type=Path, required=True, help="folder for the parts")
    parser.add_argument("--python", default="3.12", help="the node's Python (default: %(default)s)")
    parser.add_argument("--machine", default="x86_64", help="the node's processor (default: %(default)s)")
    parser.add_argument(
        "--glibc", default="2.28", help="the node's C library, from `ldd --version` (default: %(default)s)"
    )
    parser.add_argument(
        "--without", action="append", default=[], metavar="NAME", help="leave out a package (name or pattern)"
    )
    parser.add_argument(
        "--drop", action="append", default=[], metavar="PATTERN", help="leave out files of packages (pattern)"
    )
    parser.add_argument("--part-size", type=size, default=size("60M"), help="size of a part (default: 60M)")
    parser.add_argument("--preset", type=int, choices=range(10), default=6, help="xz's effort (default: %(default)s)")
    parser.add_argument("--list", action="store_true", help="only print what the node lacks")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Resolves, downloads and packs the packages; prints what to copy."""
    args = arguments().parse_args(argv)
    try:
        node = installed(args.node.read_text())
        with tempfile.TemporaryDirectory(dir=None if args.list else args.out.resolve().parent) as scratch:
            wanted = lacking(lock(args, node, Path(scratch)), node, args.without)
            print("\n".join(wanted))
            if args.list or not wanted:
                return 0
            install(args, wanted, Path(scratch) / "site")
            written = pack(Path(scratch) / "site", args.out, limit=args.part_size, drop=args.drop, preset=args.preset)
    except (PackError, OSError) as error:
        print(f"pack: {error}", file=sys.stderr)
        return 1
    total = sum(int(part["bytes"]) for part in written)
    print(f"{len(wanted)} packages, {len(written)} parts, {total / 10**6:.1f} MB in {args.out}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
