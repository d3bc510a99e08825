"""The index of rollouts: complete, in step with growing and replaced files, and the same filters in SQL and in Python."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from job_samples import transcript, write_rollouts
from skyrl_train.agent.journal import append
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.payloads import to_json
from skyrl_train.contracts.rollout_summaries import Summary, files_in, read, step_of, summary_of_line
from skyrl_train.view import index as module
from skyrl_train.view.filters import Filters
from skyrl_train.view.index import Index


@pytest.fixture
def job(tmp_path: Path) -> Path:
    write_rollouts(tmp_path / "job" / "rollouts", steps=4, prompts=2, samples=4)
    return tmp_path / "job"


@pytest.fixture
def index(job: Path, tmp_path: Path) -> Iterator[Index]:
    made = Index(str(job), str(tmp_path / "cache"))
    yield made
    made.close()


def names(index: Index) -> list[str]:
    return [row["rollout"] for row in index.rows("SELECT rollout FROM rollout ORDER BY id")]


def test_all_rollouts_are_read_once(index: Index) -> None:
    assert sum(index.update()) == 32
    assert sum(index.update()) == 0
    assert len(set(names(index))) == 32


def test_new_lines_of_a_running_job_are_added(index: Index, job: Path) -> None:
    list(index.update())
    append(job / "rollouts" / "step_4.jsonl", transcript("new"))
    append(job / "rollouts" / "step_5.jsonl", transcript("newer"))
    assert sum(index.update()) == 2
    assert names(index)[-2:] == ["new", "newer"]


def test_half_a_line_waits_for_its_end(index: Index, job: Path) -> None:
    list(index.update())
    line = to_json(transcript("late")) + "\n"
    path = job / "rollouts" / "step_9.jsonl"
    path.write_text(line[:50])
    assert sum(index.update()) == 0
    path.write_text(line)
    assert sum(index.update()) == 1


def test_a_replaced_file_is_read_again(index: Index, job: Path) -> None:
    list(index.update())
    path = job / "rollouts" / "step_1.jsonl"
    path.unlink()
    append(path, transcript("other"))
    list(index.update())
    assert [name for name in names(index) if name.startswith("s1p") or name == "other"] == ["other"]


def test_a_second_look_reads_nothing_again(job: Path, tmp_path: Path) -> None:
    for expected in (32, 0):
        made = Index(str(job), str(tmp_path / "cache"))
        assert sum(made.update()) == expected
        made.close()


def test_a_second_reader_goes_on_with_a_copy(index: Index, job: Path, tmp_path: Path) -> None:
    list(index.update())
    append(job / "rollouts" / "step_5.jsonl", transcript("newer"))
    other = Index(str(job), str(tmp_path / "cache"))
    assert (other.path != index.path, sum(other.update()), len(names(other))) == (True, 1, 33)
    assert len(names(index)) == 32
    other.close()


def test_a_removed_file_is_forgotten(index: Index, job: Path) -> None:
    list(index.update())
    for step in (1, 2, 3):
        (job / "rollouts" / f"step_{step}.jsonl").unlink()
    assert sum(index.update()) == 0
    assert {name[:2] for name in names(index)} == {"s4"}


def test_an_index_without_a_cache_is_removed(job: Path) -> None:
    made = Index(str(job), None)
    assert (sum(made.update()), Path(made.path).exists()) == (32, True)
    made.close()
    assert not Path(made.path).exists()


def test_a_damaged_index_is_made_anew(index: Index, job: Path, tmp_path: Path) -> None:
    index.close()
    Path(index.path).write_bytes(b"no database" * 1000)
    made = Index(str(job), str(tmp_path / "cache"))
    assert sum(made.update()) == 32
    made.close()


def test_invalid_lines_are_counted(index: Index, job: Path) -> None:
    with (job / "rollouts" / "step_4.jsonl").open("a") as file:
        file.write("{}\nno json\n[[[\n")
    list(index.update())
    assert [row["n"] for row in index.rows("SELECT sum(broken) AS n FROM file")] == [3]


def test_the_cache_keeps_few_indexes(job: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_INDEXES", 2)
    for number in range(5):
        place = tmp_path / str(number)
        write_rollouts(place / "rollouts", steps=1, prompts=1, samples=1)
        Index(str(place), str(tmp_path / "cache")).close()
    assert len(list((tmp_path / "cache").glob("*.sqlite"))) == 2


def test_an_index_in_use_is_not_removed(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_INDEXES", 1)
    write_rollouts(tmp_path / "other" / "rollouts", steps=1, prompts=1, samples=1)
    Index(str(tmp_path / "other"), str(tmp_path / "cache")).close()
    assert sum(index.update()) == 32
    assert Path(index.path).exists()


def test_the_index_is_private(index: Index, tmp_path: Path) -> None:
    list(index.update())
    modes = {path.name: path.stat().st_mode & 0o077 for path in (tmp_path / "cache").iterdir()}
    assert len(modes) == 4
    assert set(modes.values()) == {0}


def accepts(filters: Filters, step: int | None, one: Summary) -> bool:
    return (
        (not filters.failed or one.masked or one.reward is None or one.reward < 1)
        and (filters.least_reward is None or (one.reward is not None and one.reward >= filters.least_reward))
        and (filters.most_reward is None or (one.reward is not None and one.reward <= filters.most_reward))
        and (not filters.end or filters.end.lower() == one.finish.lower())
        and (filters.step is None or filters.step == step)
        and (not filters.task or filters.task.lower() in one.task.lower())
        and (not filters.tool or filters.tool in one.tools)
        and (not filters.tests or filters.tests.lower() in one.why.lower())
    )


def test_sql_and_python_filter_alike(index: Index, job: Path) -> None:
    list(index.update())
    every = [
        (step_of(path), one) for path in files_in(str(job / "rollouts")) for _, one in read(path) if one is not None
    ]
    chosen = 0
    for failed, least, end, step, task, tool, tests in itertools.product(
        (False, True),
        (None, 0.5),
        ("", "finish_tool"),
        (None, 2),
        ("", "TASK-3"),
        ("", "finish", "absent"),
        ("", "Test_Fix"),
    ):
        filters = Filters(failed=failed, least_reward=least, end=end, step=step, task=task, tool=tool, tests=tests)
        condition, values = filters.sql()
        found = {row["rollout"] for row in index.rows(f"SELECT rollout FROM rollout WHERE {condition}", values)}
        assert found == {one.rollout for at, one in every if accepts(filters, at, one)}
        chosen += 0 < len(found) < len(every)
    assert chosen > 10


def test_a_summary_is_that_of_the_transcript() -> None:
    whole = transcript("r1", reward=None, finish=Finish.ERROR_RUNTIME, detail="lost", unscorable=True, turns=3)
    found = summary_of_line(to_json(whole))
    assert found is not None
    assert (found.rollout, found.masked, found.turns, found.reward) == ("r1", whole.masked, 3, None)
    assert found.written + found.read == len(whole.response_ids)
    assert found.written == sum(whole.response_mask)
    assert found.why == "sandbox_failed lost"
