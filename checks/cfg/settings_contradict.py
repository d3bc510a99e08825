"""The framework refuses a combination of settings, or misses one that it needs.

## What it does
Applies the rules of verl's `validate_config` and of its dataclasses that join several settings, in the release of the run:
micro batches that are set twice or not at all, sequence parallelism without `use_remove_padding`, validation that samples at
temperature 0, parallel sizes of the rollout, adapters that vLLM cannot serve, Megatron's layers that are computed again without a method. With dynamic batches, compares each limit of
tokens with the longest sequence: before verl 0.8 every batch is padded to it, since then the first reply of that length is
refused, which is a warning. Of SkyRL's `validate_cfg` and of prime-rl's
validators it applies some, where each setting of the rule is written; a program of the user's own with SkyRL's keys gets a
warning, since it may check its settings in another way; where its file calls `validate_cfg`, the words of the losses are errors. Whether batches divide is CFG002's.

## Why it breaks training
The framework raises when it starts, after the queue, or when its workers start, after Ray.

## How to fix
Change or remove the setting that the finding names.

## Example
    ValueError: [actor] You have set both 'actor.ppo_micro_batch_size' AND 'actor.ppo_micro_batch_size_per_gpu'.
"""

import dataclasses
from collections.abc import Iterator

from checks.cfg.shared import CONFIGURATIONS, may_stretch, model_context
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.model import Finding, Location, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.model_files import ModelFiles, by_name
from skyrl_doctor.plan.answers import TODAYS_PRIME, command_place
from skyrl_doctor.plan.dialects.run_config import NAME as RUN_CONFIG
from skyrl_doctor.plan.findings import UNKNOWN_PROGRAM, config_finding, required
from skyrl_doctor.plan.keys import MAY_SET, OTHER_PROGRAM, VALIDATES
from skyrl_doctor.plan.model import Plan, Value
from skyrl_doctor.plan.names.skyrl import DIALECT as SKYRL
from skyrl_doctor.plan.parallel import own_value
from skyrl_doctor.plan.similar import meant_word
from skyrl_train.config.prime_refusals import PRIME_RULES
from skyrl_train.config.refusals import Refusal, Rule
from skyrl_train.config.skyrl_refusals import SKYRL_RULES
from skyrl_train.config.verl_refusals import RULES

PROMPT, RESPONSE = "data.max_prompt_tokens", "data.max_response_tokens"
REPLY = "data.max_response_length"
"""verl's own key of the longest reply."""

_NOT_TOGETHER = r"(?:can(?:not|'t| not)|should not|must not|may not)"
CONTRADICTS = (
    r"\b(?:is|are) (?:not compatible|incompatible) with\b|\bmutually exclusive\b"
    rf"|\b{_NOT_TOGETHER} (?:both )?be (?:both )?(?:used|combined|set|enabled|specified|passed|configured|given|True|False|None)\b[^\n]{{0,120}}\b(?:with|together|both|when|if|while|same time|simultaneously)\b"
    rf"|\b{_NOT_TOGETHER} (?:use|set|specify|enable|combine|pass|have|both)\b[^\n]{{0,120}}\b(?:with(?:out)?|both|together|and|when|same time|simultaneously)\b|\b{_NOT_TOGETHER} be both\b"
    r"|\bdo(?:es)? not support (?:padding[- _]free|packing|sequence parallel|LoRA|lora|offload|vllm|vLLM|[\w`]{1,40} (?:with|when|together))|\b(?:is|are) (?:not|only) supported (?:with|when|if|together)\b"
    r"|\b(?:requires|must be) [`'\w.-]{1,60}(?: to be|=| is) ?[`'\w-]{1,40}|\bmust be (?:set|enabled|disabled|True|False|None)\b[^\n]{0,60}\b(?:when|if|with|to)\b"
)
"""How a program says that two settings do not go together, or that one needs another."""
SETTING = r"(?:[`'\"][a-z][a-z\d]{0,20}(?:_[a-z\d]{1,20}){1,6}(?:=(?:'[^'\n]{1,40}'|[^`'\"\n]{1,40}))?[`'\"]|[ (,]--[a-z][a-z\d]{1,20}(?:-[a-z\d]{1,20}){0,6}|\b[a-z][a-z\d_]{0,40}(?:\.[a-z][a-z\d_]{0,40}){1,5}=)"
"""A setting as messages write it: in quotes, as an option, or as a dotted key with a value."""
NEEDS = r"\brequires? (?:[`'\"]|--|setting\b|that [`'\"])|\bonly supports? [`'\"]|\bcannot be combined with\b|\bmust be (?:set|provided|specified|given) (?:when|if|with|for|to)\b"
"""Phrases that mean settings only next to the name of one."""
CHECKS_SETTINGS = rf"File \"[^\"\n]{{0,300}}/(?:{CONFIGURATIONS}|hf_argparser)\.py\", line \d{{1,5}}, in |(?:transformers/trainer|trl/(?:\w{{1,40}}/){{1,3}}\w{{1,40}}_trainer)\.py\", line \d{{1,5}}, in __init__\b|\bin validate_(?:cfg|config|args|arguments)\b|/swift/(?:pipelines|llm)/(?:\w{{1,40}}/){{0,3}}\w{{1,40}}\.py\", line \d{{1,5}}, in (?:_prepare|_init|_check|__)\w{{1,60}}"

