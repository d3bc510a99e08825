"""Measuring prompts on recorded machines; where they cannot be measured, the reason is no verdict."""

import json

import pytest

from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.facts.prompts import PromptLengths, prompts
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.model import Plan, Value
from support import plan_of

MODEL = ModelFiles(name="m", is_local=True, directory="/m", config={}, has_tokenizer=True, searched=("/m",))
PLAN = plan_of(data__train_files=["~/train.parquet"], python__interpreter="/py/bin/python")
SPEC = json.dumps(
    {"file": "/h/train.parquet", "key": "prompt", "sample": 500, "tokenizer": "/m/tokenizer.json"}, sort_keys=True
)
STAT = {"kind": "file", "mode": 420, "uid": 0, "gid": 0, "size": 9, "mtime": 0.0, "device": 1, "inode": 1}


def look(answer: dict[str, object], *, plan: Plan = PLAN, model: ModelFiles | None = MODEL) -> object:
    answers = {"stat /h/train.parquet": STAT, f"ask prompt_lengths /py/bin/python '{SPEC}'": answer}
    return prompts(RecordedMachine(answers, strict=True), plan, Environ({"HOME": "/h"}), model)


def said(answer: dict[str, object], **changes: object) -> str:
    with pytest.raises(NotApplicable) as caught:
        look(answer, **changes)  # type: ignore[arg-type]  # a table of changes
    return str(caught.value)


def test_lengths() -> None:
    fields = {"file": "/h/train.parquet", "count": 500, "rows": 4578, "p50": 1290, "p95": 1500, "longest": 3000}
    assert look({"rc": 0, "out": [json.dumps(fields), ""]}) == PromptLengths(
        file="/h/train.parquet", count=500, rows=4578, p50=1290, p95=1500, longest=3000
    )


def test_reasons() -> None:
    assert said({"rc": 0, "out": ['{"why": "pyarrow is not installed"}']}) == "pyarrow is not installed"
    assert said({"rc": 1, "err": ["boom"]}).endswith("exited with status 1: boom")
    assert said({"timed_out": True}).endswith("timed out after 10 s")
    assert said({}, model=None) == "the model's tokenizer is not on this machine"
    assert said({}, plan=plan_of()) == "the configuration names no dataset"
    unset = Value("data.train_files", "$D/train.parquet", unknown="D is not set here")
    reason = said({}, plan=Plan(targets=("run.sh",), values={"data.train_files": unset}))
    assert reason == "dataset data.train_files = '$D/train.parquet': D is not set here"
