"""site-check where Slurm does not answer, and where the user does not exist."""

import os
from pathlib import Path

import pytest

from skyrl_doctor.cli import site_check
from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.cli.examples import EXAMPLES
from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.site.check import check_site
from skyrl_doctor.site.jobs import Asked
from skyrl_doctor.site.result import failed

ERROR = "slurm_load_ctl_conf error: Unable to contact slurm controller"
_ASKED = Asked((), "", "", "gpu:1")


def results(monkeypatch: pytest.MonkeyPatch, at: Path) -> list[tuple[str, str, str]]:
    """The report on a machine whose scontrol reaches no slurmctld."""
    scontrol = at / "bin" / "scontrol"
    scontrol.parent.mkdir(exist_ok=True)
    scontrol.write_text(f"#!/bin/sh\necho '{ERROR}' >&2; exit 1\n")
    scontrol.chmod(0o755)
    monkeypatch.setenv("PATH", f"{scontrol.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_CONF", str(at / "slurm.conf"))
    machine = LocalMachine()
    try:
        return [
            (found.outcome.value, found.subject, found.reason) for found in check_site(machine, _ASKED, submits=True)
        ]
    finally:
        machine.close()


SILENT = (
    "unknown",
    "slurm.conf",
    f"scontrol: exited with status 1: {ERROR}. Run site-check where `scontrol show config` works",
)


def test_where_slurm_does_not_answer_the_files_are_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(f"# Prolog=/old\n Prolog = {tmp_path}/prolog.sh # ours\nNodeName=n1 CPUs=2\n")
    found = results(monkeypatch, tmp_path)
    assert found[0] == (
        "unknown",
        "slurm.conf",
        f"scontrol: exited with status 1: {ERROR}; only {tmp_path}/slurm.conf and the files that it names are checked, and no job is run",
    )
    failed = {subject: reason for outcome, subject, reason in found if outcome == "fail"}
    assert failed["Prolog"].startswith(f"{tmp_path}/prolog.sh: ")
    assert found[-1] == ("skip", "jobs", "no job was run")


def test_where_there_is_no_slurm_conf_either_nothing_passes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert results(monkeypatch, tmp_path) == [SILENT]


def test_what_the_page_for_administrators_asks_for_is_checked(monkeypatch: pytest.MonkeyPatch, site: Path) -> None:
    """A Prolog that is not there, no PrologFlags, a health check that never runs, and a mistyped partition."""
    (site / "site.sh").write_text(
        f"GPU_PARTITIONS=gpux\nDOCTOR={site}/d\nTRAIN={site}/d\nLOG_DIR=/tmp\nSTATE_DIR=/tmp\n"
    )
    (site / "d").write_text("#!/bin/sh\necho skyrl-doctor 1\n")
    (site / "d").chmod(0o755)
    (site / "prolog.sh").unlink()
    (site.parent / "slurm.conf").write_text(
        f"Prolog={site}/prolog.sh\nHealthCheckProgram={site}/healthcheck.sh\nHealthCheckInterval=0\nPartitionName=gpu Nodes=n\n"
    )
    found = results(monkeypatch, site.parent)[1:]
    assert [one for one in found if one[0] != "pass" and one[1] != "LOG_DIR"] == [
        ("skip", "TaskProlog", "slurm.conf does not name our taskprolog.sh"),
        ("fail", "Prolog", f"{site}/prolog.sh: no such file or directory"),
        ("skip", "Epilog", "slurm.conf does not name our epilog.sh"),
        (
            "fail",
            "PrologFlags",
            "not set; expected Alloc. Without it, the Prolog runs on a node only when the job's first step starts there",
        ),
        ("skip", "HealthCheckInterval", "0: the health check is off; HealthCheckInterval=300 runs it every 5 minutes"),
        ("fail", "GPU_PARTITIONS", "Slurm has no partition gpux"),
        ("skip", "job_submit.lua", "JobSubmitPlugins in slurm.conf does not name lua"),
        ("skip", "jobs", "no job was run"),
    ]