SIGNATURES = (
    Signature(
        pattern=r"max_token_len must be greater than the sequence length(?:\. Got max_token_len=(?P<limit>\d+) and max_seq_len=(?:tensor\()?(?P<length>\d+))?",
        sample="AssertionError: max_token_len must be greater than the sequence length. Got max_token_len=1024 and max_seq_len=1536",
        explain="a dynamic batch has room for {limit} tokens, but a sequence has {length}",
        remedy="Set `{key:actor.max_tokens_per_gpu}`, and the limits of the log-probs and of the critic, to at least the longest prompt and response together. Sequence parallelism multiplies the limit.",
        keys=("actor.max_tokens_per_gpu",),
        versions="verl",
        refines=("CFG010",),
    ),
    Signature(
        pattern=r"\] You have set both '(?P<total>[\w.]{1,120})' AND '(?P<per_gpu>[\w.]{1,120})'",
        sample="ValueError: [actor] You have set both 'actor.ppo_micro_batch_size' AND 'actor.ppo_micro_batch_size_per_gpu'. Please remove 'actor.ppo_micro_batch_size'",
        explain="`{total}` and `{per_gpu}` are both set, and verl takes one of them",
        remedy="Remove `{total}`.",
        versions="verl",
    ),
    Signature(
        pattern=r"\] Please set at least one of '(?P<total>[\w.]{1,120})' or '(?P<per_gpu>[\w.]{1,120})'",
        sample="ValueError: [actor_rollout_ref.rollout] Please set at least one of 'actor_rollout_ref.rollout.log_prob_micro_batch_size' or 'actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu'.",
        explain="neither `{total}` nor `{per_gpu}` is set",
        remedy="Set `{per_gpu}` to the sequences that one GPU takes at once, or turn dynamic batches on.",
        versions="verl",
    ),
    Signature(
        pattern=r"using sequence parallelism for (?:actor/ref policy|critic), you must enable `use_remove_padding`",
        sample="ValueError: When using sequence parallelism for actor/ref policy, you must enable `use_remove_padding`.",
        explain="sequence parallelism is on, but `use_remove_padding` is off",
        remedy="Set `{key:model.remove_padding}=True`, or a sequence parallel size of 1.",
        keys=("model.remove_padding",),
        versions="verl",
    ),
    Signature(
        pattern=r"validation gen temperature should be greater than 0|Rollout mode 'sync' has been removed|not implemented pipeline_model_parallel_size > 1",
        sample="AssertionError: validation gen temperature should be greater than 0 when enabling do_sample",
        explain="verl refuses a setting of the rollout",
        remedy="Change the setting that the line names; `skyrl-doctor preflight FILE` names it with its line (CFG012).",
        versions="verl",
    ),
    Signature(
        pattern=r"Using recompute_granularity:? '?(?P<word>\w{1,40})'? so\s+recompute_method must be|When using recompute_granularity:? '?(?P<layers>\w{1,40})'?,? recompute_num_layers must be (?:between|set)",
        sample='ValueError: Using recompute_granularity: full so recompute_method must be "block" or "uniform"',
        explain="Megatron computes layers again only with a method and a number of layers",
        remedy="Set `recompute_method=uniform` and `recompute_num_layers=1` together with `recompute_granularity=full` (verl: under `actor_rollout_ref.actor.megatron.override_transformer_config`).",
        versions="Megatron-LM, verl",
    ),
    Signature(
        pattern=r"max_num_batched_tokens \((?P<batch>\d{1,9})\) is smaller than max_model_len \((?P<length>\d{1,9})\)",
        sample="  Value error, max_num_batched_tokens (512) is smaller than max_model_len (4096). This effectively limits the maximum sequence length to max_num_batched_tokens",
        explain="vLLM's batch of {batch} tokens is smaller than its context of {length}",
        remedy="Set `{key:rollout.max_batched_tokens}` to at least {length}, lower `{key:rollout.max_model_len}`, or turn chunked prefill on (`enable_chunked_prefill`).",
        keys=("rollout.max_batched_tokens", "rollout.max_model_len"),
        versions="vllm",
    ),
    Signature(
        pattern=r"\b[Mm]odel (?P<model>\w{1,100}) does not support (?P<what>LoRA|pipeline parallelism|BitsAndBytes quantization)\b(?:,? but (?:it|LoRA) is enabled| yet)",
        sample="ValueError: Model OwnChatModel does not support LoRA, but LoRA is enabled. Support for this model may be added in the future.",
        explain="vLLM has no {what} for `{model}`, and the configuration asks for it",
        remedy="Run without it (LoRA: train all weights, or merge the adapter into the model before it is served), or take a vLLM that lists it for this model.",
        versions="vllm",
    ),
    Signature(
        pattern=r"\bLoRA rank (?P<rank>\d{1,5}) is greater than max_lora_rank (?P<limit>\d{1,5})",
        sample="ValueError: LoRA rank 64 is greater than max_lora_rank 16.",
        explain="the adapter has rank {rank}, and vLLM was started for adapters of rank {limit} or less",
        remedy="Start vLLM with `--max-lora-rank {rank}` (a trainer: its setting for vLLM's largest LoRA rank), or train the adapter with rank {limit}.",
        keys=("model.lora_rank",),
        versions="vllm",
    ),
    Signature(
        pattern=r"\bGot lora_request [^\n]{1,300} but LoRA is not enabled\b",
        sample="ValueError: Got lora_request LoRARequest(lora_name='own', lora_int_id=1) but LoRA is not enabled!",
        explain="a request names an adapter, and vLLM was started without LoRA",
        remedy="Start vLLM with `--enable-lora` (a trainer: its LoRA setting of the rollout), or send no adapter.",
        keys=("model.lora_rank",),
        versions="vllm",
    ),
    Signature(
        pattern=r"\bn must be 1 when using greedy sampling, got (?P<value>\d{1,6})",
        sample="ValueError: n must be 1 when using greedy sampling, got 4.",
        explain="{value} answers of one prompt are asked for at temperature 0, where all are equal",
        remedy="Set a temperature above 0, or ask for one answer (validation: 1 sample of each prompt).",
        keys=("rollout.n", "rollout.temperature"),
        versions="vllm",
    ),
    Signature(
        pattern=r"(?:\bArgumentValidation\(\"|^Error: )(?P<why>`\w{1,40}` must be (?:strictly )?(?:<|>|positive)[^\"\n]{0,150})",
        sample='Error: ArgumentValidation("`max_input_tokens` must be < `max_total_tokens`")',
        explain="the model server refuses its arguments: {why}",
        remedy="Change one of the arguments that the message names: the input tokens are less than the total, and a prefill batch holds at least one input.",
        versions="TGI",
    ),
    Signature(
        pattern=r"\brequires you to execute the (?:configuration|model\w{0,10}|tokenizer|dataset script) file in that repo\b|\bcontains custom code which must be executed to correctly load\b",
        sample="ValueError: The repository for org/name contains custom code which must be executed to correctly load the model.",
        explain="the model has code of its own, and the run does not allow it",
        remedy="Read that code first. Then set `trust_remote_code=True` (vLLM: `--trust-remote-code`; verl: `actor_rollout_ref.model.trust_remote_code=True`), in all programs of the run.",
        versions="transformers, vllm",
    ),
    Signature(
        pattern=rf"^(?:\W{{0,8}}|\[?[\w ]{{1,20}}\]?:? )(?:\w{{1,40}}\.){{0,6}}(?:Value|Assertion|NotImplemented|Runtime|DeepSpeedConfig)Error: (?P<why>[^\n]{{0,200}}(?:{CONTRADICTS})[^\n]{{0,200}})",
        near=CHECKS_SETTINGS,
        within=5,
        unless=r"\b(?:version|versions|driver|devices?|GPUs?|platforms?|installed|PyTorch|torch|transformers|deepspeed) ?(?:>=|<|==|\d|with)|\bnot (?:installed|available)\b",
        sample="ValueError: --own_packing cannot be used together with --own_streaming",
        explain="the framework refuses these settings together, or misses one: {why}",
        remedy="Change or add one of the settings that the message names.",
        versions="transformers, trl, ms-swift, accelerate, OpenRLHF, SkyRL, vllm, sglang",
        refines=("CFG030",),
        last_resort=True,
    ),
    Signature(
        pattern=r"\b(?:Value|Runtime|Assertion)Error: (?P<why>[^\n]{0,300}\b[Pp]lease (?:increase|decrease|reduce|raise|lower|enable|disable|set) (?:the )?[`'\"]?(?:--)?[a-z][a-z\d]{1,30}(?:[_-][a-z\d]{1,30}){1,6}\b[^\n]{0,200})",
        sample="ValueError: own_chunk (2496) is larger than own_batched_tokens (2048). Please increase own_batched_tokens.",
        explain="the program refuses its settings: {why}",
        remedy="Change the setting that the message names.",
        versions="vllm, sglang, verl, MindSpeed",
        unless=r"(?i:\bpip3? install|\binstall\b|upgrade|\bversion|memory|\bGPU memory|not found|token(?:izer)?[_ ]|pad_token|http)",
        last_resort=True,
    ),
    Signature(
        pattern=rf"\b(?:Value|Assertion|NotImplemented|Runtime)Error: (?P<why>(?:[^\n]{{0,160}}{SETTING}[^\n]{{0,160}}(?:{CONTRADICTS}|{NEEDS})|[^\n]{{0,160}}(?:{CONTRADICTS}|{NEEDS})[^\n]{{0,160}}{SETTING})[^\n]{{0,160}})",
        unless=r"\b(?:input_ids|inputs_embeds|attention_mask|position_ids|hidden_states|past_key_values|pixel_values|labels|tensors?|installed|(?:torch|transformers|vllm|python|CUDA) ?(?:>=|<|==|\d))\b",
        sample="ValueError: `use_own_kernel` is incompatible with `own_loss_clip`: the kernel has no loss of each token.",
        explain="the program refuses these settings together, or misses one: {why}",
        remedy="Change or add one of the settings that the message names.",
        versions="trl, verl, sglang, vllm",
        last_resort=True,
    ),
    Signature(
        pattern=r"\b(?:No valid attention backend found for \w{2,12} with|Selected backend \S{1,80} is not valid for this configuration\. Reason:?) ?(?P<why>[^\n]{1,300})",
        unless=r"\bcompute capability not supported\b",
        sample="ValueError: Selected backend AttentionBackendEnum.OWN_ATTN is not valid for this configuration. Reason: ['kv_cache_dtype not supported']",
        explain="no attention backend of vLLM fits the settings: {why}",
        remedy="Change what the reason names: the data type of the KV cache (`--kv-cache-dtype auto`), the block size, or the backend (`--attention-backend`; unset, vLLM chooses).",
        versions="vllm >= 0.12",
    ),
)


