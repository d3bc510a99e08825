"""The files of an installation as they lie on a disk: what users cannot reach, and what root cannot write."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.site import files, reach
from skyrl_doctor.site.result import Outcome, Result, failed
from skyrl_doctor.site.slurm_config import HOOKS, SlurmConfig, parse

FAIL, PASS, SKIP, UNKNOWN = Outcome.FAIL, Outcome.PASS, Outcome.SKIP, Outcome.UNKNOWN


@pytest.fixture
def machine() -> Iterator[LocalMachine]:
    made = LocalMachine()
    yield made
    made.close()


def slurm_conf(at: Path, **more: str) -> SlurmConfig:
    values = {"SLURM_CONF": str(at / "slurm.conf"), **{hook: str(at / name) for hook, name in HOOKS.items()}, **more}
    lines = "".join(f"{name} = {value}\n" for name, value in values.items())
    made = parse(f"Configuration data as of 2026-01-02T10:07:02\n{lines}")
    assert made is not None
    return made


def scripts_of(machine: LocalMachine, config: SlurmConfig) -> dict[str, str]:
    return files.find_scripts(machine, config)


def checked(machine: LocalMachine, config: SlurmConfig) -> Iterator[Result]:
    return reach.check_scripts(machine, scripts_of(machine, config), reach.missing_programs(machine, config))


def found(results: Iterator[Result]) -> dict[str, Result]:
    return {result.subject: result for result in results if result.outcome is not PASS}


def test_scripts_that_every_user_may_start_pass(site: Path, machine: LocalMachine) -> None:
    assert found(checked(machine, slurm_conf(site))) == {}


FAULTS: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "not executable": (lambda at: (at / "prolog.sh").chmod(0o644), "Prolog", "{at}/prolog.sh has mode 644; expected a file that every user may read and execute"),
    "root's alone": (lambda at: (at / "epilog.sh").chmod(0o700), "Epilog", "{at}/epilog.sh has mode 700; expected a file that every user may read and execute"),
    "a directory": (lambda at: ((at / "healthcheck.sh").unlink(), (at / "healthcheck.sh").mkdir()), "HealthCheckProgram", "{at}/healthcheck.sh is not a file"),
    "absent": (lambda at: (at / "taskprolog.sh").unlink(), "TaskProlog", "{at}/taskprolog.sh"),
    "closed folder": (lambda at: at.chmod(0o750), "TaskProlog", "{at}/taskprolog.sh: not every user may enter {at}"),
    "unreadable common.sh": (lambda at: (at / "common.sh").chmod(0o600), "common.sh", "{at}/common.sh has mode 600; expected a file that every user may read"),
    "unreadable site.sh": (lambda at: ((at / "site.sh").touch(), (at / "site.sh").chmod(0o600)), "site.sh", "{at}/site.sh has mode 600; expected a file that every user may read"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_user_cannot_reach_is_named(fault: str, site: Path, machine: LocalMachine) -> None:
    make, subject, reason = FAULTS[fault]
    make(site)
    result = found(checked(machine, slurm_conf(site)))[subject]
    assert result.outcome is FAIL
    assert result.reason.startswith(reason.format(at=site))


CURES: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "absent": (lambda at: (at / "prolog.sh").unlink(), "Prolog", "correct Prolog= in slurm.conf, or install the script there"),
    "absent common.sh": (lambda at: (at / "common.sh").unlink(), "common.sh", "install common.sh of contrib/slurm into the directory of the scripts"),
    "mode": (lambda at: (at / "prolog.sh").chmod(0o644), "Prolog", "let every user read and execute it: chmod a+rx {at}/prolog.sh"),
    "closed folder": (lambda at: at.chmod(0o750), "Prolog", "let every user enter it: chmod a+x {at}; or install into another directory"),
}  # fmt: skip


@pytest.mark.parametrize("fault", CURES)
def test_a_cure_is_of_the_fault(fault: str, site: Path, machine: LocalMachine) -> None:
    make, subject, cure = CURES[fault]
    make(site)
    results = found(checked(machine, slurm_conf(site)))
    assert results[subject].cure == cure.format(at=site)


def test_a_task_prolog_without_the_epilog_leaves_its_directories(site: Path, machine: LocalMachine) -> None:
    results = list(checked(machine, slurm_conf(site, Epilog="(null)")))
    assert [(result.subject, result.outcome) for result in results if result.outcome is not PASS] == [
        ("Epilog", SKIP),
        ("Epilog", FAIL),
    ]


def test_a_program_that_does_not_exist_is_no_script_of_the_site(site: Path, machine: LocalMachine) -> None:
    wrong = {hook: str(site / f"x{name}") for hook, name in HOOKS.items()}
    drains = {hook: f"; Slurm drains each node on which the {hook} fails" for hook in ("Prolog", "Epilog")}
    assert list(checked(machine, slurm_conf(site, **wrong))) == [
        failed(
            hook,
            f"{path} does not exist on this machine{drains.get(hook, '')}",
            f"correct {hook}= in slurm.conf (ours is {HOOKS[hook]}), or install the script on every node",
        )
        for hook, path in wrong.items()
    ]


def test_a_pattern_may_match_no_program_and_one_missing_of_two_is_named(site: Path, machine: LocalMachine) -> None:
    pattern, both = f"{site}/none.d/*", f"{site}/prolog.sh,{site}/other.sh"
    results = found(checked(machine, slurm_conf(site, Epilog=pattern, TaskProlog="(null)", Prolog=both)))
    assert {subject: (result.outcome, result.reason) for subject, result in results.items()} == {
        "TaskProlog": (SKIP, "slurm.conf does not name our taskprolog.sh"),
        "Prolog": (
            FAIL,
            f"{site}/other.sh does not exist on this machine; Slurm drains each node on which the Prolog fails",
        ),
        "Epilog": (SKIP, "slurm.conf does not name our epilog.sh"),
    }


def test_ours_is_found_behind_a_script_of_the_site(site: Path, machine: LocalMachine) -> None:
    """Slurm has one TaskProlog: a site with its own calls both from a third file."""
    both = site.parent / "both.sh"
    both.write_text(f"#!/bin/sh\n# not /old/taskprolog.sh\n/etc/slurm/own.sh\n{site}/taskprolog.sh\n")
    assert scripts_of(machine, slurm_conf(site, TaskProlog=str(both)))["TaskProlog"] == str(site / "taskprolog.sh")
    both.write_text("#!/bin/sh\n# not /old/taskprolog.sh\n/etc/slurm/own.sh\n")
    assert "TaskProlog" not in scripts_of(machine, slurm_conf(site, TaskProlog=str(both)))


def test_a_script_of_the_site_under_the_name_of_ours_is_not_taken_for_it(site: Path, machine: LocalMachine) -> None:
    own = site.parent / "taskprolog.sh"
    own.write_text("#!/bin/sh\n/etc/slurm/own.sh\n")
    config = slurm_conf(site, TaskProlog=str(own))
    assert "TaskProlog" not in scripts_of(machine, config)
    own.write_text(f"#!/bin/sh\n/etc/slurm/own.sh\n{site}/taskprolog.sh\n")
    own.chmod(0o755)
    assert scripts_of(machine, config)["TaskProlog"] == str(site / "taskprolog.sh")
    assert found(checked(machine, config)) == {}


def settings(at: Path, machine: LocalMachine, lines: str) -> files.Settings:
    (at / "site.sh").write_text(lines)
    made = files.read_settings(machine, scripts_of(machine, slurm_conf(at)))
    assert isinstance(made, files.Settings)
    return made


def test_a_site_sh_with_a_mistake_is_refused(site: Path, machine: LocalMachine) -> None:
    (site / "site.sh").write_text("GPU_PARTITIONS='gpu\n")
    result = files.read_settings(machine, scripts_of(machine, slurm_conf(site)))
    assert isinstance(result, Result)
    assert (result.outcome, result.subject) == (FAIL, "settings")
    assert "site.sh" in result.reason


def test_a_program_that_a_user_cannot_start(site: Path, machine: LocalMachine) -> None:
    """Its interpreter is absent, is root's alone or does not answer."""
    (site / "absent").write_text("#!/nowhere/bin/python\n")
    (site / "refused").write_text("#!/bin/sh\necho 'cannot read /root/venv/pyvenv.cfg' >&2; exit 1\n")
    for name in ("absent", "refused"):
        (site / name).chmod(0o755)
    made = settings(site, machine, f"DOCTOR={site}/absent\nTRAIN={site}/refused\n")
    results = found(files.check_programs(machine, made, ()))
    assert {subject: result.outcome for subject, result in results.items()} == {"DOCTOR": FAIL, "TRAIN": FAIL}
    assert "pyvenv.cfg" in results["TRAIN"].reason


