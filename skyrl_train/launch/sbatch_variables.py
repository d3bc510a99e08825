"""Which of sbatch's SBATCH_ variables become options of the launch's jobs.

sbatch ranks its variables above the options in a script. So a variable fills in what the configuration leaves open, as an
option of the script, and sbatch itself gets none of them: checks, dry run, submission and restart then see one request.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

PREFIX = "SBATCH_"
_MEMORY = ("--mem", "--mem-per-cpu", "--mem-per-gpu")
OPTIONS = {
    "SBATCH_ACCOUNT": ("--account", "-A"),
    "SBATCH_PARTITION": ("--partition", "-p"),
    "SBATCH_QOS": ("--qos", "-q"),
    "SBATCH_RESERVATION": ("--reservation",),
    "SBATCH_CONSTRAINT": ("--constraint", "-C"),
    "SBATCH_WCKEY": ("--wckey",),
    "SBATCH_TIMELIMIT": ("--time", "-t"),
    "SBATCH_MEM_PER_NODE": _MEMORY,
    "SBATCH_MEM_PER_CPU": ("--mem-per-cpu", *_MEMORY),
    "SBATCH_EXCLUSIVE": ("--exclusive",),
}
"""The variables that a site or a user sets for all jobs. The first spelling is the one that is written; any of them in the
job's own options decides instead."""
_MAY_BE_EMPTY = "SBATCH_EXCLUSIVE"


def given(environ: Mapping[str, str]) -> dict[str, str]:
    """All variables of sbatch in this environment."""
    return {name: value for name, value in environ.items() if name.startswith(PREFIX)}


def without(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without them."""
    return {name: value for name, value in environ.items() if not name.startswith(PREFIX)}


def filled(options: Sequence[str], variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The variables that these options leave open, each with its option."""
    named = {spelling(option) for option in options}
    for name, (written, *others) in OPTIONS.items():
        value = variables.get(name)
        if value is not None and _is_set(name, value) and named.isdisjoint((written, *others)):
            yield name, f"{written}={value}" if value else written
            named.add(written)


def _is_set(name: str, value: str) -> bool:
    """Whether the variable asks for something: empty, one that becomes an option does not."""
    return value != "" or name == _MAY_BE_EMPTY or name not in OPTIONS


def spelling(option: str) -> str:
    """`--mem` of `--mem=1G`, `-p` of `-p gpu` and of `-pgpu`."""
    name = option.strip().partition("=")[0].partition(" ")[0]
    return name if name.startswith("--") else name[:2]


def report(jobs: Iterable[tuple[str, Sequence[str]]], variables: Mapping[str, str], say: Callable[[str], None]) -> None:
    """Says in one line which variables are used, by which job, and which are not. `jobs` are names and own options."""
    used: dict[str, list[str]] = {}
    for job, options in jobs:
        for name, option in filled(options, variables):
            used.setdefault(f"{name} as {option}", []).append(job)
    wanted = {name for name, value in variables.items() if _is_set(name, value)}
    unused = sorted(wanted - {text.partition(" ")[0] for text in used})
    parts = [f"{text} ({' and '.join(names)})" for text, names in used.items()]
    if unused:
        parts.append(f"not used: {', '.join(unused)}; the configuration decides, and slurm.extra adds options")
    if parts:
        say(f"sbatch's variables: {'; '.join(parts)}")
