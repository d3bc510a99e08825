"""Sentences hold the values of their line and the settings of the user's framework."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from skyrl_doctor.core.signature import Signature
from skyrl_doctor.logs.diagnose import diagnose
from skyrl_doctor.logs.judge.hits import Hit
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.match.signatures import KnownFailure, load_signatures, load_topics
from skyrl_doctor.logs.sentences import explain, explain_consequence, name_setting, remedy
from skyrl_doctor.plan.dialects.schema import rules
from skyrl_doctor.plan.keys import EXTRA

SIGNATURE = Signature(
    pattern=r"limit is (?P<limit>\d+)(?:, used (?P<used>\d+))?",
    sample="limit is 7, used 9",
    explain="{used} of {limit} are used",
    remedy="Lower `{key:rollout.max_model_len}` to {limit}.",
)


def hit(text: str, *below: str, signature: Signature = SIGNATURE) -> Hit:
    context = tuple((number, line) for number, line in enumerate((text, *below), start=1))
    line = Line(file="a.log", order=0, number=1, text=text, clock=None, context=context)
    return Hit(KnownFailure("GPU001", "x", signature), line)


def test_values_come_from_the_line_or_from_those_below_it() -> None:
    assert explain(hit("limit is 7, used 9")) == "9 of 7 are used"
    assert explain(hit("limit is 7,", "used 9")) == "9 of 7 are used"
    assert explain(hit("limit is 7")) == "? of 7 are used"
    assert explain(hit("no match")) == "? of ? are used"


def test_a_part_without_a_value_is_left_out() -> None:
    refused = Signature(
        pattern=r"bad (?P<m>\w+)(?: (?P<key>\w+)=(?P<why>\d+))?",
        sample="bad a",
        explain="{m} was refused: {key}: {why}",
    )
    assert explain(hit("bad a", signature=refused)) == "a was refused"
    assert explain(hit("bad a k=3", signature=refused)) == "a was refused: k: 3"


def test_a_setting_is_named_as_the_framework_names_it() -> None:
    found = hit("limit is 7, used 9")
    assert remedy(found, "verl") == "Lower `actor_rollout_ref.rollout.max_model_len` to 7."
    assert remedy(found, "run-config") == "Lower `rollout.max_model_len` to 7."
    assert remedy(found) == "Lower `max_model_len` to 7."
    assert name_setting("trainer.no_such_setting", "verl") == "no_such_setting"


@pytest.mark.parametrize("entry", [*load_signatures(), *load_topics()], ids=lambda entry: entry.name)
def test_the_sentences_of_a_sample_are_filled(entry: KnownFailure) -> None:
    found = replace(hit(entry.signature.sample), failure=entry)
    texts = (explain(found, "verl"), remedy(found, "verl"))
    if entry.signature.near:  # then values may stand on other lines
        texts = ()
    assert [text for text in texts if re.search(r"\{[a-z_]|(?:^|[\s`(])\?(?:\W|$)", text)] == []


@pytest.mark.parametrize("entry", [*load_signatures(), *load_topics()], ids=lambda entry: entry.name)
def test_a_sentence_names_groups_and_settings_that_exist(entry: KnownFailure) -> None:
    signature = entry.signature
    groups = set(re.findall(r"\{([a-z_]+)\}", signature.explain + signature.remedy))
    keys = {*re.findall(r"\{key:([\w.]+)\}", signature.explain + signature.remedy), *signature.keys}
    assert groups - re.compile(signature.pattern).groupindex.keys() == set()
    assert keys - rules().keys() - EXTRA.keys() == set()


@pytest.mark.parametrize(
    ("log", "explained"),
    [
        ("TRN009/no_route", "a rank could not reach another one at 10.0.3.7: No route to host"),
        ("TRN009/invalid_argument", "a CUDA call of NCCL failed: invalid argument"),
        ("SLM010/driver_too_old", "the image needs a driver for CUDA 12.8, and the node's driver is older"),
        (
            "MOD004/own_code",
            "transformers has no model type `houselm`: the model brings its own code, or is newer than the library",
        ),
        ("MEM003/omni", "only 0.49 of the GPU's 79.32 GiB were free when vLLM started: another process holds the rest"),
    ],
)
def test_the_cause_is_that_of_the_line(log: str, explained: str) -> None:
    root = diagnose([str(Path(__file__).parents[2] / "logs" / f"{log}.log")]).diagnosis.root
    assert root is not None
    assert explain(root) == explained


def test_without_a_framework_a_setting_aside_is_left_out() -> None:
    aside = replace(SIGNATURE, remedy="Save more often (`{key:trainer.save_every_steps}`), or use another partition.")
    found = hit("limit is 7, used 9", signature=aside)
    assert remedy(found) == "Save more often, or use another partition."
    assert remedy(found, "run-config") == "Save more often (`trainer.save_every_steps`), or use another partition."


def test_a_consequence_guesses_no_cause_where_a_line_is_known_as_one() -> None:
    died = Signature(pattern="died", sample="died", explain="a worker died: mostly memory, or a kill", last_resort=True)
    named = Signature(pattern="died", sample="died", explain="a file is absent: a.txt", last_resort=True)
    after = hit("died", signature=died)
    cause = replace(after.line, number=14)
    assert explain_consequence(after, None) == "a worker died: mostly memory, or a kill"
    assert explain_consequence(after, cause) == "a worker died; line 14 has the reason"
    assert explain_consequence(after, replace(cause, file="b.log")) == "a worker died; line 14 of b.log has the reason"
    assert explain_consequence(hit("died", signature=named), cause) == "a file is absent: a.txt"