def test_a_doctor_that_is_not_installed_is_to_be_installed(site: Path, machine: LocalMachine) -> None:
    made = settings(site, machine, f"DOCTOR={site}/none\nTRAIN={site}/none\n")
    reason = f"{site}/none does not exist"
    assert list(files.check_programs(machine, made, ())) == [
        failed("DOCTOR", reason, files.INSTALL),
        failed("TRAIN", reason, files.INSTALL),
    ]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can test it")
@pytest.mark.parametrize(
    ("log_dir", "outcome", "reason"),
    [
        ("{at}/log", PASS, "{at}/log is made by the first job"),
        ("{at}/new/log", PASS, "{at}/new/log is made by the first job"),
        ("{at}", PASS, "{at} can be written"),
        ("{at}/common.sh", FAIL, "{at}/common.sh is not a directory"),
        ("{at}/common.sh/log", FAIL, "{at}/common.sh is not a directory"),
        ("/proc/sys/kernel/log", FAIL, "root cannot write /proc/sys/kernel"),
        ("log", FAIL, "'log' is not an absolute path"),
        ("", FAIL, "'' is not an absolute path"),
    ],
)
def test_logs_that_root_cannot_write(
    log_dir: str, outcome: Outcome, reason: str, site: Path, machine: LocalMachine
) -> None:
    made = settings(site, machine, f"LOG_DIR='{log_dir.format(at=site)}'\nSTATE_DIR={site}/state\n")
    results = {result.subject: result for result in files.check_logs(machine, made)}
    assert results["STATE_DIR"].outcome is PASS
    assert (results["LOG_DIR"].outcome, results["LOG_DIR"].reason) == (outcome, reason.format(at=site))


