"""The special tokens of the model's files do not fit together.

## What it does
Compares tokenizer.json, tokenizer_config.json, the chat template and config.json:

- each token of the prompts and the padding token has a row in the embedding,
- tokenizer_config.json gives a token the same id as tokenizer.json,
- a marker of the template, such as `<|im_end|>`, is one token,
- a prompt has the tokenizer's first token (`bos`) once,
- verl 0.9.1 finds the tokens that it looks up for this type of model.

A padding token that also ends a turn is accepted, and the side of the padding is not checked: these loops build the masks
of what they train on themselves.

## Why it breaks training
A token beyond the embedding ends the run in a CUDA assertion. A marker that is split, or has another id, is not the one
that the model knows, and generation does not stop at it. Without a padding token no batch is built. verl refuses a tokenizer that lacks its tokens in each rollout.

## How to fix
Take tokenizer and template from one model. Resize the embedding after adding tokens, and save the model with its tokenizer.

## Example
    ValueError: Tokenizer does not define required token '<|im_end|>'
"""

from collections.abc import Iterator

from checks.mod.shared import GLM, MINIMAX, QWEN, slices
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.chat_template import ChatTemplate
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.models import model_type

SIGNATURES = (
    Signature(
        pattern=r"Tokenizer does not define required token (?P<token>'[^']{1,60}')|Expected (?:Qwen|MiniMax) newline to tokenize to one token",
        sample="ValueError: Tokenizer does not define required token '<|im_end|>'",
        explain="verl expects a token that this model's tokenizer lacks, because config.json has the model_type of another tokenizer",
        remedy="Use a model with the tokenizer of its `model_type`, or verl 0.8, which looks up no token.",
        versions="verl",
    ),
    Signature(
        pattern=r"Asking to pad but the tokenizer does not have a padding token|`pad_token_id` has to be defined\b|\bTokenizer must define `pad_token_id`|\bPad_token_id must be set in the configuration of the model\b|\bUnsloth: Could not find a valid pad token\b|\bthe tokenizer (?:is not configured with a padding token|you are using \(\w{1,60}\) does not have one)|Cannot handle batch sizes > 1 if no padding token is (?:defined|> 1)|Error: [^\n]{0,80}[Tt]okenizer (?:must have an?|has no|(?:does not|doesn't) have an?) (?:`?pad_token`?|pad(?:ding)? token)\b",
        sample="ValueError: Asking to pad but the tokenizer does not have a padding token. Please select a token to use as `pad_token`",
        explain="sequences of several lengths form one batch, and the model's tokenizer has no padding token",
        remedy="Use a model with a padding token, such as its instruct version. Otherwise set `pad_token` in tokenizer_config.json to a token that ends no turn, or `tokenizer.pad_token = tokenizer.eos_token` where the loss mask does not come from the padding.",
        versions="transformers, trl",
    ),
    Signature(
        pattern=r"\bThe specified `(?P<which>eos|pad)_token` \('(?P<token>[^'\n]{1,60})'\) is not found in the vocabulary\b",
        sample="ValueError: The specified `eos_token` ('<EOS_TOKEN>') is not found in the vocabulary of the given `processing_class` (Qwen2TokenizerFast).",
        explain="the trainer is to use `{token}` as its {which} token, which the model's tokenizer does not have",
        remedy="Set `{which}_token` of the trainer's configuration to a token of this tokenizer, such as `tokenizer.{which}_token`, or leave it out. `<EOS_TOKEN>` comes from a trainer that unsloth patched: import unsloth before trl, and update both.",
        versions="trl, unsloth",
    ),
)

KEY = "model.path"
NEEDED_BY = {
    **dict.fromkeys(QWEN[1:], ("<|im_end|>",)),
    **dict.fromkeys(MINIMAX, ("[e~[",)),
    **dict.fromkeys(GLM, ("<|observation|>", "<|user|>")),
}
"""Tokens that verl 0.9.1 looks up, by type of model. transformers gives the tokenizer of qwen2 an unknown token, which it then finds."""
SUMMARY = "take tokenizer and chat template from one model"


@check("MOD010", fix="operator: these files belong to the model")
def special_tokens_disagree(plan: Plan, model: ModelFiles, template: ChatTemplate) -> Iterator[Finding]:
    where = required(plan).place(KEY)
    evidence = (f"{template.tokenizer}/tokenizer.json",)
    for message in _outside(template):
        yield config_finding(message, where, summary=SUMMARY, evidence=evidence)
    likely = Severity.ERROR if template.verl else Severity.WARNING
    for message in _missing_for_verl(plan, template, model_type(model.config or {}) or ""):
        yield config_finding(message, where, summary=SUMMARY, severity=likely, evidence=evidence)
    for message in (*_other_ids(template), *_first_token(template)):
        yield config_finding(message, where, summary=SUMMARY, severity=Severity.WARNING, evidence=evidence)


def _outside(template: ChatTemplate) -> Iterator[str]:
    """Tokens beyond the embedding."""
    rows = template.embeddings
    if rows is None:
        return
    used = {token for render in template.renders.values() for token in render.ids}
    named = {token for _, token in template.special.values() if token is not None}
    for token in sorted(token for token in used | named if token >= rows):
        text = template.pieces.get(token) or next((text for text, it in template.special.values() if it == token), "")
        yield f"token {token} {text!r} is outside the embedding of {rows} rows; expected a smaller id"


def _missing_for_verl(plan: Plan, template: ChatTemplate, kind: str) -> Iterator[str]:
    """verl's agent loops, and ours, which runs in one, look these tokens up when they start."""
    if not plan.is_of("run-config", "verl") or slices(template) or "unk" in template.special:
        return  # a tokenizer with an unknown token finds that one
    for name in NEEDED_BY.get(kind, ()):
        if template.needed.get(name) is None:
            yield f"verl 0.9.1 needs the token {name} for a model of type {kind}, but the tokenizer lacks it"
    if kind in (*QWEN[1:], *MINIMAX) and len(template.newline) != 1:
        yield f"verl 0.9.1 needs a newline of one token for a model of type {kind}, but it is {len(template.newline)} tokens"


def _other_ids(template: ChatTemplate) -> Iterator[str]:
    for text, declared, found in template.disagreeing:
        yield f"token {text!r} is {found} in tokenizer.json; expected {declared}, as in tokenizer_config.json"
    for marker, parts in template.split:
        yield f"the chat template writes {marker}, which the tokenizer splits into {len(parts)} tokens ({' '.join(parts)}); expected one"


def _first_token(template: ChatTemplate) -> Iterator[str]:
    """A bos token that stands twice in a prompt."""
    prompt, bos = template.renders.get("prompt"), template.id_of("bos")
    if prompt is not None and bos is not None and prompt.ids[:2] == (bos, bos):
        yield f"a prompt begins with the bos token {bos} twice; expected it once"
