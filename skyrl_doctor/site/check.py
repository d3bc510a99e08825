"""The whole check of a site: Slurm's configuration, the files that it names, and jobs."""

from collections.abc import Iterator

from skyrl_doctor.machine.base import Machine
from skyrl_doctor.site import files, jobs, slurm_config
from skyrl_doctor.site.result import Result, failed, skipped, unknown

_LIMIT_S = 15.0


def check_site(machine: Machine, asked: jobs.Asked, *, submits: bool) -> Iterator[Result]:
    done = machine.run(slurm_config.SHOW_CONFIG, limit_s=_LIMIT_S)
    config = slurm_config.parse(done.out) if done.ok else None
    if config is None:
        yield unknown(
            "slurm.conf",
            "`scontrol show config` printed no configuration that the doctor reads" if done.ok else done.why,
        )
        return
    scripts = files.find_scripts(config, lambda path: files.exists(machine, path))
    filtered = list(files.check_filter(machine, config))
    if not scripts and not any(result.subject == files.LUA and result.outcome != "skip" for result in filtered):
        yield failed("slurm.conf", "it names none of the scripts of contrib/slurm", "see docs/slurm-site.md, Install")
        return
    yield from files.check_scripts(machine, scripts)
    settings = files.read_settings(machine, scripts) if scripts else None
    if isinstance(settings, Result):
        yield settings
    elif settings is not None:
        yield from files.check_programs(machine, settings, asked.as_user)
        yield from files.check_names(scripts, settings)
        yield from files.check_accounts(config, settings)
        yield from files.check_logs(machine, settings)
    yield from filtered
    if not submits:
        yield skipped("jobs", "--no-jobs")
        return
    has_filter = any(result.outcome == "pass" for result in filtered)
    installed = files.Installed(scripts, settings if isinstance(settings, files.Settings) else None, has_filter)
    yield from jobs.run_jobs(machine, asked, installed)
