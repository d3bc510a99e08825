"""The examples in the help of each command and in the manual: the words of the command line, and what they do."""

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "preflight": (
        ("preflight run.toml", "check this machine and this configuration"),
        ("preflight --structure-only train.sh", "check only the configuration, on a laptop"),
        ("preflight -v --select GPU,ENV005 run.toml", "run some checks, and print all that they found"),
        ("preflight --format json --output report.json run.toml", "write a report for a program"),
    ),
    "gate": (
        ("gate run.toml -- python train.py", "start the training only if the checks pass"),
        ("gate --allow-unknown run.toml -- python train.py", "start it also if a check could not run"),
    ),
    "budget": (
        ("budget run.toml --gpu H100", "estimate the memory of each phase on an H100"),
        ("budget train.sh --gpu A100-40GB --solve response_length", "find the longest response that fits"),
    ),
    "diagnose": (
        ("diagnose .skyrl_jobs/20260131_120000_launch", "find the root cause in the logs of a job"),
        ("diagnose train.log --config run.toml", "also say which setting caused it"),
        ("diagnose -", "read a log from standard input"),
    ),
    "watch": (
        ("watch JOB_DIR", "report failures while the job runs"),
        ("watch train.log --once", "print what is open now, and exit"),
        ("watch JOB_DIR --on-root stop --dry-run", "print what a policy would do"),
    ),
    "report": (
        ("report JOB_DIR", "write one HTML page about a job"),
        ("report bundle -o job.html", "the same from what `record --job` has written"),
    ),
    "list": (
        ("list", "list all known failures"),
        ("list out of memory", "list the failures with these words in their pages"),
    ),
    "explain": (
        ("explain GPU001", "print the page of a failure"),
        ("explain oom", "print the page with this word, or list the pages if there are several"),
    ),
    "env": (("env --role gpu", "print the variables that a GPU node needs, for eval"),),
    "fix": (
        ("fix train.sh", "print the edits that the findings call for; change nothing"),
        ("fix --apply CFG001 train.sh", "edit the file for one finding"),
    ),
    "site-check": (
        ("site-check --no-jobs", "check the installed files, submit no job"),
        ("site-check --user ann --gpu-partition gpu", "as root: also run a job of each kind as ann"),
    ),
    "record": (
        ("record recording/", "store what the probes read on this machine"),
        ("preflight --from recording/ run.toml", "examine that machine elsewhere"),
    ),
    "read": (("read train.sh", "print the settings that the script gives, named as in a run.toml"),),
    "completion": (("completion bash", "print the script that completes commands and options in bash"),),
    "manual": (("manual DIR", "write the man pages into DIR/man1"),),
}
