"""`budget` on a GPU that another program uses too: the free memory decides, on the screen, in JSON and in the exit status."""

import json
from pathlib import Path

import pytest

from skyrl_doctor.cli.app import dispatch

ROOT = Path(__file__).parents[3]
GIB = 2**30
COMMAND = ("examples/mig20.toml", "--solve", "gpu_memory_utilization", "--format", "json")


@pytest.fixture(autouse=True)
def _a_gpu_with_30_gib_free(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gpu = {"uuid": "GPU-1", "name": "NVIDIA H100 80GB HBM3", "mig": [0, 0], "memory_v2": [80 * GIB, 50 * GIB]}
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests" / "fakes" / "nvml"))
    monkeypatch.setenv("FAKE_NVML", json.dumps({"driver": "580.95.05", "gpus": [gpu]}))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def test_status_and_screen_agree(capsys: pytest.CaptureFixture[str]) -> None:
    status = dispatch(["budget", "examples/mig20.toml"])
    out, err = capsys.readouterr()
    lines = " ".join(out.split())
    assert "device: NVIDIA H100 80GB HBM3 has 30.0 GiB free of 80.0 GiB (reported by the driver) " in lines
    assert (
        " fits: no vLLM cannot start: it requests 40.0 GiB, but only 26.2 GiB of 80.0 GiB are free next to the trainer's weights host: "
        in lines
    )
    assert (status, err) == (1, "")


def test_json_and_the_solved_value_agree(capsys: pytest.CaptureFixture[str]) -> None:
    status = dispatch(["budget", *COMMAND])
    data = json.loads(capsys.readouterr().out)
    assert status == 1
    assert (data["device"]["limit_gib"], data["device"]["fits"], data["expected"]["fits"]) == (30.0, False, False)
    assert data["device"]["peak_gib"] > 30
    assert data["solve"] == {"key": "gpu_memory_utilization", "value": 0.32, "limited_by": ""}
