"""A data file or a program of the run is missing, or the data hold fewer tasks than one step takes.

## What it does
Checks that every file of `data.train_files` and `data.val_files` exists, is a file and is not empty. So are the other
files that a run opens at its start: verl's reward function, reward manager, data class, sampler, tools and agent loops,
a chat template of SkyRL and prime-rl, and prime-rl's template of a batch script. A relative path of these is also
looked for from the folders of the script. Addresses with `://` are not checked. It is an error on a GPU node and with `--role` (a launch passes `--role login`), otherwise a
warning, because the GPU node may have the file. A run.toml without task files is an error without `--role`: `skyrl-train launch`, which passes
a role, refuses it itself. Compares the number of training tasks with `data.train_batch_size`.

## Why it breaks training
The trainer opens its data and its programs after the queue, when Ray has started. If the files hold fewer tasks than one batch, verl
finds no batch and ends.

## How to fix
Correct the path, or create the file: `skyrl-train data convert rows.jsonl train.parquet`. The GPU node must be able
to read it.

## Example
    FileNotFoundError: Unable to find '/home/me/data/r2e/train.parquet'
    AssertionError: Train dataloader is empty!
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.data_files import TASKS, DataFile, DataFiles
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.facts.training_rows import TrainingRows
from skyrl_doctor.plan.dialects.run_config import NAME as RUN_CONFIG
from skyrl_doctor.plan.findings import config_finding, finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.tasks import task_violations

BATCH = "data.train_batch_size"
UNCOUNTED = "no action needed if the files hold at least one batch"
COMPARE = "Compare the path with the files on the node that reads it (`ls -l`): a relative path starts at the run's working directory, `~` and variables are not expanded in a quoted value, and nodes may not share this directory."
KEYS = ("data.train_files", "data.val_files")

FILE = r"""['\"]?(?P<file>[^'\"\s]{1,300}\.(?:parquet|jsonl|arrow)(?:\.gz|\.zst)?)\b"""
ABSENT = "the data file {file} does not exist where the run looks for it"
OF_THE_HUB = r"/\.cache/huggingface/|/cache-[0-9a-f]{8,64}\.arrow|/tmp[a-z0-9_]{8}(?:[./]|$)"
"""Files that the libraries of the hub write for themselves."""
READS = r"\b(?:read_parquet|read_table|read_json|load_dataset|RLHFDataset|create_rl_dataset|_read_files_and_tokenize|ParquetFile)\b|\b(?:rl|sft|multiturn_sft)_dataset\.py\b"
WRITES = r"""\bopen\([^\n]{1,120}, ?(?:mode ?= ?)?['\"][wax]|\bto_(?:parquet|json)\(|\bwrite_table\("""

SIGNATURES = (
    Signature(
        pattern=rf"Error: Unable to find {FILE}",
        sample="FileNotFoundError: Unable to find '/data/train.parquet'",
        explain=ABSENT,
        remedy=COMPARE,
        versions="datasets",
        unless=OF_THE_HUB,
    ),
    Signature(
        pattern=r"""Error: \[Errno 2\] No such file or directory: ['\"](?P<file>[^'\"\s]{0,300}\b(?:train|val|valid|validation|test)\.(?:parquet|jsonl?|arrow))['\"]""",
        sample="FileNotFoundError: [Errno 2] No such file or directory: '/data/train.parquet'",
        explain=ABSENT,
        remedy=COMPARE,
        versions="verl, pandas, pyarrow",
        unless_above=WRITES,
        last_resort=True,
    ),
    Signature(
        pattern=rf"Error: (?:\[Errno 2\] No such file or directory: |.{{0,80}}\b(?:does not exist|doesn't exist|not found): {{0,2}}){FILE}",
        sample="FileNotFoundError: [Errno 2] No such file or directory: '/data/train.parquet'",
        explain=ABSENT,
        remedy=COMPARE,
        versions="verl, pandas, pyarrow",
        near=READS,
        within=30,
        unless=OF_THE_HUB,
        unless_above=WRITES,
        last_resort=True,
    ),
    Signature(
        pattern=r"\bFileNotFoundError: (?:\[Errno 2\] )?No such file or directory: '(?P<file>[^'\n]{1,300}(?:_(?:doc|sample|shuffle)_idx|(?:document|sample|shuffle)_index|dataset_(?:sample_)?index)\.npy)'",
        sample="FileNotFoundError: [Errno 2] No such file or directory: '/data/index-cache/own_doc_idx.npy'",
        explain="the index {file}, which one process builds for all, does not exist where this process looks for it",
        remedy="The first rank builds the index, and all others read it. Put its directory (Megatron: `--data-cache-path`, or the directory of the data) on a file system that all nodes share, or build it on each node before the run. If the first rank failed, its own error comes first.",
        versions="megatron",
    ),
    Signature(
        pattern=r"\bOne or both of the \.idx and \.bin files cannot be found at the path prefix (?P<file>\S{1,300})|\b(?:AssertionError|ValueError|FileNotFoundError): (?:Dataset|data set|Indexed dataset) (?:path |prefix )?(?P<prefix>\S{1,300}) (?:does not exist|not found)\b",
        sample="AssertionError: One or both of the .idx and .bin files cannot be found at the path prefix /data/own_text_document",
        explain="the data set does not exist at the path that the configuration names",
        remedy=COMPARE,
        versions="megatron, nemo",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bDataFilesNotFoundError: |\bFileNotFoundError: Couldn't find (?:any data file|a dataset script) at |\bEmptyDatasetError: |\bDatasetNotFoundError: Dataset (?P<name>\S{1,200}) doesn't exist on the Hub|\b[Pp]rompt dataset path '[^'\n]{1,300}' does not exist|\bThe dataset could not be loaded\. This could be due to a misconfigured dataset path|\bCannot open \S{1,300}dataset_info\.json due to\b|\bRequested split '[^'\n]{1,60}' not found in DatasetDict",
        sample="datasets.exceptions.DataFilesNotFoundError: No (supported) data files found in /data/gsm8k",
        explain="the data set has no data files at this path or name",
        remedy=COMPARE,
        versions="datasets",
    ),
    Signature(
        pattern=r"\bFileNotFoundError: Directory (?P<file>\S{1,300}) (?:not found|is neither a `?Dataset`? directory nor a )",
        sample="FileNotFoundError: Directory /data/gsm8k/train not found",
        explain=ABSENT,
        remedy="`load_from_disk` opens the directory that `save_to_disk` wrote, with `dataset_info.json` in it. Correct the path; it is opened on the node of the job, and a relative one counts from the directory in which the job runs.",
        versions="datasets",
    ),
    Signature(
        pattern=r"\bAssertionError: (?P<which>Train|Validation) dataloader is empty!",
        sample="AssertionError: Train dataloader is empty!",
        explain="the data files hold fewer rows than one batch takes, or the filter left out too many",
        remedy="Lower `{key:data.train_batch_size}`, or raise `{key:data.max_prompt_tokens}`: longer prompts are filtered out.",
        versions="verl",
        keys=("data.train_batch_size", "data.max_prompt_tokens"),
    ),
)


@check("CFG007", roles=[Role.LOGIN, Role.GPU], fix="skyrl_train/config/tasks.py")
def data_files_missing(
    plan: Plan, data: DataFiles | None, rows: TrainingRows | None, roles: Roles
) -> Iterator[Finding]:
    if required(plan).is_of(RUN_CONFIG) and not roles.asked:  # a launch names the role: it knows its trainer's command
        yield from _no_tasks(plan)
    if data is None:
        if plan.is_of(RUN_CONFIG):
            return
        raise NotApplicable("no data files of this run are examined")
    severity = Severity.ERROR if roles.sees_the_run else Severity.WARNING
    for file in data.files:
        if file.wrong:
            yield _missing(plan, file, data.cwd, Severity.WARNING if file.may_be_beside_package else severity)
    batch = plan.integer(BATCH)
    if rows is not None and batch is not None:
        yield from _of_rows(plan, rows, batch)
    unsure = [file.unsure for file in data.files if file.unsure]
    if unsure:
        raise CouldNotLook(unsure[0])


def _no_tasks(plan: Plan) -> Iterator[Finding]:
    """What `skyrl-train launch` refuses."""
    validates = plan.flag("trainer.validate_first") or (plan.integer("trainer.validate_every_steps") or 0) > 0
    has_tasks, has_validation = (bool(plan.texts(key)) for key in KEYS)
    for violation in task_violations(has_tasks=has_tasks, has_validation=has_validation, validates=validates):
        yield finding(plan, violation)


def _missing(plan: Plan, file: DataFile, cwd: str, severity: Severity) -> Finding:
    where = "" if file.path.startswith("/") else f" (relative to {cwd})"
    own = None if file.kind == TASKS else plan.own[file.key]
    return Finding(
        message=f"{plan.name(file.key)} names {file.path}{where}, which {file.wrong}; expected {file.kind}",
        location=plan.place(file.key) if own is None else own.location,
        severity=severity,
        remedy=Remedy(kind=RemedyKind.FIX_CONFIG, summary=f"correct {plan.name(file.key)}, or create the file"),
    )


def _of_rows(plan: Plan, rows: TrainingRows, batch: int) -> Iterator[Finding]:
    """A finding for too few rows, and a note where the rows could not be counted: the trainer may still read them."""
    if rows.unread:
        yield config_finding(
            f"the training tasks could not be counted, so {plan.name(BATCH)} = {batch} was not compared with them: {rows.unread}",
            plan.place("data.train_files"),
            severity=Severity.INFO,
            summary=UNCOUNTED,
        )
    elif rows.count < batch:
        yield _too_few(plan, rows.count, batch)


def _too_few(plan: Plan, rows: int, batch: int) -> Finding:
    return config_finding(
        f"{plan.name(BATCH)} is {batch}, but the training files hold only {rows} tasks; expected at least {batch}",
        plan.place(BATCH),
        plan.settings({BATCH: str(rows)}) if rows else {},
    )