@pytest.mark.parametrize(
    ("lines", "accounting", "names"),
    [
        ("GPU_ACCOUNTS='chem bio'", "accounting_storage/none", "chem bio"),
        ("RUNTIME_ACCOUNTS=chem", "(null)", "chem"),
        ("GPU_ACCOUNTS=chem", "accounting_storage/slurmdbd", ""),
        ("GPU_PARTITIONS=gpu", "accounting_storage/none", ""),
    ],
)
def test_accounts_of_a_cluster_without_accounting(
    lines: str, accounting: str, names: str, site: Path, machine: LocalMachine
) -> None:
    made = settings(site, machine, f"{lines}\n")
    results = found(files.check_accounts(slurm_conf(site, AccountingStorageType=accounting), made))
    reason = f"site.sh names {names}, but Slurm has no accounting: a job has an account only if its user passes one"
    assert {subject: result.reason for subject, result in results.items()} == ({"accounts": reason} if names else {})


def filtered(site: Path, machine: LocalMachine, text: str | None, plugins: str = "{at}/plugins") -> Result:
    (site / "plugins").mkdir()
    (site / "plugins" / "job_submit_lua.so").touch()
    (site / "doctor").write_text("#!/bin/sh\n")
    (site / "doctor").chmod(0o755)
    if text is None:
        (site / files.LUA).unlink()
    else:
        (site / files.LUA).write_text(text.format(at=site))
    config = slurm_conf(site, JobSubmitPlugins="throttle,lua", PluginDir=plugins.format(at=site))
    return list(files.check_filter(machine, config))[-1]


OURS = 'local DOCTOR = "{at}/doctor"\n'


@pytest.mark.parametrize(
    ("text", "plugins", "outcome", "reason"),
    [
        (OURS, "{at}/plugins", PASS, "{at}/job_submit.lua names {at}/doctor"),
        ('dofile("{at}/site/job_submit.lua")\n', "{at}/plugins", FAIL, "{at}/site/job_submit.lua cannot be read"),
        (OURS, "", UNKNOWN, "only Slurm itself can tell"),
        (OURS, "/nowhere:{at}/plugins", PASS, "{at}/job_submit.lua names {at}/doctor"),
        (None, "{at}/plugins", FAIL, "{at}/job_submit.lua"),
        ("-- of the site\n", "{at}/plugins", SKIP, "{at}/job_submit.lua is not the file of contrib/slurm"),
        ('local DOCTOR = "{at}/gone"\n', "{at}/plugins", FAIL, "DOCTOR in {at}/job_submit.lua: {at}/gone"),
        ('local DOCTOR = "{at}/common.txt"\n', "{at}/plugins", FAIL, "DOCTOR in {at}/job_submit.lua: "),
        (OURS, "/nowhere", FAIL, "job_submit_lua.so is not in PluginDir (/nowhere)"),
    ],
)
def test_the_filter_and_what_it_needs(
    text: str | None, plugins: str, outcome: Outcome, reason: str, site: Path, machine: LocalMachine
) -> None:
    result = filtered(site, machine, text, plugins)
    assert result.outcome is outcome, result
    assert result.reason.startswith(reason.format(at=site))


def test_a_filter_that_the_sites_own_loads_is_examined(site: Path, machine: LocalMachine) -> None:
    own = site / "own"
    own.mkdir()
    (own / files.LUA).write_text(f'local DOCTOR = "{site}/doctor"\n')
    result = filtered(
        site, machine, f'function slurm_job_submit() end\ndofile("{own}/{files.LUA}")\n'.replace("{", "{{")
    )
    assert (result.outcome, result.reason) == (PASS, f"{own}/{files.LUA} names {site}/doctor")
