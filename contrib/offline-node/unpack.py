#!/usr/bin/env python3
"""Unpacks what pack.py packed: `python3 unpack.py [--wait] PARTS TARGET`, then `export PYTHONPATH=TARGET`.

Needs only the standard library of Python 3.8 or later, and no network. Nothing is written before all parts are verified.
With --wait, parts may arrive one by one, and each is unpacked once it is verified. All modules are compiled at the end,
since a run imports them in ten processes.
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
"""Time limit for one part."""


class UnpackError(Exception):
    """Unpacking failed; the message has the reason."""


def verify(folder, part):
    """The path of a part. UnpackError if it is missing or differs from what was packed."""
    path = os.path.join(folder, part["name"])
    if not os.path.exists(path):
        raise UnpackError(f"{path} is missing; copy it too")
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    if digest.hexdigest() != part["sha256"]:
        raise UnpackError(f"{path} differs from what was packed; copy it again")
    return path


def arriving(folder, parts, limit_s=WAIT_S, pause_s=0.2):
    """Yields the path of each part as soon as it is complete."""
    for part in parts:
        path, end = os.path.join(folder, part["name"]), time.monotonic() + limit_s
        while not (os.path.exists(path) and os.path.getsize(path) >= part["bytes"]):
            if time.monotonic() > end:
                raise UnpackError(f"{path} did not arrive within {limit_s:g} s")
            time.sleep(pause_s)
        yield verify(folder, part)


class Joined(io.RawIOBase):
    """The parts in order, as one file."""

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
    """Whether a packed name stays inside the target."""
    path = os.path.realpath(os.path.join(target, name))
    return path.startswith(os.path.realpath(target) + os.sep)


def extract(stream, target):
    """Extracts the regular files of the tar. Links and devices are never packed."""
    count = 0
    with lzma.LZMAFile(stream) as packed, tarfile.open(fileobj=packed, mode="r|") as tar:
        for member in tar:
            if not member.isreg() or not inside(target, member.name):
                raise UnpackError(f"{member.name!r} is not a regular file below the target")
            path = os.path.join(target, member.name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                shutil.copyfileobj(tar.extractfile(member), file)
            os.chmod(path, member.mode & 0o755)
            count += 1
    return count


def own_scripts(target, python):
    """Makes the commands in TARGET/bin use this Python."""
    folder = os.path.join(target, "bin")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        path = os.path.join(folder, name)
        with open(path, "rb") as file:
            first, rest = file.readline(), file.read()
        if first.startswith(b"#!") and b"python" in first:
            with open(path, "wb") as file:
                file.write(b"#!" + python.encode() + b"\n" + rest)


def unpack(folder, target, python=sys.executable, *, wait=False):
    """Verifies, joins and unpacks the parts; the number of files."""
    try:
        with open(os.path.join(folder, "manifest.json")) as file:
            parts = [{key: part[key] for key in ("name", "bytes", "sha256")} for part in json.load(file)["parts"]]
        if not parts:
            raise ValueError("it lists no parts")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UnpackError(f"no manifest of pack.py in {folder}: {error}") from error
    paths = arriving(folder, parts) if wait else [verify(folder, part) for part in parts]
    os.makedirs(target, exist_ok=True)
    count = extract(io.BufferedReader(Joined(paths), 1 << 20), target)
    own_scripts(target, python)
    return count


def main(argv):
    """The command line."""
    wait, paths = "--wait" in argv, [word for word in argv if word != "--wait"]
    if len(paths) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        count = unpack(paths[0], paths[1], wait=wait)
    except (UnpackError, OSError, EOFError, lzma.LZMAError, tarfile.TarError) as error:
        print(f"unpack: {error}", file=sys.stderr)
        return 1
    compileall.compile_dir(paths[1], quiet=2, workers=0)  # files that are not Python 3 are left as they are
    print(f"{count} files in {paths[1]}; now: export PYTHONPATH={paths[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
