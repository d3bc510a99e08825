"""The Pythons and the distribution of an image, found with a script for its /bin/sh. Pure: the script and the parser of
its output.
"""

import re

from skyrl_train.sandbox.inject import Python

_NEWEST_FIRST = " ".join(f"python3.{minor}" for minor in range(15, 7, -1))

PROBE = f"""\
seen=
for python in python3 {_NEWEST_FIRST} /usr/local/bin/python3 /usr/bin/python3 /opt/*/bin/python3 /root/.venv/bin/python \
/testbed/.venv/bin/python; do
  path=$(command -v "$python") || continue
  case "$seen" in *"|$path|"*) continue ;; esac
  seen="$seen|$path|"
  "$path" -I -S -c 'import json, select, socket, subprocess, sys, threading
print("python", sys.argv[1], *sys.version_info[:3])' "$path" 2>/dev/null || :
done
while read -r line; do echo "$line"; done 2>/dev/null </etc/os-release || :
"""
"""A task's own environment comes last: the agent may break it."""

_FOUND = re.compile(r"^python (/\S+) (\d+) (\d+) (\d+)$", re.MULTILINE)


def read_probe(printed: str) -> tuple[Python, ...]:
    """In order of preference. Pythons without a module that sandboxd needs print nothing."""
    return tuple(
        Python(path=path, version=(int(major), int(minor), int(micro)))
        for path, major, minor, micro in _FOUND.findall(printed)
    )
