"""The whole check of a site: Slurm's configuration, the files that it names, and jobs."""

from collections.abc import Iterator

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.site import files, in_slurm_conf, jobs, reach, slurm_config
from skyrl_doctor.site.result import Outcome, Result, failed, skipped, unknown
from skyrl_doctor.site.slurm_config import SlurmConfig

_LIMIT_S = 15.0
_COMMAND = " ".join(slurm_config.SHOW_CONFIG)
_SLURM_CONF = "/etc/slurm/slurm.conf"


def check_site(machine: Machine, asked: jobs.Asked, *, submits: bool) -> Iterator[Result]:
    answer = _ask_slurm(machine)
    if isinstance(answer, SlurmConfig):
        config = answer
    else:
        submits = False
        read = _read_slurm_conf(machine)
        if read is None:
            yield unknown("slurm.conf", f"{answer}. Run site-check where `{_COMMAND}` works{_other_way(machine)}")
            return
        config = read
        rest = f"only {config.text('SLURM_CONF')} and the files that it names are checked, and no job is run"
        yield unknown("slurm.conf", f"{answer}; {rest}")
    scripts = files.find_scripts(machine, config)
    filtered = list(files.check_filter(machine, config))
    missing = reach.missing_programs(machine, config)
    if (
        not scripts
        and not missing
        and not any(result.subject == files.LUA and result.outcome != "skip" for result in filtered)
    ):
        yield failed("slurm.conf", "it names none of the scripts of contrib/slurm", "see docs/slurm-site.md, Install")
        return
    results = list(reach.check_scripts(machine, scripts, missing))
    yield from results
    yield from in_slurm_conf.check_flags(config, scripts)
    yield from in_slurm_conf.check_interval(config, scripts)
    yield from in_slurm_conf.check_ends(config, scripts)
    settings = files.read_settings(machine, scripts)
    if isinstance(settings, Result):
        if not any(result.subject == reach.SITE_SH and result.outcome is Outcome.FAIL for result in results):
            yield settings
    elif settings is not None:
        yield from files.check_programs(machine, settings, asked.as_user)
        yield from files.check_names(scripts, settings)
        yield from in_slurm_conf.check_partitions(machine, config, settings)
        yield from in_slurm_conf.check_limits(config, scripts, settings)
        yield from files.check_accounts(config, settings)
        yield from files.check_logs(machine, settings)
    yield from filtered
    if not submits:
        yield skipped("jobs", "no job was run")
        return
    has_filter = any(result.outcome == "pass" for result in filtered)
    installed = files.Installed(scripts, settings if isinstance(settings, files.Settings) else None, has_filter)
    yield from jobs.run_jobs(machine, asked, installed)


def _ask_slurm(machine: Machine) -> SlurmConfig | str:
    """Slurm's own configuration, or why it is not known."""
    done = machine.run(slurm_config.SHOW_CONFIG, limit_s=_LIMIT_S)
    if not done.ok:
        return done.why
    return slurm_config.parse(done.out) or f"`{_COMMAND}` printed no configuration that the doctor reads"


def _other_way(machine: Machine) -> str:
    is_named = machine.environ().get("SLURM_CONF")
    return "" if is_named else ", or set SLURM_CONF=/path/to/slurm.conf to check the files only"


def _read_slurm_conf(machine: Machine) -> SlurmConfig | None:
    """The file itself, where Slurm does not answer."""
    path = machine.environ().get("SLURM_CONF") or _SLURM_CONF
    try:
        return slurm_config.parse_file(machine.read(path), path)
    except CouldNotLook:
        return None
