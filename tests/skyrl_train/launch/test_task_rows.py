"""Rows that `data validate` calls bad, refused before a job is submitted."""

import json
from pathlib import Path

import pytest

from skyrl_train.config.load import parse
from skyrl_train.config.run import RunConfig
from skyrl_train.contracts.errors import UsageError
from skyrl_train.launch.task_rows import LIMIT_S, refuse_bad_rows

GOOD = {
    "prompt": [{"role": "user", "content": "fix it"}],
    "data_source": "r2e-gym",
    "agent_name": "skyrl",
    "reward_model": {"style": "rule", "ground_truth": '{"a": "PASSED"}'},
    "extra_info": {"task_id": "1", "image": "a/b:c"},
}


def config_of(train: str = "train.jsonl", val: str = "") -> RunConfig:
    files = f'[data]\ntrain_files = ["{train}"]\n' + (f'val_files = ["{val}"]\n' if val else "")
    return parse(f'[model]\npath = "a/b"\n{files}')


def refused(config: RunConfig, at: Path, clock: list[float] | None = None) -> tuple[str, list[str]]:
    said: list[str] = []
    times = iter(clock) if clock else None
    try:
        refuse_bad_rows(config, str(at), said.append, (lambda: next(times)) if times else lambda: 0.0)
    except UsageError as error:
        return str(error), said
    return "", said


def write(path: Path, *rows: object) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_the_first_bad_row_is_named(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    write(path, GOOD, GOOD)
    assert refused(config_of(), tmp_path) == ("", [])
    write(path, GOOD, {**GOOD, "prompt": []})
    text, said = refused(config_of(), tmp_path)
    assert said == []
    assert text.startswith(f"{path}, row 2: prompt is empty; expected a list of messages. To see all bad rows: ")


def test_a_file_of_another_node_is_not_judged(tmp_path: Path) -> None:
    assert refused(config_of("/gpu-node-only/train.parquet"), tmp_path) == ("", [])


@pytest.mark.parametrize("name", ["train.csv", "train.parquet"])
def test_what_cannot_be_read_here_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    text, said = refused(config_of(name), tmp_path)
    assert text == ""
    assert [line.partition(": ")[0] for line in said] == [f"the rows of {tmp_path / name} were not checked"]


def test_a_large_data_set_is_checked_as_far_as_time_allows(tmp_path: Path) -> None:
    write(tmp_path / "train.jsonl", GOOD, GOOD, {**GOOD, "prompt": []})
    text, said = refused(config_of(), tmp_path, [0.0, 0.0, 1.0, LIMIT_S])
    assert (text, said) == (
        "",
        [f"only the first 2 rows of {tmp_path}/train.jsonl were checked, within {LIMIT_S:g} s"],
    )
