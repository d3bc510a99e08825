"""Model directories made on the spot: a vocabulary of bytes, and chat templates that behave like those of well-known models.

The templates are our own texts. Each shows what its family does with a system message, reasoning, tools and ends of turns.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import skyrl_doctor.children
from fakes.bytes_tokenizer.tokenizers import LETTERS
from skyrl_doctor.facts.chat_template import NEEDED, ChatTemplate, parse_chat_template
from skyrl_doctor.facts.model_files import ModelFiles

CHILD = Path(skyrl_doctor.children.__file__ or "").with_name("chat_template.py")
FAKES = Path(__file__).parent / "fakes" / "bytes_tokenizer"

CHATML_HEAD = """
{%- if tools %}{{ '<|im_start|>system\\n' }}
{%- if messages[0].role == 'system' %}{{ messages[0].content + '\\n\\n' }}{% endif %}
{{- '# Tools\\n' }}{% for tool in tools %}{{ tool | tojson }}{{ '\\n' }}{% endfor %}{{ '<|im_end|>\\n' }}
{%- else %}
{%- if messages[0].role == 'system' %}{{ '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- else %}{{ '<|im_start|>system\\nYou are a model.<|im_end|>\\n' }}{% endif %}
{%- endif %}
"""
CHATML_CALLS = """
{%- for call in m.tool_calls or [] %}{{ '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
{{- call.function.arguments | tojson }}{{ '}\\n</tool_call>' }}{% endfor %}
"""
CHATML_RESULTS = """
{%- if loop.first or messages[loop.index0 - 1].role != 'tool' %}{{ '<|im_start|>user' }}{% endif %}
{{- '\\n<tool_response>\\n' + m.content + '\\n</tool_response>' }}
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{ '<|im_end|>\\n' }}{% endif %}
"""
CHATML = (
    CHATML_HEAD
    + """
{%- for m in messages %}
{%- if m.role == 'user' or (m.role == 'system' and not loop.first) %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}
{%- elif m.role == 'assistant' %}{{ '<|im_start|>assistant\\n' + m.content }}"""
    + CHATML_CALLS
    + """{{- '<|im_end|>\\n' }}
{%- elif m.role == 'tool' %}"""
    + CHATML_RESULTS
    + """{%- endif %}{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"""
)
THINKING = (
    CHATML_HEAD
    + """
{%- set last = namespace(query=-1) %}
{%- for m in messages %}{% if m.role == 'user' %}{% set last.query = loop.index0 %}{% endif %}{% endfor %}
{%- for m in messages %}
{%- if m.role == 'user' or (m.role == 'system' and not loop.first) %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}
{%- elif m.role == 'assistant' %}
{%- set reason = m.reasoning_content or '' %}{% set content = m.content %}
{%- if '</think>' in content %}
{%- set reason = content.split('</think>')[0].split('<think>')[-1].strip('\\n') %}
{%- set content = content.split('</think>')[-1].lstrip('\\n') %}
{%- endif %}
{{- '<|im_start|>assistant\\n' }}
{%- if loop.index0 > last.query and (loop.last or reason) %}{{ '<think>\\n' + reason + '\\n</think>\\n\\n' }}{% endif %}
{{- content }}"""
    + CHATML_CALLS
    + """{{- '<|im_end|>\\n' }}
{%- elif m.role == 'tool' %}"""
    + CHATML_RESULTS
    + """{%- endif %}{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}
{%- if enable_thinking is defined and enable_thinking is false %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}{% endif %}"""
)
HEADERS = """
{{- bos_token }}{{ '<|start_header_id|>system<|end_header_id|>\\n\\nToday is ' + strftime_now('%Y') + '.\\n' }}
{%- if messages[0].role == 'system' %}{{ messages[0].content }}{% set messages = messages[1:] %}{% endif %}{{ '<|eot_id|>' }}
{%- for m in messages %}
{%- if m.role == 'tool' %}{{ '<|start_header_id|>ipython<|end_header_id|>\\n\\n' + m.content + '<|eot_id|>' }}
{%- elif m.tool_calls %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n{"name": "' + m.tool_calls[0].function.name + '", "parameters": ' }}
{{- m.tool_calls[0].function.arguments | tojson }}{{ '}<|eot_id|>' }}
{%- else %}{{ '<|start_header_id|>' + m.role + '<|end_header_id|>\\n\\n' }}
{%- if tools and m.role == 'user' and loop.first %}{% for tool in tools %}{{ tool | tojson }}{{ '\\n\\n' }}{% endfor %}{% endif %}
{{- m.content | trim }}{{ '<|eot_id|>' }}{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}"""
INSTRUCTIONS = """
{%- if messages[0].role == 'system' %}{% set system = messages[0].content %}{% set messages = messages[1:] %}{% endif %}
{{- bos_token }}{% set turn = namespace(at=0) %}
{%- for m in messages %}
{%- if m.role in ('user', 'assistant') and not m.tool_calls %}
{%- if (m.role == 'user') != (turn.at % 2 == 0) %}{{ raise_exception('roles must alternate user and assistant') }}{% endif %}
{%- set turn.at = turn.at + 1 %}{% endif %}
{%- if m.role == 'user' %}{{ '[INST] ' }}{% if loop.last and system is defined %}{{ system + '\\n\\n' }}{% endif %}{{ m.content + '[/INST]' }}
{%- elif m.tool_calls %}{{ '[TOOL_CALLS] [' }}
{%- for call in m.tool_calls %}{% if call.id | length != 9 %}{{ raise_exception('the id of a call must have 9 letters') }}{% endif %}
{{- call.function | tojson }}{% endfor %}{{ ']' + eos_token }}
{%- elif m.role == 'assistant' %}{{ ' ' + m.content + eos_token }}
{%- elif m.role == 'tool' %}{{ '[TOOL_RESULTS] ' + m.content + '[/TOOL_RESULTS]' }}{% endif %}
{%- endfor %}"""
NO_SYSTEM = """
{{- bos_token }}
{%- if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}
{%- for m in messages %}
{%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate') }}{% endif %}
{{- '<start_of_turn>' + ('model' if m.role == 'assistant' else m.role) + '\\n' + m.content | trim + '<end_of_turn>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}"""
PLAIN_ROLES = """
{%- for m in messages %}{% if m.role in ('system', 'user', 'assistant') %}{{ '<|' + m.role + '|>\\n' + m.content + '<|end|>\\n' }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% else %}{{ eos_token }}{% endif %}"""
DISTILLED = """
{{- bos_token }}{% if messages[0].role == 'system' %}{{ messages[0].content }}{% endif %}
{%- for m in messages %}
{%- if m.role == 'user' %}{{ '<|User|>' + m.content }}
{%- elif m.role == 'assistant' %}{{ '<|Assistant|>' + m.content.split('</think>')[-1] + '<|end_of_sentence|>' }}
{%- endif %}{% endfor %}
{%- if add_generation_prompt %}{{ '<|Assistant|><think>\\n' }}{% endif %}"""
OPEN_TURNS = """
{{- '[gMASK]<sop>' }}{% if tools %}{{ '<|system|>\\n# Tools\\n' }}{% for tool in tools %}{{ tool | tojson }}{% endfor %}{% endif %}
{%- set last = namespace(query=-1) %}
{%- for m in messages %}{% if m.role == 'user' %}{% set last.query = loop.index0 %}{% endif %}{% endfor %}
{%- for m in messages %}
{%- if m.role == 'tool' %}{{ '<|observation|>\\n<tool_response>\\n' + m.content + '\\n</tool_response>' }}
{%- elif m.role == 'assistant' %}{{ '<|assistant|>\\n' }}
{%- set content = m.content if loop.index0 > last.query else m.content.split('</think>')[-1] %}{{ content.strip() }}
{%- for call in m.tool_calls or [] %}{{ '\\n<tool_call>' + call.function.name + '\\n' }}
{%- for key, value in call.function.arguments.items() %}{{ '<arg_key>' + key + '</arg_key>\\n<arg_value>' + value + '</arg_value>\\n' }}{% endfor %}
{{- '</tool_call>' }}{% endfor %}
{%- else %}{{ '<|' + m.role + '|>\\n' + m.content }}{% endif %}{% endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>' + '\\n' }}{% endif %}"""


@dataclass(frozen=True)
class Made:
    """What a model directory is made of. `eos`, `bos` and `pad` are texts; `stops` are those of generation_config.json."""

    template: str | None
    tokens: Sequence[str]
    eos: str
    bos: str | None = None
    pad: str | None = None
    stops: Sequence[str] = ()
    model_type: str = "llama"
    rows: int | None = None
    declared: Mapping[str, int] | None = None
    """Ids in tokenizer_config.json that differ from those of tokenizer.json."""
    tokenizer_class: str = "PreTrainedTokenizerFast"
    before: str | None = None
    """The token that the tokenizer puts before a plain text."""


CHATML_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>", "<think>", "</think>")
QWEN25 = Made(CHATML, CHATML_TOKENS[:5], "<|im_end|>", pad="<|endoftext|>", stops=("<|im_end|>",), model_type="qwen2")
QWEN3 = Made(THINKING, CHATML_TOKENS, "<|im_end|>", pad="<|endoftext|>", stops=("<|im_end|>",), model_type="qwen3")
BASE = Made(CHATML, CHATML_TOKENS[:5], "<|endoftext|>", stops=("<|endoftext|>",), model_type="qwen2")
LLAMA3 = Made(
    HEADERS,
    ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
    "<|eot_id|>",
    bos="<|begin_of_text|>",
    stops=("<|eot_id|>",),
    before="<|begin_of_text|>",
)
MISTRAL = Made(
    INSTRUCTIONS,
    ("<s>", "</s>", "[INST]", "[/INST]", "[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
    "</s>",
    bos="<s>",
    stops=("</s>",),
    model_type="mistral",
)
GEMMA = Made(
    NO_SYSTEM,
    ("<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>"),
    "<eos>",
    bos="<bos>",
    stops=("<eos>", "<end_of_turn>"),
    model_type="gemma2",
)
PHI = Made(
    PLAIN_ROLES,
    ("<|endoftext|>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>"),
    "<|endoftext|>",
    stops=("<|endoftext|>", "<|end|>"),
    model_type="phi3",
)
DISTILL = Made(
    DISTILLED,
    ("<|begin_of_sentence|>", "<|end_of_sentence|>", "<|User|>", "<|Assistant|>", "<think>", "</think>"),
    "<|end_of_sentence|>",
    bos="<|begin_of_sentence|>",
    stops=("<|end_of_sentence|>",),
    model_type="qwen2",
    before="<|begin_of_sentence|>",
)
GLM = Made(
    OPEN_TURNS,
    ("<|endoftext|>", "[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>", "<tool_call>"),
    "<|endoftext|>",
    stops=("<|endoftext|>", "<|user|>", "<|observation|>"),
    model_type="glm4_moe",
)
FAMILIES = {
    "qwen2.5": QWEN25,
    "qwen3": QWEN3,
    "base": BASE,
    "llama3": LLAMA3,
    "mistral": MISTRAL,
    "gemma": GEMMA,
    "phi": PHI,
    "distill": DISTILL,
    "glm": GLM,
}


def write_model(directory: Path, made: Made) -> Path:
    """The directory with config.json, generation_config.json, tokenizer.json and tokenizer_config.json."""
    vocabulary = {letter: number for number, letter in enumerate(LETTERS.values())}
    ids = {token: len(vocabulary) + at for at, token in enumerate(made.tokens)}
    directory.mkdir(parents=True, exist_ok=True)
    kept: dict[str, Any] = {
        "config.json": {"model_type": made.model_type, "vocab_size": made.rows or len(vocabulary) + len(ids) + 8},
        "generation_config.json": {"eos_token_id": [ids[token] for token in made.stops]},
        "tokenizer.json": tokenizer_json(vocabulary, ids, made.before),
        "tokenizer_config.json": {
            "tokenizer_class": made.tokenizer_class,
            "eos_token": made.eos,
            "bos_token": made.bos,
            "pad_token": made.pad,
            "chat_template": made.template,
            "added_tokens_decoder": {
                str(number): {"content": token, "special": True}
                for token, number in {**ids, **(made.declared or {})}.items()
            },
        },
    }
    for name, content in kept.items():
        (directory / name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return directory


def tokenizer_json(vocabulary: Mapping[str, int], ids: Mapping[str, int], before: str | None) -> dict[str, Any]:
    """A byte-level BPE without merges, in the format of the package tokenizers."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    first = [{"SpecialToken": {"id": before, "type_id": 0}}] if before else []
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": number, "content": token, **flags} for token, number in ids.items()],
        "normalizer": None,
        "pre_tokenizer": level,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [*first, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {before: {"id": before, "ids": [ids[before]], "tokens": [before]}} if before else {},
        },
        "decoder": level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": dict(vocabulary),
            "merges": [],
        },
    }


def examined(
    directory: Path, made: Made, *, verl: str = "0.9.1", transformers: str = "5.10.4", **spec: object
) -> tuple[ModelFiles, ChatTemplate]:
    """The files of a written model, and what the doctor's child says of it with the tokenizer of bytes."""
    place = str(write_model(directory, made))
    answer = json.loads(asked({"model": place, "tokenizer": place, "needed": NEEDED, **spec}))
    config = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    files = ModelFiles(name=place, is_local=True, directory=place, config=config, has_tokenizer=True, searched=(place,))
    template = parse_chat_template(json.dumps({**answer, "verl": verl, "transformers": transformers}), place)
    assert isinstance(template, ChatTemplate), template
    return files, template


def asked(spec: Mapping[str, object], *, fakes: Path = FAKES) -> str:
    """The output of children/chat_template.py."""
    done = subprocess.run(
        [sys.executable, "-B", str(CHILD), json.dumps(spec)],
        env={"PATH": os.defpath, "PYTHONPATH": str(fakes)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout
