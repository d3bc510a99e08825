#!/usr/bin/env python3
"""Unpacks what pack.py packed: `python3 unpack.py [--wait] PARTS TARGET`, then `export PYTHONPATH=TARGET`.

Needs the standard library of Python 3.8 or later, and no network. Nothing is written before every part was found whole;
with --wait, where the parts come one by one, each is unpacked when it is there and found whole. All modules are compiled at
the end: a run imports them in ten processes.
"""

# ruff: noqa: T201 - a program for a terminal
import compileall
import hashlib
import io
import json
import lzma
import os
import shutil
import sys
import tarfile
import time

WAIT_S = 600.0
"""For one part."""


class UnpackError(Exception):
    """Why nothing was unpacked, in one sentence."""


def verify(folder, part):
    """The path of a part that is there and is what was packed."""
    path = os.path.join(folder, part["name"])
    if not os.path.exists(path):
        raise UnpackError(f"{path} is missing: carry it too")
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    if digest.hexdigest() != part["sha256"]:
        raise UnpackError(f"{path} differs from what was packed: carry it again")
    return path


def arriving(folder, parts, limit_s=WAIT_S, pause_s=0.2):
    """The paths of the parts, each as soon as it has all its bytes."""
    for part in parts:
        path, end = os.path.join(folder, part["name"]), time.monotonic() + limit_s
        while not (os.path.exists(path) and os.path.getsize(path) >= part["bytes"]):
            if time.monotonic() > end:
                raise UnpackError(f"{path} did not come within {limit_s:g} s")
            time.sleep(pause_s)
        yield verify(folder, part)


class Joined(io.RawIOBase):
    """The parts, one after the other, as one file."""

    def __init__(self, paths):
        super().__init__()
        self._paths = iter(paths)
        self._file = None

    def readable(self):
        return True

    def readinto(self, buffer):
        while True:
            if self._file is None:
                path = next(self._paths, None)
                if path is None:
                    return 0
                self._file = open(path, "rb")  # noqa: SIM115 - closed where it ends
            count = self._file.readinto(buffer)
            if count:
                return count
            self._file.close()
            self._file = None


def inside(target, name):
    """A packed name may not leave the target."""
    path = os.path.realpath(os.path.join(target, name))
    return path.startswith(os.path.realpath(target) + os.sep)


def extract(stream, target):
    """The tar's plain files, as they come; links and devices are never packed."""
    count = 0
    with lzma.LZMAFile(stream) as packed, tarfile.open(fileobj=packed, mode="r|") as tar:
        for member in tar:
            if not member.isreg() or not inside(target, member.name):
                raise UnpackError(f"{member.name!r} is no plain file below the target")
            path = os.path.join(target, member.name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                shutil.copyfileobj(tar.extractfile(member), file)
            os.chmod(path, member.mode & 0o755)
            count += 1
    return count


def own_scripts(target, python):
    """Commands in TARGET/bin name the Python that packed them; here it is this one."""
    folder = os.path.join(target, "bin")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        path = os.path.join(folder, name)
        with open(path, "rb") as file:
            first, rest = file.readline(), file.read()
        if first.startswith(b"#!") and b"python" in first:
            with open(path, "wb") as file:
                file.write(b"#!" + python.encode() + b"\n" + rest)


def unpack(folder, target, python=sys.executable, *, wait=False):
    """Checks, joins, unpacks. Returns the number of files."""
    try:
        with open(os.path.join(folder, "manifest.json")) as file:
            parts = [{key: part[key] for key in ("name", "bytes", "sha256")} for part in json.load(file)["parts"]]
        if not parts:
            raise ValueError("it names no part")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnpackError(f"no manifest of pack.py in {folder}: {error}") from error
    paths = arriving(folder, parts) if wait else [verify(folder, part) for part in parts]
    os.makedirs(target, exist_ok=True)
    count = extract(io.BufferedReader(Joined(paths), 1 << 20), target)
    own_scripts(target, python)
    return count


def main(argv):
    """The command line."""
    wait, places = "--wait" in argv, [word for word in argv if word != "--wait"]
    if len(places) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        count = unpack(places[0], places[1], wait=wait)
    except (UnpackError, OSError, EOFError, lzma.LZMAError, tarfile.TarError) as error:
        print(f"unpack: {error}", file=sys.stderr)
        return 1
    compileall.compile_dir(places[1], quiet=2, workers=0)  # what is no Python 3 stays as it is
    print(f"{count} files in {places[1]}; now: export PYTHONPATH={places[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
