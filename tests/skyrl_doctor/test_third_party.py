"""A package of somebody else adds a check and a probe by its entry points alone."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "thirdparty" / "doctor_extra"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny distribution, built by its own backend and installed into a directory."""
    root = tmp_path_factory.mktemp("third-party")
    shutil.copytree(SOURCE, root / "source")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation"]
    done = subprocess.run(
        [*pip, "--target", str(root / "site"), str(root / "source")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return root / "site"


def doctor(site: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(site), **environ}
    return subprocess.run(
        [sys.executable, "-m", "skyrl_doctor", *words],
        capture_output=True,
        text=True,
        timeout=300,
        env=env,
        check=False,
    )


def test_its_check_runs_and_its_finding_counts(site: Path) -> None:
    done = doctor(site, "preflight", "--select", "SITE001", "--format", "json", SITE_MOTD="maintenance at noon")
    (outcome,) = json.loads(done.stdout)["outcomes"]
    assert (done.returncode, outcome["status"]) == (1, "fail")
    assert outcome["findings"][0]["message"] == "the site says 'maintenance at noon'; wanted no maintenance"
    assert doctor(site, "preflight", "--select", "maintenance-announced").returncode == 0


def test_its_signature_names_the_cause_of_a_log(site: Path, tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("step:1 - loss:0.2\ngpu07: broadcast message: rebooting for maintenance\n", encoding="utf-8")
    done = doctor(site, "diagnose", str(log), "--format", "json")
    root = json.loads(done.stdout)["root"]
    assert (root["id"], root["explain"]) == ("SITE001", "the site rebooted the node for a maintenance")


def test_without_it_the_check_is_unknown_to_the_command_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "skyrl_doctor", "preflight", "--select", "SITE001"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("skyrl-doctor preflight: no check is called 'SITE001'")


def test_one_that_does_not_load_is_reported_and_the_rest_go_on(site: Path, tmp_path: Path) -> None:
    broken = tmp_path / "site"
    shutil.copytree(site, broken)
    (broken / "doctor_extra" / "checks.py").write_text("import no_such_package\n", encoding="utf-8")
    done = doctor(broken, "preflight", "--select", "ENV016", "--format", "json")
    report = json.loads(done.stdout)
    assert [outcome["status"] for outcome in report["outcomes"]] == ["pass"]
    assert report["notes"] == [
        "doctor_extra.checks (entry point 'site' of doctor-extra) does not load: ModuleNotFoundError: No module named 'no_such_package'"
    ]


def test_an_id_taken_twice_keeps_the_first_and_says_so(site: Path, tmp_path: Path) -> None:
    twin = tmp_path / "site"
    shutil.copytree(site, twin)
    file = twin / "doctor_extra" / "checks.py"
    file.write_text(file.read_text(encoding="utf-8").replace("SITE001", "ENV016"), encoding="utf-8")
    report = json.loads(
        doctor(twin, "preflight", "--select", "ENV016", "--format", "json", SITE_MOTD="maintenance").stdout
    )
    assert [outcome["status"] for outcome in report["outcomes"]] == ["pass"]
    assert report["notes"] == [
        "check id ENV016 is taken twice: checks.env.stale_vllm_variable has it, doctor_extra.checks is ignored"
    ]
