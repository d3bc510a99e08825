"""The counts that a trainer leaves for whoever watches it."""

import dataclasses
import re
from pathlib import Path

import pytest

from skyrl_doctor.watch.follow.files import is_log
from skyrl_doctor.watch.follow.tail import Lines
from skyrl_doctor.watch.observations import Rollouts
from skyrl_doctor.watch.read.logs import Logs
from skyrl_doctor.watch.rules import base
from skyrl_doctor.watch.rules.agent import RULE
from skyrl_train.contracts.agent.counts_file import line, read, survived_outages, total
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.metrics import Counts, figures
from skyrl_train.contracts.files import append_line
from skyrl_train.contracts.job_files import COUNTS
from watching import brief, play

SILENT = Counts(rollouts=8, turns=40, no_calls=40, scored=8, reward=0.5, ends={Finish.FINISH_TOOL: 8})


def test_a_step_is_one_line_that_reads_back() -> None:
    assert line(SILENT).count("\n") == 1
    assert read(line(SILENT)) == SILENT
    assert set(read(line(Counts())).__slots__) == {field.name for field in dataclasses.fields(Counts)}
    for text in ("", "{", '{"rollouts": "x"}'):
        with pytest.raises(ValueError, match=r"\w"):
            read(text)


def test_what_the_trainer_writes_the_watch_judges(tmp_path: Path) -> None:
    path = tmp_path / COUNTS
    append_line(str(path), line(SILENT))
    append_line(str(path), line(SILENT))
    assert is_log(path.name)
    seen = list(Logs().take(Lines(str(path), 1, path.read_bytes()), 3.0))
    assert seen == [Rollouts(at=3.0, counts=line(SILENT).strip())] * 2
    assert brief(play(RULE, seen)) == [(3.0, "AGT015.agent"), (3.0, "AGT001.agent")]


def test_the_figures_that_the_watch_asks_for_are_those_that_the_trainer_prints() -> None:
    rules = Path(base.__file__).parent.glob("*.py")
    asked = {
        name for rule in rules for name in re.findall(r'"(rollout_metrics/\w+)"', rule.read_text(encoding="utf-8"))
    }
    assert asked > set()
    assert asked - set(figures(SILENT)) == set()


def test_the_outages_of_a_run_are_those_of_all_its_steps(tmp_path: Path) -> None:
    assert (total(str(tmp_path)), survived_outages(str(tmp_path))) == (None, "")
    path = tmp_path / COUNTS
    append_line(str(path), line(SILENT))
    assert (total(str(tmp_path)), survived_outages(str(tmp_path))) == (SILENT, "")
    older = '{"rollouts":8,"ends":{}}\n'  # of a version that did not count them
    outage = Counts(rollouts=8, outages=1, outage_s=35.0, outage_causes={"error_runtime: refused": 1})
    for text in (line(outage), "{\n", older, line(outage)):
        append_line(str(path), text)
    assert survived_outages(str(tmp_path)) == (
        "2 outages survived, 70 s without new rollouts: 2 x error_runtime: refused"
    )


def test_where_there_is_no_room(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        append_line(str(tmp_path / "gone" / COUNTS), line(SILENT))
