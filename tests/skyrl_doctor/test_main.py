"""The entry point, in locales that cannot say everything."""

import json
import os
import subprocess
import sys

import pytest

FOREIGN = "日本 é"


def preflight(encoding: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "VLLM_USE_V1": FOREIGN, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "1"}
    argv = [sys.executable, "-m", "skyrl_doctor", "preflight", "--select", "ENV016", *words]
    return subprocess.run(argv, capture_output=True, timeout=300, env=env, check=False)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_report_is_whole_in_any_locale(encoding: str) -> None:
    text = preflight(encoding)
    assert (text.returncode, text.stderr) == (0, b"")
    assert f"VLLM_USE_V1={FOREIGN}".encode(encoding, "backslashreplace") in text.stdout
    report = json.loads(preflight(encoding, "--format", "json").stdout)
    assert report["outcomes"][0]["findings"][0]["message"].startswith(f"VLLM_USE_V1={FOREIGN} is set")