@check("CFG012", fix="skyrl_train/config/verl_refusals.py")
def settings_contradict(plan: Plan, model: ModelFiles | None = None) -> Iterator[Finding]:
    release = required(plan).release
    other, start = own_value(plan, OTHER_PROGRAM), command_place(plan)
    validates = own_value(plan, VALIDATES) is not None

    longest = _longest_reply(plan, model)

    def own(key: str) -> object:
        found = own_value(plan, key)
        if key == REPLY and longest is not None and found is not None and found.value > longest:
            return longest  # CFG005 and CFG001 lower it: what else is too small is judged by that
        return None if found is None else found.value

    hidden: set[str] = set()
    for rule in _rules(plan):
        program = None if rule.is_validated and validates else other
        plain = Severity.ERROR if program is None and rule.is_certain else Severity.WARNING
        severity = plain if release is None else release.severity(rule.span.holds)
        if severity is Severity.ERROR and not rule.is_certain:
            severity = Severity.WARNING
        if severity is None:
            continue
        unknown = [found for key in rule.reads if (found := plan.own.get(key)) and found.unknown]
        if unknown:
            hidden.update(found.unknown for found in unknown if MAY_SET in found.unknown)
            continue
        for refusal in rule.judge(own):
            taken = "" if release is None else release.taking(rule.span.holds)
            allowed = "" if program is None else f"; {program.value} may allow it"
            found = plan.own.get(refusal.key)
            place = None if found is None else found.location
            if place is None and start is not None:  # nobody wrote the setting
                place = dataclasses.replace(start, key=refusal.key)
            yield config_finding(
                f"{refusal.message}{taken}{allowed}",
                place or Location(plan.targets[-1], None, refusal.key),
                refusal.settings or _word(refusal, found),
                summary=refusal.remedy,
                removes=refusal.removes,
                moves=refusal.moves,
                severity=severity,
            )
    if hidden:
        raise CouldNotLook(min(hidden))


