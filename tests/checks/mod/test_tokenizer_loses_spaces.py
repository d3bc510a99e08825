"""MOD011."""

import dataclasses
from pathlib import Path

from chat_models import DISTILL, LLAMA3, examined
from checks.mod.tokenizer_loses_spaces import tokenizer_loses_spaces
from plans import MIG20, example
from skyrl_doctor.core.model import Location, Outcome, Severity, Status
from skyrl_doctor.plan.findings import config_finding
from support import judge, plan_of

AS_LLAMA = dataclasses.replace(DISTILL, model_type="llama", tokenizer_class="LlamaTokenizerFast")


def test_the_class_the_type_and_the_release_decide(tmp_path: Path) -> None:
    model, template = examined(tmp_path, AS_LLAMA)

    def found(kind: str = "llama", **changes: object) -> list[Severity]:
        files = dataclasses.replace(model, config={"model_type": kind})
        changed = dataclasses.replace(template, **changes)  # type: ignore[arg-type]  # a table of changes
        return [one.severity for one in tokenizer_loses_spaces(plan_of(model__path="/m"), files, changed)]

    assert found() == found("qwen3") == found(transformers="5.5.3") == [Severity.ERROR]
    assert found("qwen3", transformers="5.5.3") == found(transformers="5.13.0") == [Severity.WARNING]
    assert found("qwen2") == found(transformers="4.57.1") == found(transformers="") == found(byte_level=False) == []
    _, other = examined(tmp_path / "b", LLAMA3)
    assert (other.tokenizer_class, other.byte_level) == ("PreTrainedTokenizerFast", True)
    assert found(tokenizer_class=other.tokenizer_class) == []


def test_reproduces_on_a_recording() -> None:
    assert judge("MOD011", "chat_templates", plan=plan_of(model__path="/models/llama-class")) == Outcome(
        id="MOD011",
        slug="tokenizer-loses-spaces",
        status=Status.FAIL,
        findings=(
            config_finding(
                "tokenizer.json is byte-level, but tokenizer_class is LlamaTokenizerFast: transformers 5.10.4 reads it as SentencePiece and loses all spaces; expected PreTrainedTokenizerFast",
                Location("plan.toml", None, "model.path"),
                summary="set tokenizer_class to PreTrainedTokenizerFast in a copy of the model's directory",
                evidence=("/models/llama-class/tokenizer_config.json",),
            ),
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("MOD011", "clean_gpu_node", plan=example(MIG20)).status is Status.PASS
