"""transformers reads a byte-level tokenizer as SentencePiece and loses all spaces.

## What it does
Finds `"tokenizer_class": "LlamaTokenizerFast"` (or `LlamaTokenizer`) in tokenizer_config.json together with a byte-level
tokenizer.json, if transformers 5 is installed and the model's type is one for which it uses that class: `llama` (measured with
5.5.3, 5.9.0 and 5.10.4), `qwen3` and `qwen3_moe` (5.9.0 and 5.10.4). For other releases of transformers 5 it is a warning.

## Why it breaks training
Since 5.0 `LlamaTokenizer` replaces the splitting of tokenizer.json by its own: `a b\\n c` becomes `abc`.
Prompts, commands and results lose their spaces and newlines, and no error is raised. DeepSeek-R1-Distill-Llama and other
models of DeepSeek have such files ([transformers 45488](https://github.com/huggingface/transformers/issues/45488)).

## How to fix
Copy the model's directory and set `"tokenizer_class": "PreTrainedTokenizerFast"` in its tokenizer_config.json.

## Example
    tokenizer.decode(tokenizer.encode("How are you doing?")) == "Howareyoudoing?"
"""

from collections.abc import Iterator

from checks.mod.shared import release
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.facts.chat_template import ChatTemplate
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.models import model_type

KEY = "model.path"
CLASSES = ("LlamaTokenizer", "LlamaTokenizerFast")
SINCE = {"llama": (5, 5), "qwen3": (5, 9), "qwen3_moe": (5, 9)}
LAST_MEASURED = (5, 11)
"""The first release that was not measured."""


@check("MOD011", fix="operator: the tokenizer's class belongs to the model's files")
def tokenizer_loses_spaces(plan: Plan, model: ModelFiles, template: ChatTemplate) -> Iterator[Finding]:
    version, since = release(template.transformers), SINCE.get(model_type(model.config or {}) or "")
    if since is None or version < (5,) or template.tokenizer_class not in CLASSES or not template.byte_level:
        return
    is_measured = since <= version < LAST_MEASURED
    yield config_finding(
        f"tokenizer.json is byte-level, but tokenizer_class is {template.tokenizer_class}: transformers {template.transformers} reads it as SentencePiece and loses all spaces; expected PreTrainedTokenizerFast",
        required(plan).place(KEY),
        summary="set tokenizer_class to PreTrainedTokenizerFast in a copy of the model's directory",
        severity=Severity.ERROR if is_measured else Severity.WARNING,
        evidence=(f"{template.tokenizer}/tokenizer_config.json",),
    )