def _word(refusal: Refusal, value: Value | None) -> dict[str, str]:
    """The word that a misspelt one stands for."""
    meant = meant_word(value.value, refusal.words) if value is not None and isinstance(value.value, str) else None
    return {refusal.key: meant} if meant is not None else {}


def _longest_reply(plan: Plan, model: ModelFiles | None) -> int | None:
    """The longest reply that the engine's context leaves after the longest prompt, under verl; None if it is not known."""
    try:
        prompt, reply, context = plan.integer(PROMPT), plan.integer(RESPONSE), plan.integer("rollout.max_model_len")
        if plan.release is None or prompt is None or reply is None:
            return None
        if context is None:
            context = None if may_stretch(plan) else model_context(model or by_name(plan))[0]
    except (NotApplicable, CouldNotLook):
        return None
    return context - prompt if context is not None and context > prompt else None


def _rules(plan: Plan) -> tuple[Rule, ...]:
    if plan.release is not None:
        return RULES
    if plan.is_of(SKYRL):
        return SKYRL_RULES
    if plan.is_of(TODAYS_PRIME):
        return PRIME_RULES
    if plan.is_of(RUN_CONFIG):
        raise NotApplicable("CFG004 applies the rules of a run.toml; these are verl's, SkyRL's and prime-rl's")
    raise NotApplicable(
        "the rules of the program that this configuration starts are not known here; known are those of "
        "verl's own trainers, of SkyRL's and of prime-rl's current schema",
        undecided=UNKNOWN_PROGRAM,
    )
