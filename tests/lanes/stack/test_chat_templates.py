"""What the doctor says of chat templates, against transformers, our loop's model and verl's own builders."""

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chat_models import CHILD, FAMILIES, asked, write_model
from checks.mod.shared import GLM, OWN_BUILDERS, verl_tail
from checks.mod.special_tokens_disagree import NEEDED_BY
from checks.mod.tokenizer_loses_spaces import SINCE
from skyrl_doctor.facts.chat_template import NEEDED, ChatTemplate, parse_chat_template
from skyrl_train.contracts.agent.calls import Ended
from skyrl_train.contracts.agent.transcript import Message, Reply
from skyrl_train.rl.engine import EngineModel

pytestmark = pytest.mark.verl
SYSTEM, USER, RESULT = "You are a helpful assistant.", "Mend the code.", "SKYRLRESULT"
TOOL = {
    "type": "function",
    "function": {
        "name": "skyrl_probe",
        "description": "Runs a command.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "The command."}},
            "required": ["command"],
        },
    },
}


def child(directory: Path) -> str:
    """The answer with the installed packages."""
    spec = json.dumps({"model": str(directory), "tokenizer": str(directory), "needed": NEEDED})
    done = subprocess.run(
        [sys.executable, "-B", str(CHILD), spec], capture_output=True, text=True, timeout=300, check=True
    )
    return done.stdout


@pytest.fixture(params=FAMILIES)
def model(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path, ChatTemplate, Any]:
    from transformers import AutoTokenizer

    directory = write_model(tmp_path / "model", FAMILIES[request.param])
    template = parse_chat_template(child(directory), str(directory))
    assert isinstance(template, ChatTemplate)
    return request.param, directory, template, AutoTokenizer.from_pretrained(directory, local_files_only=True)


def test_the_double_answers_as_the_real_package(model: tuple[str, Path, ChatTemplate, Any]) -> None:
    _, directory, template, _ = model
    spec = {"model": str(directory), "tokenizer": str(directory), "needed": NEEDED}
    double = json.loads(asked(spec))
    assert parse_chat_template(json.dumps({**double, "verl": template.verl}), str(directory)) == template


def test_our_loop_has_the_same_tokens(model: tuple[str, Path, ChatTemplate, Any]) -> None:
    from jinja2 import TemplateError

    _, _, template, tokenizer = model
    made = EngineModel(None, tokenizer, request_id="", sampling={}, stop=())  # type: ignore[arg-type]  # asked nothing
    prompt = [Message(role="system", content=SYSTEM), Message(role="user", content=USER)]
    render = template.renders["prompt"]
    if render.error:
        with pytest.raises(TemplateError, match=render.error.partition(": ")[2]):
            made.begin(prompt)
    else:
        assert tuple(made.begin(prompt)) == render.ids
    followed = made.follow(RESULT, after=Reply(token_ids=(1,), text="", ended=Ended.STOP))
    assert tuple(followed) == template.renders["follow"].after
    for text in template.values:
        ids = tokenizer.encode(text, add_special_tokens=False)
        assert tokenizer.decode(ids, skip_special_tokens=True) == text


def test_verl_adds_the_same_tokens_or_refuses(model: tuple[str, Path, ChatTemplate, Any]) -> None:
    from jinja2 import TemplateError
    from verl.utils.tokenizer.continuous_token_wiring import create_continuous_token_builder

    family, _, template, tokenizer = model
    kind = FAMILIES[family].model_type
    assert kind not in OWN_BUILDERS
    builder = create_continuous_token_builder(tokenizer, hf_model_type=kind)
    before = [{"role": "user", "content": USER}, {"role": "assistant", "content": "called"}]
    after = [*before, {"role": "tool", "content": RESULT}]
    base, result = template.renders["verl_base"], template.renders["verl_result"]
    if base.error or result.ids[: len(base.ids)] != base.ids:
        with pytest.raises((TemplateError, TypeError, ValueError)):
            builder.merge_context_tokens(before, after, [1], tools=[TOOL])
        return
    end = result.ids[len(base.ids)] if kind in GLM else (template.renders["follow"].after or ())[0]
    merged = builder.merge_context_tokens(before, after, [1, end], tools=[TOOL]).token_ids
    assert list(merged) == [1, end, *(verl_tail(template, kind) or ())]


@pytest.mark.parametrize("kind", ["qwen3", "qwen3_moe", "minimax", "glm4_moe"])
def test_verl_needs_the_tokens_of_a_type(kind: str, tmp_path: Path) -> None:
    from transformers import AutoTokenizer
    from verl.utils.tokenizer.continuous_token_wiring import create_continuous_token_builder

    directory = write_model(tmp_path, dataclasses.replace(FAMILIES["distill"], model_type=kind))
    tokenizer = AutoTokenizer.from_pretrained(directory, local_files_only=True)
    with pytest.raises(ValueError, match=f"Tokenizer does not define required token '{re.escape(NEEDED_BY[kind][0])}'"):
        create_continuous_token_builder(tokenizer, hf_model_type=kind)
    assert "qwen2" not in NEEDED_BY


@pytest.mark.parametrize("kind", ["llama", "qwen3", "qwen2"])
def test_transformers_reads_a_byte_level_tokenizer_as_sentencepiece(kind: str, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    made = dataclasses.replace(FAMILIES["distill"], model_type=kind, tokenizer_class="LlamaTokenizerFast")
    tokenizer = AutoTokenizer.from_pretrained(write_model(tmp_path, made), local_files_only=True)
    ids = tokenizer.encode("a b\n c", add_special_tokens=False)
    assert tokenizer.decode(ids) == ("abc" if kind in SINCE else "a b\n c")
