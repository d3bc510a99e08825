"""Which node is silent, and which one ended the run."""

from pathlib import Path

import pytest

from skyrl_train.launch import node_files
from skyrl_train.launch.node_files import ENDED, ENDING, UP, NodeReport
from skyrl_train.launch.node_watch import PATIENCE_S, Beats, Cause, cause

NODES = ("n1", "n2")


@pytest.fixture
def job_dir(tmp_path: Path) -> str:
    node_files.begin(str(tmp_path))
    return str(tmp_path)


def tell(job_dir: str, *states: NodeReport) -> None:
    for state in states:
        node_files.write_report(job_dir, state)


def test_a_node_that_beats_is_there(job_dir: str) -> None:
    now = [0.0]
    beats = Beats(job_dir, NODES, lambda: now[0])
    for beat in range(5):
        tell(job_dir, NodeReport(node="n1", state=UP, beat=beat), NodeReport(node="n2", state=UP, beat=beat))
        assert beats.lost() == ""
        now[0] += PATIENCE_S - 1


def test_a_silent_one_is_named(job_dir: str) -> None:
    now = [0.0]
    beats = Beats(job_dir, NODES, lambda: now[0])
    for beat in range(2):
        tell(job_dir, NodeReport(node="n1", beat=beat), NodeReport(node="n2", beat=7))
        assert beats.lost() == ""
        now[0] += PATIENCE_S - 20
    tell(job_dir, NodeReport(node="n1", beat=9))
    assert beats.lost() == f"node n2 has not reported for {2 * (PATIENCE_S - 20):.0f} s: the node is down or hangs"


def test_one_that_has_not_begun_or_has_ended_is_not_silent(job_dir: str) -> None:
    now = [0.0]
    beats = Beats(job_dir, NODES, lambda: now[0])
    tell(job_dir, NodeReport(node="n1", state=ENDED))
    for _ in range(3):
        assert beats.lost() == ""
        now[0] += 10 * PATIENCE_S


def test_the_first_cause_is_foremost_and_a_signal_is_none(job_dir: str) -> None:
    tell(
        job_dir,
        NodeReport(node="n1", state=ENDED, status=1, reason="Ray exited with status 1", at=2.0),
        NodeReport(node="n2", state=ENDING, status=3, reason="Ray exited with status -9", at=1.0),
    )
    assert cause(job_dir, NODES) == Cause(3, "node n2: Ray exited with status -9; node n1: Ray exited with status 1")
    tell(job_dir, NodeReport(node="n1", state=ENDED, status=143, reason="stopped by signal 15", signal=True, at=0.5))
    assert cause(job_dir, NODES) == Cause(3, "node n2: Ray exited with status -9")


def test_one_without_a_last_word_is_named(job_dir: str) -> None:
    tell(job_dir, NodeReport(node="n1", state=ENDED, signal=True, reason="stopped by signal 15"), NodeReport(node="n2"))
    assert cause(job_dir, NODES) == Cause(1, "node n2 ended without a report: it was killed or the node is down")
    node_files.begin(job_dir)
    assert cause(job_dir, ("n1",)) == Cause(1, "node n1 never started its part")
    tell(job_dir, NodeReport(node="n1", state=ENDED))
    assert cause(job_dir, ("n1",)) is None


def test_a_trainer_that_ended_well_has_ended_well(job_dir: str) -> None:
    tell(
        job_dir, NodeReport(node="n1"), NodeReport(node="n2", state=ENDED, status=1, reason="Ray exited with status 1")
    )
    node_files.write_head_end(job_dir, 3)
    found = cause(job_dir, NODES)
    assert found is not None
    assert found.status == 1
    node_files.write_head_end(job_dir, 0)
    assert cause(job_dir, NODES) == Cause(0, "")
    assert node_files.head_has_ended(job_dir)
    assert node_files.head_has_ended(job_dir, surely=True)


def test_a_new_turn_begins_empty_with_a_token_of_its_own(job_dir: str) -> None:
    tell(job_dir, NodeReport(node="n1"))
    token = Path(node_files.token_path(job_dir))
    before = token.read_text()
    node_files.begin(job_dir)
    assert node_files.read_reports(job_dir, NODES) == {}
    assert (len(before), token.read_text() == before, oct(token.stat().st_mode & 0o777)) == (64, False, "0o600")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"node": "n1", "strange": 1}', "null"])
def test_a_damaged_file_is_no_word(job_dir: str, text: str) -> None:
    (Path(job_dir) / "ray" / "node_n1.json").write_text(text)
    assert node_files.read_reports(job_dir, NODES) == {}
    (Path(job_dir) / "ray" / "head.json").write_text(text)
    assert node_files.read_head(job_dir) is None
