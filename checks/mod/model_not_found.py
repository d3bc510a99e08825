"""The model does not exist at the configured path or in the hub's cache.

## What it does
Looks for config.json and a tokenizer in the directory, or in the snapshot in the hub's cache. It never uses the
network. A name that is not in the cache is a warning if the job may still download it, and an error if the hub is
turned off or the name is invalid. A missing directory is an error on a GPU node and with `--role`, otherwise a warning,
because the GPU node may have it (as CFG007 of data files).

## Why it breaks training
The run ends when it loads the model, on a node without network only after minutes of retries.

## How to fix
Download the model on the login node: `hf download ORG/NAME`. Write a directory with a leading `/` or `./`.

## Example
    OSError: mistralai/mistral-small-3.2-24b-instruct is not a local folder and is not a valid model identifier listed on
    'https://huggingface.co/models'
"""

from collections.abc import Iterator

from checks.vocabulary import LACK
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.models import is_hub_id

SPELLING = "Compare the name with https://huggingface.co/ORG/NAME. A directory needs a leading `/` or `./` and must exist on the node that reads it. Nodes without network: `hf download ORG/NAME` on {slurm:the login node|a machine with network}, and the same `HF_HOME` in the job."
FETCH = "Download it on a node with network (`hf download ORG/NAME`), with the same `HF_HOME` as the job, and set `HF_HUB_OFFLINE=1` in the job."
COPY = "Copy or download the whole directory again: config.json, tokenizer files and all files that model.safetensors.index.json names."
WEIGHTS = "List the path of the line on this node, as this user and in this container (`ls -l PATH`). Correct the path, download the weights there (`hf download ORG/NAME`), or mount the directory. What lay in `/tmp`, `/dev/shm` or a node's own disk is only on that node, and gone after a restart."
CAUSE = "the model is neither on disk nor on the hub under this name, or this user has no access to it"
INCOMPLETE = "the model's directory is incomplete or not at the configured path"

KEYS = ("model.path",)

