"""The child runs the trainer's command, and names the package that is missing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

CHILD = Path(__file__).parents[3] / "skyrl_doctor" / "children" / "canary.py"


def printed(*words: str, options: tuple[str, ...] = ()) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, *options, str(CHILD), *words], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_without_the_trainer_it_says_what_to_install() -> None:
    """-S: no site-packages."""
    why = printed(options=("-S",))["why"]
    assert isinstance(why, str)
    assert "skyrl_train" in why
    assert why.endswith("needs httpx, podman, prometheus-client, starlette and uvicorn")


def test_a_key_file_that_is_missing_is_named(tmp_path: Path) -> None:
    words = ("http://127.0.0.1:9", f"file {tmp_path}/key", "localhost/x", "1", "1")
    assert printed(*words) == {"why": f"[Errno 2] No such file or directory: '{tmp_path}/key'"}


@pytest.mark.parametrize("key", ["none", "env NO_SUCH_VARIABLE"])
def test_prints_what_the_command_prints(key: str) -> None:
    answer = printed("http://127.0.0.1:9", key, "localhost/x", "1", "0.2")
    assert (answer["asked"], answer["worked"], answer["left"]) == (1, 0, 0)
