"""Finding the model on recorded machines."""

import pytest

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.probes.model_files import model_files
from support import plan_of

HUB = "/h/.cache/huggingface/hub/models--org--m"
HERE = Environ({"HOME": "/h"})


def look(name: str | None, answers: dict[str, object], environ: Environ = HERE, **plan: object) -> ModelFiles:
    made = plan_of(model__path=name, **plan) if name else Plan()
    found = model_files(RecordedMachine(answers, strict=True), made, environ)
    assert isinstance(found, ModelFiles)
    return found


def test_a_directory() -> None:
    found = look("~/m/", {"list /h/m": ["config.json", "vocab.json"], "read /h/m/config.json": '{"a": 1}'})
    assert (found.is_local, found.config, found.has_tokenizer, found.shown) == (
        True,
        {"a": 1},
        True,
        "/h/m/config.json",
    )
    broken = look("/m", {"list /m": ["config.json"], "read /m/config.json": "[]"})
    assert (broken.directory, broken.config, broken.has_tokenizer) == ("/m", None, False)
    absent = look("./m", {"list ./m": {"absent": "./m"}})
    assert (absent.directory, absent.looked) == (None, ("./m",))


def test_a_snapshot_of_the_hub_the_current_one_first() -> None:
    found = look(
        "org/m",
        {
            f"list {HUB}/snapshots": ["aaa", "bbb"],
            f"read {HUB}/refs/main": "bbb\n",
            "list org/m": {"absent": "org/m"},
            f"list {HUB}/snapshots/bbb": ["config.json", "tokenizer.json"],
            f"read {HUB}/snapshots/bbb/config.json": "{}",
        },
    )
    assert (found.directory, found.is_local) == (f"{HUB}/snapshots/bbb", False)


def test_a_relative_directory_hides_a_name_of_the_hub() -> None:
    found = look("org/m", {f"list {HUB}/snapshots": {"absent": "x"}, "list org/m": []})
    assert (found.directory, found.is_local) == ("org/m", True)


def test_nothing_anywhere_and_the_plans_own_switch() -> None:
    answers = {f"list {HUB}/snapshots": {"absent": "x"}, "list org/m": {"absent": "org/m"}}
    found = look("org/m", answers, env={"HF_HUB_OFFLINE": "1"})
    assert (found.directory, found.looked, found.offline) == (None, (HUB,), "HF_HUB_OFFLINE=1")


def test_what_could_not_be_read_is_not_absent() -> None:
    with pytest.raises(CouldNotLook):
        look("/m", {"list /m": {"unreadable": "/m", "why": "Permission denied"}})
    with pytest.raises(CouldNotLook):
        look("~/m", {}, Environ({}))
    with pytest.raises(NotApplicable):
        look(None, {})
