"""Groups logs by the Slurm job that wrote them. The first of these rules that names a job decides:

launch     the file is below the directory of a launch of skyrl-train: its jobs are one run
certain    its name is one that only Slurm gives, or its lines name a task of an array
own        its name holds a number that its lines print as a job id
stream     it is a .out or .err, and its name has an id: its lines may speak of another job
printed    its lines print one job id
confirmed  its name or a directory holds a number that some log prints as a job id
likely     its name, or a directory that not all logs share, has an id (see job_names)
date       other names differ from its name in a date alone: it is a run without an id
stem       another log of the same stem, such as the .out of its .err, has a job
near       the nearest directory that holds logs of jobs holds those of one only, and no driver of another run wrote the file

Logs without any job are those of one run, unless two of them were written by the drivers of different runs, or are in two
directories of prime-rl's logs: those of one such directory are of one run.
A log that says that it continues another job is of the same run.
"""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from skyrl_doctor.core.record import record
from skyrl_doctor.logs.read.job_names import NamedJobs, certain_id, launch_role, numbers, stem
from skyrl_doctor.logs.read.prime_logs import prime_directories
from skyrl_doctor.logs.read.slurm_job import JobWords

LAUNCH_FILES = ("jobs.json", "launch.json")
"""A launch of skyrl-train writes them into its directory."""
PRIME_DRIVER = "Starting RL run"
Words = Mapping[str, JobWords]


@record
class JobLogs:
    """The logs of one job or launch, in their order. `slurm_id` is empty where they name no Slurm job, and `is_dated` false where
    nothing in their names tells which run is newer. `near` are those that only their directory joins to the job."""

    slurm_id: str
    files: tuple[str, ...]
    is_dated: bool = True
    near: tuple[str, ...] = ()


def group_by_job(words: Words) -> list[JobLogs]:
    """The logs of each job, the newest first, and last those that name none."""
    launches = _launches(words)
    tasks = _tasks(words)
    run_of, dated = _own_runs(words, launches, tasks)
    titles = {**launches, **dict.fromkeys(dated, "")}
    run_of |= _shared_runs(words, run_of, _stem_keys)
    near = _shared_runs(words, run_of, _parents)
    foreign = _foreign(words, run_of, near)
    near = {file: run for file, run in near.items() if file not in foreign}
    run_of |= near
    merged = _merged(words, run_of, titles, tasks)
    groups: dict[str, list[str]] = defaultdict(list)
    for file in words:
        run = run_of.get(file, "")
        groups[merged.get(run, run)].append(file)
    unnamed = [JobLogs("", files, is_dated=False) for files in _split_runs(words, groups.pop("", []), foreign)]
    found = [_job_logs(titles.get(run, run), files, near) for run, files in groups.items()] + unnamed
    return sorted(found, key=lambda job: (_age(job.slurm_id), job.files), reverse=True)


def _job_logs(slurm_id: str, files: list[str], near: Mapping[str, str]) -> JobLogs:
    return JobLogs(slurm_id, tuple(files), near=tuple(file for file in files if file in near))


def _foreign(words: Words, run_of: Mapping[str, str], near: Mapping[str, str]) -> frozenset[str]:
    """The files near a job that another run's driver wrote, with those of their stems. Where there are any, the other files near
    the job are of it only in a directory of its logs, or below one."""
    foreign: set[str] = set()
    for run in set(near.values()):
        own = [file for file, one in run_of.items() if one == run]
        guests = [file for file, one in near.items() if one == run]
        others = _others(words, own, guests)
        stems = {key for file in others for key in _stem_keys(file)}
        places = tuple(os.path.join(os.path.dirname(file), "") for file in own)
        foreign |= others
        foreign |= {
            file for file in guests if (others and not file.startswith(places)) or stems.intersection(_stem_keys(file))
        }
    return frozenset(foreign)


def _others(words: Words, own: list[str], guests: list[str]) -> set[str]:
    """The guests that a driver of another run wrote. A job without a driver's log has none of several drivers."""
    driven = [file for file in guests if words[file].driver]
    drivers = [words[file] for file in own if words[file].driver]
    if drivers:
        return {file for file in driven if all(_differ(words[file], one) for one in drivers)}
    return set(driven) if any(_differ(words[driven[0]], words[file]) for file in driven[1:]) else set()


def _differ(one: JobWords, other: JobWords) -> bool:
    """Whether two logs are those of different drivers. Their first lines may differ in one run: each stream has its own."""
    if PRIME_DRIVER in one.driver or PRIME_DRIVER in other.driver:
        return not (PRIME_DRIVER in one.driver and PRIME_DRIVER in other.driver)
    return bool(one.driver_pids and other.driver_pids) and not one.driver_pids & other.driver_pids


def _split_runs(words: Words, files: list[str], foreign: frozenset[str]) -> list[tuple[str, ...]]:
    """The logs of each run that names no job. Of several runs, a log without a driver is one by itself, or of its stem's run."""
    homes = prime_directories(files)
    home_of = {file: max((one for one in homes if file.startswith(one)), key=len, default="") for file in files}
    drivers = {file: words[file].driver for file in files if words[file].driver and not home_of[file]}
    stems = {key: driver for file, driver in drivers.items() for key in _stem_keys(file)}
    runs: dict[str, list[str]] = defaultdict(list)
    for file in files:
        runs[home_of[file] or stems.get(_stem_keys(file)[0], file)].append(file)
    known = len(set(stems.values())) + len(homes)
    return [tuple(some) for some in runs.values()] if known > 1 or foreign else [tuple(files)] if files else []


