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
    assert found[0] == SILENT
    assert found[1] == (
        "skip",
        "scontrol",
        f"only the files that {tmp_path}/slurm.conf names are checked; no job is run",
    )
    failed = {subject: reason for outcome, subject, reason in found if outcome == "fail"}
    assert failed["Prolog"].startswith(f"{tmp_path}/prolog.sh: ")
    assert found[-1] == ("skip", "jobs", "no job was run")


def test_where_there_is_no_slurm_conf_either_nothing_passes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert results(monkeypatch, tmp_path) == [SILENT]


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
