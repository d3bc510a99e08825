"""MOD010."""

import dataclasses
from pathlib import Path

from chat_models import CHATML, LLAMA3, QWEN25, Made, examined
from checks.mod.special_tokens_disagree import special_tokens_disagree
from plans import MIG20, example
from skyrl_doctor.core.model import Location, Outcome, Severity, Status
from skyrl_doctor.plan.findings import config_finding
from support import judge, plan_of


def messages(directory: Path, made: Made) -> list[tuple[Severity, str]]:
    model, template = examined(directory, made)
    return [(one.severity, one.message) for one in special_tokens_disagree(plan_of(model__path="/m"), model, template)]


def test_each_way_in_which_the_files_disagree(tmp_path: Path) -> None:
    assert messages(tmp_path / "a", QWEN25) == []
    assert messages(tmp_path / "b", dataclasses.replace(QWEN25, rows=258)) == [
        (Severity.ERROR, "token 258 '<|im_end|>' is outside the embedding of 258 rows; expected a smaller id"),
        (Severity.ERROR, "token 259 '<tool_call>' is outside the embedding of 258 rows; expected a smaller id"),
        (Severity.ERROR, "token 260 '</tool_call>' is outside the embedding of 258 rows; expected a smaller id"),
    ]
    assert messages(tmp_path / "c", dataclasses.replace(QWEN25, declared={"<|im_end|>": 300})) == [
        (Severity.WARNING, "token '<|im_end|>' is 258 in tokenizer.json; expected 300, as in tokenizer_config.json")
    ]
    twice = dataclasses.replace(LLAMA3, template="{{ bos_token }}" + str(LLAMA3.template))
    assert messages(tmp_path / "d", twice) == [
        (Severity.WARNING, "a prompt begins with the bos token 256 twice; expected it once")
    ]
    split = Made(CHATML, ("</s>",), "</s>", stops=("</s>",))
    assert messages(tmp_path / "e", split)[0] == (
        Severity.WARNING,
        "the chat template writes <|im_end|>, which the tokenizer splits into 10 tokens (< | i m _ e n d | >); expected one",
    )


def test_a_token_that_only_tokenizer_config_names_is_added_at_the_end(tmp_path: Path) -> None:
    padded = dataclasses.replace(QWEN25, pad="[PAD]", rows=261)
    assert messages(tmp_path, padded) == [
        (Severity.ERROR, "token 261 '[PAD]' is outside the embedding of 261 rows; expected a smaller id")
    ]


def test_reproduces_on_a_recording() -> None:
    assert judge("MOD010", "chat_templates", plan=plan_of(model__path="/models/other-token")) == Outcome(
        id="MOD010",
        slug="special-tokens-disagree",
        status=Status.FAIL,
        findings=(
            config_finding(
                "verl 0.9.1 needs the token <|im_end|> for a model of type qwen3, but the tokenizer lacks it",
                Location("plan.toml", None, "model.path"),
                summary="take tokenizer and chat template from one model",
                severity=Severity.ERROR,
                evidence=("/models/other-token/tokenizer.json",),
            ),
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("MOD010", "clean_gpu_node", plan=example(MIG20)).status is Status.PASS