def newest_first(jobs: Iterable[str]) -> list[str]:
    """The ids, the highest first, and last the logs without one. A task of an array comes after those with a higher number."""
    return sorted(jobs, key=_age, reverse=True)


def _age(job: str) -> list[int]:
    return [int(part) for part in job.split("_") if part]


def _single(ids: Iterable[str]) -> list[str]:
    """The id, if there is just one."""
    found = list(ids)
    return found if len(found) == 1 else []


def _launches(words: Words) -> dict[str, str]:
    """The newest training job of each directory of a launch. A file name alone does not make a launch: jobs may be named `training`."""
    roles: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for file in words:
        if found := launch_role(file):
            roles[os.path.dirname(file)].add(found)
    return {
        os.path.join(where, ""): newest_first(id_ for role, id_ in found if role == max(role for role, _ in found))[0]
        for where, found in roles.items()
        if len({role for role, _ in found}) > 1
        or any(os.path.lexists(os.path.join(where, one)) for one in LAUNCH_FILES)
    }


def _array_task(file: str, words: JobWords) -> str:
    """The task of an array that wrote the file: by its lines, or else by its name."""
    named = certain_id(file)
    return words.array_task or (named if "_" in named else "")


def _tasks(words: Words) -> dict[str, str]:
    """The task of an array that an id means: its own id, or the array's. One that several tasks have means none."""
    found: dict[str, set[str]] = defaultdict(set)
    for file, one in words.items():
        if task := _array_task(file, one):
            for id_ in (task.partition("_")[0], *_single(one.ids)):
                found[id_].add(task)
    return {id_: min(tasks) for id_, tasks in found.items() if len(tasks) == 1}


def _own_runs(
    words: Words, launches: Mapping[str, str], tasks: Mapping[str, str]
) -> tuple[dict[str, str], frozenset[str]]:
    """The run of each file that names one, and those of them that only a date names. A launch's run is named by its directory."""
    printed = frozenset(id_ for one in words.values() for id_ in one.ids)
    named = NamedJobs(words, printed | {certain_id(file) for file in words} - {""})
    shared = _shared_directory(words)
    found: dict[str, str] = {}
    dated: set[str] = set()
    for file, one in words.items():
        certain = certain_id(file)
        launch = max((where for where in launches if file.startswith(where)), key=len, default="")
        if launch and not certain:
            found[file] = launch
            continue
        own = _single(numbers(os.path.basename(file)) & one.ids)
        confirmed = _single(numbers(file) & (one.ids or printed))
        ids = (certain, one.array_task, *own, named.of_stream(file), *_single(one.ids), *confirmed)
        likely = (named.of_path(path) for path in _below(shared, file))
        if id_ := next(filter(None, (*ids, *likely)), ""):
            found[file] = tasks.get(id_, id_)
        elif date := named.of_date(file):
            found[file] = date
            dated.add(date)
    return found, frozenset(dated)


def _below(shared: str, file: str) -> list[str]:
    """The file and the directories above it that are below the shared one, the nearest first."""
    parts = file[len(shared) :].split("/")
    return [shared + "/".join(parts[:count]) for count in range(len(parts), 0, -1)]


def _shared_directory(words: Words) -> str:
    """The directory that all files are below: its name tells none of them from another."""
    directories = [os.path.dirname(file) for file in words]
    if len({os.path.isabs(one) for one in directories}) != 1:
        return ""
    shared = os.path.commonpath(directories)
    return os.path.join(shared, "") if shared else ""


def _shared_runs(words: Words, run_of: Mapping[str, str], keys_of: Callable[[str], list[str]]) -> dict[str, str]:
    """The runs of files that name none: of a file's keys, the first that files with runs have too, if these are of one run."""
    runs: dict[str, set[str]] = defaultdict(set)
    for file, run in run_of.items():
        for key in keys_of(file):
            runs[key].add(run)
    found: dict[str, str] = {}
    for file in words.keys() - run_of.keys():
        of_key = next((runs[key] for key in keys_of(file) if key in runs), set[str]())
        if len(of_key) == 1:
            found[file] = min(of_key)
    return found


def _stem_keys(file: str) -> list[str]:
    where, name = os.path.split(file)
    return [os.path.join(where, stem(name))]


def _parents(file: str) -> list[str]:
    """The directories above a file, the nearest first."""
    parts = file.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(len(parts), -1, -1)]


def _merged(
    words: Words, run_of: Mapping[str, str], titles: Mapping[str, str], tasks: Mapping[str, str]
) -> dict[str, str]:
    """The newest job of each run that is named by its id."""
    merged = {run: run for run in run_of.values() if run not in titles}
    for file, one in words.items():
        for earlier in {tasks.get(id_, id_) for id_ in one.continues} & merged.keys():
            both = {merged[earlier], merged.get(run_of.get(file, ""), merged[earlier])}
            merged |= {id_: newest_first(both)[0] for id_, run in merged.items() if run in both}
    return merged
