"""Asking for the renders of a chat template on recorded machines, and comparing them."""

import dataclasses
import json
from pathlib import Path

import pytest

from chat_models import GEMMA, QWEN25, examined
from plans import plan as written
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.chat_template import NEEDED, ChatTemplate, Difference, chat_template
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.interpreter import TrainingPython
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.model import Plan
from support import plan_of

PYTHON = TrainingPython("/py", "python.interpreter")
MODEL = ModelFiles(name="/m", is_local=True, directory="/m", config={}, has_tokenizer=True, searched=("/m",))
PLAN = plan_of(model__path="/m")
EMPTY = {
    "source": "",
    "renders": {},
    "pieces": {},
    "special": {"eos": ["</s>", 2], "pad": ["[PAD]", None]},
    "stops": [2],
    "embeddings": None,
    "added_bos": False,
    "disagreeing": [["<x>", 3, 4]],
    "split": [["<|x|>", ["<", "|x|>"]]],
    "values": [],
    "read_back": [],
    "reply": [],
    "reasoned_reply": [],
    "needed": {"<|user|>": None},
    "newline": [10],
    "verl": "0.9.1",
    "transformers": "5.10.4",
    "tokenizer_class": "X",
    "byte_level": True,
}


def key(*, python: str = "/py", **changes: object) -> str:
    spec = {"model": "/m", "tokenizer": "/m", "template": None, "kwargs": {}, "needed": NEEDED, **changes}
    return f"ask chat_template {python} '{json.dumps(spec, sort_keys=True)}'"


def look(
    answers: dict[str, object], *, plan: Plan = PLAN, model: ModelFiles = MODEL, python: TrainingPython = PYTHON
) -> object:
    return chat_template(RecordedMachine(answers, strict=True), plan, Environ({"HOME": "/h"}), model, python)


def test_answers() -> None:
    assert look({key(): {"rc": 0, "out": [json.dumps(EMPTY), ""]}}) == ChatTemplate(
        tokenizer="/m",
        source="",
        special={"eos": ("</s>", 2), "pad": ("[PAD]", None)},
        stops=frozenset({2}),
        disagreeing=(("<x>", 3, 4),),
        split=(("<|x|>", ("<", "|x|>")),),
        needed={"<|user|>": None},
        newline=(10,),
        verl="0.9.1",
        transformers="5.10.4",
        tokenizer_class="X",
        byte_level=True,
    )


def reason(kind: str) -> dict[str, object]:
    return {"rc": 0, "out": [json.dumps({"why": "a reason", "kind": kind})]}


def test_reasons_are_unknown_and_absent_files_are_skipped() -> None:
    for answer, why in (
        (reason("missing"), "a reason"),
        (reason("broken"), "a reason"),
        ({"timed_out": True}, "timed out after 10 s"),
        ({"rc": 0, "out": ["{}"]}, "source is missing"),
        ({"rc": 0, "out": [json.dumps({**EMPTY, "split": [["<|x|>"]]})]}, "expected lists of 2"),
    ):
        with pytest.raises(CouldNotLook, match=why):
            look({key(): answer})
    with pytest.raises(NotApplicable, match="a reason for /py"):  # nobody says that this interpreter trains
        look({key(): reason("missing")}, python=TrainingPython("/py", "VIRTUAL_ENV"))
    with pytest.raises(NotApplicable, match="a reason"):
        look({key(): reason("other")})
    with pytest.raises(CouldNotLook, match="it is gone"):
        look({}, python=TrainingPython("/py", "x", problem="it is gone"))
    with pytest.raises(
        NotApplicable, match=r"org/m has no config.json on this machine, so its chat template is unknown"
    ):
        look({}, model=dataclasses.replace(MODEL, name="org/m", directory=None, config=None))
    with pytest.raises(NotApplicable, match=r"/m has no tokenizer; expected one of tokenizer\.json"):
        look({}, model=dataclasses.replace(MODEL, has_tokenizer=False))


def test_what_the_configuration_says_of_template_and_tokenizer() -> None:
    words = "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=/m"
    verl = written(f"{words} +data.apply_chat_template_kwargs.enable_thinking=False\n", "run.sh")
    good = {"rc": 0, "out": [json.dumps(EMPTY), ""]}
    assert isinstance(look({key(kwargs={"enable_thinking": False}): good}, plan=verl), ChatTemplate)
    custom = written(f"{words} actor_rollout_ref.model.custom_chat_template=abc\n", "run.sh")
    assert isinstance(look({key(template="abc"): good}, plan=custom), ChatTemplate)
    unknown = written(f'{words} actor_rollout_ref.model.custom_chat_template="$(cat t.jinja)"\n', "run.sh")
    with pytest.raises(CouldNotLook, match="custom_chat_template"):
        look({}, plan=unknown)
    other = {"list /t": ["tokenizer.json"], key(tokenizer="/t"): good}
    assert isinstance(look(other, plan=plan_of(model__path="/m", model__tokenizer="/t")), ChatTemplate)
    absent = {"list /t": {"absent": "/t"}}
    with pytest.raises(NotApplicable, match="the tokenizer /t is not on this machine"):
        look(absent, plan=plan_of(model__path="/m", model__tokenizer="/t"))


def test_the_first_token_that_differs() -> None:
    template = ChatTemplate(tokenizer="/m", source="x", pieces={1: "a", 2: "b", 3: "ab"})
    assert template.difference((1, 2, 1), (3, 1)) is None  # the same text, cut in another place
    assert template.difference((1, 2), (1, 1)) == Difference(1, "2 'b'", "1 'a'")
    assert template.difference((1, 2), (1,)) == Difference(1, "2 'b'", "")


def test_a_real_answer(tmp_path: Path) -> None:
    _, template = examined(tmp_path, QWEN25)
    assert (template.source, template.id_of("eos"), template.ends) == ("tokenizer_config.json", 258, frozenset({258}))
    assert template.text(template.renders["follow"].after or ()).startswith("<|im_end|>Ċ<|im_start|>userĊSKYRLRESULT")


def test_a_template_of_the_configuration(tmp_path: Path) -> None:
    _, template = examined(tmp_path, GEMMA, template="{{ messages[0].role }}")
    assert (template.source, template.text(template.renders["prompt"].ids)) == ("the configuration", "system")