SIGNATURES = (
    Signature(
        pattern=r"is not a valid model identifier|\bRepository Not Found for url\b|does not appear to have a file named config\.json|\bUnsloth: No config file found\b|\bNo config file found - are you sure the `model_name` is correct|\bRevision Not Found for url\b|is not a valid git identifier",
        sample="OSError: mistralai/mistral-small-3.2-24b-instruct is not a local folder and is not a valid model identifier listed on 'https://huggingface.co/models'",
        explain="the model is neither on disk nor on the hub under this name",
        remedy=SPELLING,
        versions="transformers",
    ),
    Signature(
        pattern=r"\bLocalEntryNotFoundError\b|\bOfflineModeIsEnabled\b|cannot find the (?:requested files|appropriate snapshot folder) in the (?:local|disk) cache",
        sample="huggingface_hub.errors.LocalEntryNotFoundError: Cannot find an appropriate cached snapshot folder for the specified revision on the local disk and outgoing traffic has been disabled.",
        unless=r"check your (?:internet )?connection|error happened while trying to locate",
        explain="the model is not in this node's cache, and the hub is turned off (`HF_HUB_OFFLINE`) or was not asked",
        remedy=FETCH,
        versions="transformers",
    ),
    Signature(
        pattern=r"invalid load key, 'v'",
        sample="_pickle.UnpicklingError: invalid load key, 'v'.",
        explain="the model's files are git-lfs pointers instead of weights",
        remedy="Run `git lfs pull` in the directory, or download the model with `hf download ORG/NAME`.",
        versions="torch",
        near=r"torch/serialization|safetensors|load_state_dict|torch\.load\(",
        within=20,
        refines=("ENV010",),
    ),
    Signature(
        pattern=r"Repo id must be .{0,80}: '(?P<path>[/~.][^']{1,300}|[A-Za-z]:[^']{1,300})'",
        sample="huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': '/models/qwen'. Use `repo_type` argument if needed.",
        explain="the directory {path} does not exist where this process runs, so its path was taken for a name on the hub",
        remedy="List it in the same place (`ls {path}`): the same node, container or virtual machine, and the same user. Correct the path, or mount the directory there. `~` and variables are not expanded inside a configuration.",
        versions="huggingface_hub",
    ),
    Signature(
        pattern=r"Invalid repository ID or local directory specified|\bHFValidationError\b|Incorrect path_or_model_id",
        sample="ValueError: Invalid repository ID or local directory specified: '/models/qwen'. Please verify the following requirements:",
        explain=CAUSE,
        remedy=SPELLING,
        versions="vllm, huggingface_hub",
    ),
    Signature(
        pattern=r"\bRepositoryNotFoundError\b",
        unless=r"^\s*(?:from [\w.]{1,80} )?import \b|^\s*except\b",
        sample="huggingface_hub.errors.RepositoryNotFoundError: 401 Client Error. (Request ID: Root=1-2)",
        explain="the hub has no model of this name, or it is private",
        remedy=f"{SPELLING} A private model: set `HF_TOKEN` in the environment of all workers.",
        versions="huggingface_hub",
    ),
    Signature(
        pattern=r"Can't load (?:tokenizer|the configuration of|the model|feature extractor|image processor) (?:for |of )?'|Error no file named (?:pytorch_model|model)|does not appear to have (?:a )?files? named|[Cc]annot find any model weights with|\bCan't find 'adapter_config\.json' at |Error: Can't find config\.json at |Error: Can't find weights for \S|\bModel path \S{1,300} is not a directory|\bNo safetensors (?:checkpoint )?found in\b|\b(?:LoRA )?[Aa]dapter weights (?:were )?not found\b|\bNo adapter weights found for adapter\b|Error: adapter_config\.json not found in |\bNo local weights found in \S{1,200} with extension\b|\bRepo for model `\S{1,200}` does not exist on the Hub\b|\bLoRA filepath = \S{1,300} does not exist|\bLoading lora \S{1,200} failed: No adapter found for \S|\bUnsloth: Failed to load model\. Both AutoConfig and PeftConfig loading failed|\btokenizer_config\.json not found in local directory\b|\bNo \.(?:safetensors|bin) weights found for model\b|\bmodelscope\.hub\.errors\.NotExistError: |^Error: (?:pull )?model '\S{1,120}' not found, try pulling it first|Not found: \"\S{1,300}tokenizer\.model\": No such file|Entry Not Found for url: .{0,200}(?:config\.json|\.safetensors|tokenizer\w{0,20}\.json)",
        sample="OSError: Can't load tokenizer for '/models/qwen'. If you were trying to load it from 'https://huggingface.co/models', make sure you don't have a local directory with the same name.",
        explain="files of the model are missing where the run looks for them",
        remedy=f"{SPELLING} {COPY}",
        versions="transformers, vllm",
    ),
    Signature(
        pattern=r"Unrecognized model in \S{1,300} Should have a `model_type`|No supported config format found in|Unable to load weights from \w{1,12} checkpoint file|the config file at .{1,300} is not a valid JSON file|Couldn't instantiate the backend tokenizer|Error while deserializing header: |\bcould not parse ModelProto from\b|\bUnable to load tokenizer: |\bstate dictionary of the model you are trying to load is corrupted\b",
        sample="safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge",
        explain="a file of the model is damaged, incomplete or of another format",
        remedy=f"{COPY} An adapter's or a checkpoint's directory is not a model: merge or convert it first.",
        versions="transformers, safetensors, vllm",
    ),
    Signature(
        pattern=r"No such file or directory: ['\"]\S{0,200}(?:[Mm]odels?|hub|snapshots)\S{0,200}/(?:config\.json|tokenizer\w{0,20}\.json|model\S{0,40}\.safetensors(?:\.index\.json)?)['\"]",
        sample="FileNotFoundError: [Errno 2] No such file or directory: '/models/qwen/config.json'",
        explain=INCOMPLETE,
        remedy=COPY,
        versions="transformers, safetensors",
    ),
    Signature(
        pattern=r"\b(?:FileNotFoundError|OSError): (?:\[Errno 2\] )?(?:No such file or directory|Unable to (?:synchronously )?open file [^\n]{0,80}No such file or directory|File not found)[^\n]{0,40}['\"](?P<file>[^'\"\n]{1,300}\.(?:pth|safetensors|gguf))['\"]|\bNo such file or directory: ['\"](?P<bin>[^'\"\n]{0,300}pytorch_model[\w.-]{0,40}\.bin)['\"]|\bfailed to open GGUF file '(?P<gguf>[^'\n]{1,300})'",
        sample="FileNotFoundError: [Errno 2] No such file or directory: '/dev/shm/rwkv7-1.5b.pth'",
        unless=r"global_step_|(?i:checkpoint|resum|optim|rng_state|scheduler)",
        explain="a file with the weights of the model does not exist where this process looks for it",
        remedy=WEIGHTS,
        versions="torch, safetensors, llama.cpp",
        last_resort=True,
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\b(?:model|tokenizer|weights?)\b.{{0,20}}\b(?:directory|path|dir|folder|files?)\b.{{0,4}}\S{{0,300}}.{{0,12}}\b{LACK}|\b(?:no|missing) (?:model|tokenizer) (?:files?|weights|directory)\b",
    sample="FileNotFoundError: model directory /models/qwen does not exist",
    explain=INCOMPLETE,
    remedy=COPY,
    versions="any",
    unless="global_step_|(?i:checkpoint|resum)",
)

KEY = "model.path"


@check("MOD003", fix="skyrl_train/config/models.py")
def model_not_found(plan: Plan, model: ModelFiles, roles: Roles) -> Iterator[Finding]:
    if model.directory is None:
        yield _absent(plan, model, roles)
    elif model.config is None:
        yield _finding(plan, model, f"{model.directory} has no readable config.json; expected a model directory")
    elif not model.has_tokenizer and plan.find("model.tokenizer") is None:
        yield _finding(plan, model, f"{model.directory} has no tokenizer; expected tokenizer.json next to config.json")


def _absent(plan: Plan, model: ModelFiles, roles: Roles) -> Finding:
    where = " or ".join(model.searched) or "no cache: HOME is not set"
    if model.is_local:
        severity = Severity.ERROR if roles.sees_the_run else Severity.WARNING
        message = f"{model.searched[0]} does not exist; expected a model directory"
        return _finding(plan, model, message, severity=severity)
    if not is_hub_id(model.name):
        return _finding(plan, model, f"{model.name!r} is neither a directory nor a valid name on the hub")
    if model.offline:
        message = f"{model.name} is not in the hub's cache ({where}), and {model.offline} forbids downloading it"
        return _finding(plan, model, message)
    message = f"{model.name} is not in the hub's cache ({where}); expected it there before the job starts"
    return _finding(plan, model, message, severity=Severity.WARNING)


def _finding(plan: Plan, model: ModelFiles, message: str, *, severity: Severity = Severity.ERROR) -> Finding:
    fetches = not model.is_local and is_hub_id(model.name)
    return Finding(
        message=message,
        location=plan.place(KEY),
        severity=severity,
        remedy=Remedy(
            kind=RemedyKind.FIX_CONFIG,
            summary="download the model" if fetches else "name the model's directory",
            commands=(f"hf download {model.name}",) if fetches else (),
        ),
    )