def test_a_path_that_does_not_exist_is_one_fault(monkeypatch: pytest.MonkeyPatch, site: Path) -> None:
    (site.parent / "slurm.conf").write_text("TaskProlog=/nowhere/taskprolog.sh\nEpilog=/nowhere/epilog.sh\n")
    found = results(monkeypatch, site.parent)
    assert [(subject, reason) for outcome, subject, reason in found if outcome == "fail"] == [
        ("TaskProlog", "/nowhere: no such file or directory"),
        ("Epilog", "/nowhere: no such file or directory"),
    ]


def test_where_only_missing_programs_are_named_each_is_a_fault(monkeypatch: pytest.MonkeyPatch, site: Path) -> None:
    (site.parent / "slurm.conf").write_text(f"Prolog={site}/prologg.sh\nEpilog={site}/epilogg.sh\n")
    found = results(monkeypatch, site.parent)
    assert [(subject, reason) for outcome, subject, reason in found if outcome == "fail"] == [
        (
            "Prolog",
            f"{site}/prologg.sh does not exist on this machine; Slurm drains each node on which the Prolog fails",
        ),
        (
            "Epilog",
            f"{site}/epilogg.sh does not exist on this machine; Slurm drains each node on which the Epilog fails",
        ),
    ]


def test_a_site_sh_that_sh_cannot_parse_fails_once(monkeypatch: pytest.MonkeyPatch, site: Path) -> None:
    (site.parent / "slurm.conf").write_text(f"Prolog={site}/prolog.sh\n")
    path = site / "site.sh"
    path.write_text("if true; then\n")

    def of_settings() -> list[tuple[str, str, str]]:
        return [one for one in results(monkeypatch, site.parent) if one[1] in ("site.sh", "settings")]

    (outcome, subject, reason), *more = of_settings()
    assert (outcome, subject, more) == ("fail", "site.sh", [])
    assert reason.startswith(f"{path} is an invalid shell script: sh: exited with status 2: {path}: ")
    path.write_text("exit 3\n")
    assert of_settings() == [
        ("pass", "site.sh", f"{path} can be read by every user"),
        ("fail", "settings", f"{site}/common.sh or site.sh fails: sh: exited with status 3"),
    ]


@pytest.mark.parametrize("name", ["nosuchuser", "no such", ""])
def test_a_user_that_does_not_exist_is_named(name: str) -> None:
    with pytest.raises(UsageError) as raised:
        site_check._as_user(name, 0)
    assert str(raised.value) == (
        "--user nosuchuser: this machine has no such user"
        if name == "nosuchuser"
        else "as root, pass --user NAME, a user who may submit jobs; or pass --no-jobs"
    )


@pytest.mark.parametrize(
    ("environ", "submits", "user"),
    [
        ({}, False, "nobody"),
        ({}, True, None),
        ({"SUDO_USER": "ann"}, True, "ann"),
        ({"SUDO_USER": "ann"}, False, "ann"),
        ({"SUDO_USER": "root"}, False, "nobody"),
    ],
)
def test_root_has_a_user_to_check_for(environ: dict[str, str], submits: bool, user: str | None) -> None:
    assert site_check.default_user(environ, submits=submits) == user


@pytest.mark.skipif(os.getuid() != 0, reason="only root can test it")
def test_the_example_of_the_help_works(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As root, without an option, on a screen of 80 columns, where Slurm is not installed."""
    (words, _), *_ = EXAMPLES["site-check"]
    for name in ("SUDO_USER", "SLURM_CONF"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    assert dispatch(words.split()) == 3
    assert capsys.readouterr().out == (
        "NOTE    user: the files are checked as nobody; --user names another user\n"
        "UNKNOWN slurm.conf: scontrol: command not found. Run site-check where `scontrol\n"
        "        show config` works, or set SLURM_CONF=/path/to/slurm.conf to check the\n"
        "        files only\n"
    )


def test_a_result_fits_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    result = failed("Prolog", f"/etc/slurm/skyrl/{'x' * 50}.sh cannot be read by users", "let every user read it")
    assert list(site_check.result_lines(result)) == [
        "FAIL    Prolog:",
        f"        /etc/slurm/skyrl/{'x' * 50}.sh",
        "        cannot be read by users",
        "        fix: let every user read it",
    ]
