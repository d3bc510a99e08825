"""What the doctor says of chat templates, against transformers, our loop's model and verl's own builders."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chat_models import CHILD, FAMILIES, asked, write_model
from checks.mod.shared import OWN_BUILDERS, verl_tail
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
    from verl.utils.tokenizer.continuous_token_wiring import create_continuous_token_builder

    family, _, template, tokenizer = model
    kind = FAMILIES[family].model_type
    assert kind not in OWN_BUILDERS
    if family == "distill":
        with pytest.raises(ValueError, match=r"Tokenizer does not define required token '<\|im_end\|>'"):
            create_continuous_token_builder(tokenizer, hf_model_type=kind)
        return
    builder = create_continuous_token_builder(tokenizer, hf_model_type=kind)
    before = [{"role": "user", "content": USER}, {"role": "assistant", "content": "called"}]
    end = (template.renders["follow"].after or ())[0]
    after = [*before, {"role": "tool", "content": RESULT}]
    base, result = template.renders["verl_base"], template.renders["verl_result"]
    if base.error or result.ids[: len(base.ids)] != base.ids:
        with pytest.raises(Exception, match=r"suffix diff failed|not supported|9 letters|must alternate"):
            builder.merge_context_tokens(before, after, [1, end], tools=[TOOL])
        return
    merged = list(builder.merge_context_tokens(before, after, [1, end], tools=[TOOL]).token_ids)
    stopped = [1, end] if merged[:2] == [1, end] else [1]
    tail = list(verl_tail(template, kind) or ())
    assert merged in ([*stopped, *tail], [*stopped, *tail[1:]], [1, end, *tail])
