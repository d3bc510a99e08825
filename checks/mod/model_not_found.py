"""The model is not where the configuration says.

## What it does
Looks for config.json and a tokenizer in the directory, or in the snapshot of the hub's cache. It never asks the
network. A name that is in no cache is a warning where the job may still fetch it, an error where the hub is switched
off or where no such name can exist.

## Why it breaks training
The run ends when it loads the model; on a node without network only after minutes of retries.

## How to fix
Fetch the model on the login node: `hf download ORG/NAME`. Spell a directory with a leading `/` or `./`.

## Example
    OSError: mistralai/mistral-small-3.2-24b-instruct is not a local folder and is not a valid model identifier listed on
    'https://huggingface.co/models'
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.models import is_hub_id

SIGNATURES = (
    Signature(
        pattern=r"is not a valid model identifier|\bRepository Not Found for url\b|LocalEntryNotFoundError|does not appear to have a file named config\.json",
        sample="OSError: mistralai/mistral-small-3.2-24b-instruct is not a local folder and is not a valid model identifier listed on 'https://huggingface.co/models'",
        explain="the model is neither on disk nor on the hub under this name",
        versions="transformers",
    ),
    Signature(
        pattern=r"couldn't connect to 'https://huggingface\.co'",
        sample="OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files.",
        explain="the model is in no cache, and the node has no network",
        versions="transformers",
    ),
)


KEY = "model.path"


@check("MOD003", fix="skyrl_train/config/models.py")
def model_not_found(plan: Plan, model: ModelFiles) -> Iterator[Finding]:
    if model.directory is None:
        yield _absent(plan, model)
    elif model.config is None:
        yield _finding(plan, model, f"{model.directory} holds no config.json that reads; wanted a model's directory")
    elif not model.has_tokenizer and plan.find("model.tokenizer") is None:
        yield _finding(plan, model, f"{model.directory} holds no tokenizer; wanted tokenizer.json beside config.json")


def _absent(plan: Plan, model: ModelFiles) -> Finding:
    where = " or ".join(model.looked) or "no cache: HOME is not set"
    if model.is_local:
        return _finding(plan, model, f"{model.looked[0]} does not exist; wanted the directory of a model")
    if not is_hub_id(model.name):
        return _finding(plan, model, f"{model.name!r} is neither a directory nor a name that the hub can have")
    if model.offline:
        message = f"{model.name} is not in the hub's cache ({where}), and {model.offline} forbids to fetch it"
        return _finding(plan, model, message)
    message = f"{model.name} is not in the hub's cache ({where}); wanted it there before the job starts"
    return _finding(plan, model, message, severity=Severity.WARNING)


def _finding(plan: Plan, model: ModelFiles, message: str, *, severity: Severity = Severity.ERROR) -> Finding:
    fetches = not model.is_local and is_hub_id(model.name)
    return Finding(
        message=message,
        location=plan.place(KEY),
        severity=severity,
        remedy=Remedy(
            kind=RemedyKind.FIX_CONFIG,
            summary="fetch the model" if fetches else "name the model's directory",
            commands=(f"hf download {model.name}",) if fetches else (),
        ),
    )
