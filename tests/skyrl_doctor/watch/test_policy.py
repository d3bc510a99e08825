"""When the policy acts, and what it runs."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.watch import actions
from skyrl_doctor.watch.finding import raised
from skyrl_doctor.watch.policy import Case, Deed, Limits, Policy, decide, with_root

LOG = raised(100.0, "CFG001", "too many tokens", key="CFG001.log.root", root=True)
FIGURES = raised(100.0, "TRN005", "nan", key="TRN005.metrics", root=True)
SYMPTOM = raised(100.0, "AGT018", "stall", key="AGT018.stall")
LIMITS = Limits(settle_s=120.0, grace_s=60.0)


def deeds(case: Case, policy: Policy, times: list[float], progress_at: float | None = 50.0) -> list[tuple[float, Deed]]:
    found = []
    for now in times:
        case, deed = decide(case, policy, LIMITS, now=now, progress_at=progress_at)
        found += [(now, deed)] if deed else []
    return found


EVERY = [100.0 + 10 * n for n in range(60)]


def test_a_root_of_the_logs_must_settle_first_and_then_comes_term_and_after_the_grace_the_end() -> None:
    case = with_root(Case(), LOG)
    assert deeds(case, Policy.STOP, EVERY) == [(220.0, Deed.ASK), (280.0, Deed.END)]
    assert deeds(case, Policy.HOLD, EVERY) == [(220.0, Deed.ASK), (280.0, Deed.HOLD)]
    assert deeds(case, Policy.REPORT, EVERY) == []


def test_a_run_that_moves_on_has_survived_the_line() -> None:
    assert deeds(with_root(Case(), LOG), Policy.STOP, EVERY, progress_at=150.0) == []
    survived, _ = decide(with_root(Case(), LOG), Policy.STOP, LIMITS, now=200.0, progress_at=150.0)
    later = raised(300.0, "MEM001", "out of memory", key="MEM001.log.root", root=True)
    assert with_root(survived, later).id == "MEM001"


def test_figures_that_were_bad_for_steps_count_at_once_and_symptoms_never() -> None:
    assert deeds(with_root(Case(), FIGURES), Policy.STOP, EVERY, progress_at=500.0)[0] == (100.0, Deed.ASK)
    assert deeds(with_root(Case(), SYMPTOM), Policy.STOP, EVERY) == []


def test_the_commands_for_slurm() -> None:
    assert actions.commands(Deed.ASK, "7", "x") == [("scancel", "--signal=TERM", "7")]
    assert actions.commands(Deed.END, "7", "x") == [("scancel", "7")]
    assert actions.commands(Deed.HOLD, "7", 'CFG001: a\n "b"') == [
        ("scontrol", "update", "JobId=7", "Comment=skyrl-doctor: CFG001: a 'b'"),
        ("scontrol", "requeuehold", "7"),
    ]


def test_who_cannot_be_stopped_is_said_at_the_start() -> None:
    machine = LocalMachine()
    for pids, job, policy, text in (
        ((), "", Policy.STOP, "--on-root stop wants --pid N or --job N"),
        ((os.getppid(),), "", Policy.HOLD, "--on-root hold wants --job N"),
        ((1,), "", Policy.STOP, "--pid 1: wanted a process of the job"),
        ((os.getpid(),), "", Policy.STOP, "wanted a process of the job"),
        ((2**22 + 7,), "", Policy.STOP, "no such process here"),
    ):
        with pytest.raises(UsageError, match=text):
            actions.target(machine, pids, job, policy)
    assert actions.target(machine, (), "", Policy.REPORT).is_none


def test_signals_reach_the_process_group_and_nobody_who_took_its_number(tmp_path: Path) -> None:
    machine = LocalMachine()
    code = "import signal, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(flush=True)\ntime.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        whom = actions.target(machine, (process.pid,), "", Policy.STOP)
        assert actions.do(machine, Deed.ASK, whom, "x", dry=True) == [
            f"would send SIGTERM to the process group {process.pid}"
        ]
        assert actions.do(machine, Deed.ASK, whom, "x", dry=False) == [
            f"sent SIGTERM to the process group {process.pid}"
        ]
        assert actions.is_alive(machine, whom.processes[0])
        another = actions.Target(processes=(actions.Process(process.pid, "1"),))
        assert actions.do(machine, Deed.END, another, "x", dry=False) == [f"process {process.pid} has ended by itself"]
        assert actions.do(machine, Deed.END, whom, "x", dry=False) == [
            f"sent SIGKILL to the process group {process.pid}"
        ]
        assert process.wait(120) == -signal.SIGKILL
    assert not actions.is_alive(machine, whom.processes[0])


def test_a_job_is_stopped_by_slurm_s_own_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("scancel", "scontrol"):
        (tmp_path / name).write_text(
            f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/ran\n[ "$1" != requeuehold ]\n', encoding="utf-8"
        )
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    machine, whom = LocalMachine(), actions.Target(job="7")
    assert actions.do(machine, Deed.ASK, whom, "CFG001", dry=False) == ["ran scancel --signal=TERM 7"]
    assert actions.do(machine, Deed.HOLD, whom, "CFG001", dry=False) == [
        "ran scontrol update JobId=7 Comment=skyrl-doctor: CFG001",
        "could not run scontrol requeuehold 7: scontrol: exit status 1",
    ]
    assert actions.do(machine, Deed.END, whom, "CFG001", dry=True) == ["would run scancel 7"]
    assert (tmp_path / "ran").read_text(encoding="utf-8").splitlines() == [
        "scancel --signal=TERM 7",
        "scontrol update JobId=7 Comment=skyrl-doctor: CFG001",
        "scontrol requeuehold 7",
    ]
