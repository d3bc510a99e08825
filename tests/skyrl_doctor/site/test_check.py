"""site-check where Slurm does not answer, and where the user does not exist."""

import os
from pathlib import Path

import pytest

from skyrl_doctor.cli import site_check
from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.site.check import check_site
from skyrl_doctor.site.jobs import Asked

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
        else "as root, pass --user NAME: what is checked is what a user of the cluster gets"
    )
