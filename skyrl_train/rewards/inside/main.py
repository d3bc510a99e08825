"""`python grader.zip REQUEST`: reads a request from a file and prints the answer, both compressed JSON."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import sys
import zlib
from typing import Any

from skyrl_train.agent.inside.processes import seal
from skyrl_train.rewards.inside.apply import apply
from skyrl_train.rewards.inside.canaries import add_canaries, test_files
from skyrl_train.rewards.inside.repository import TooLargeError, changes, repository_root
from skyrl_train.rewards.inside.rules import tests_own
from skyrl_train.rewards.inside.supervise import run_tests


def main(words: list[str]) -> int:
    seal()
    with open(words[0], "rb") as file:
        request = json.loads(zlib.decompress(file.read()))
    os.unlink(words[0])
    answer = base64.b64encode(zlib.compress(json.dumps(_answer(request)).encode(), 3))
    sys.stdout.write(answer.decode("ascii"))
    return 0


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    if request["work"] == "changes":
        try:
            return changes(request["since"])
        except TooLargeError as error:
            return {"too_large": str(error)}
    return _grade(request)


def _grade(request: dict[str, Any]) -> dict[str, Any]:
    """Applies the changes, and runs the tests."""
    root = repository_root()
    own = tests_own(request["names"], _script())
    done = apply(root, request["changes"], frozenset(request["edits"]), own)
    _link_tests(root)
    canaries = add_canaries(root, test_files(root, request["names"]))
    ran = run_tests(request["script"], root, done.changed, request["limit_s"])
    return {**ran, "canaries": canaries, "changed": done.changed, "ignored": done.ignored}


def _script() -> str:
    """The command of the tests; empty if it is no text file."""
    with contextlib.suppress(OSError, ValueError), open(_home() + "/run_tests.sh", encoding="utf-8") as file:
        return file.read(1 << 20)
    return ""


def _link_tests(root: str) -> None:
    """Links the hidden tests into the repository, as RUN_TESTS does."""
    home, link = _home() + "/r2e_tests", os.path.join(root, "r2e_tests")
    if os.path.isdir(home) and not os.path.lexists(link):
        os.symlink(home, link)


def _home() -> str:
    return os.environ.get("R2E_ROOT", "") + "/root"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
