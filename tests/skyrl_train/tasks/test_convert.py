"""Rows as verl reads them."""

import json

from skyrl_train.contracts.tasks.rows import BadRow, TaskRow
from skyrl_train.tasks.convert import prompt_of, read_line, verl_row

TASK = TaskRow(
    id="x:1",
    source="r2e-gym",
    repo="x",
    base_commit="abc",
    image="docker.io/n/x:1",
    problem="It {fails}.",
    expected='{"a": "PASSED"}',
)
ROW = {
    "docker_image": "n/x:1",
    "repo_name": "x",
    "commit_hash": "abc",
    "problem_statement": "It {fails}.",
    "expected_output_json": '{"a": "PASSED"}',
}


def test_the_prompt_is_a_list_of_messages() -> None:
    row = verl_row(TASK, 3)
    system, user = prompt_of(TASK)
    assert row == {
        "prompt": [{"role": "system", "content": system.content}, {"role": "user", "content": user.content}],
        "data_source": "r2e-gym",
        "ability": "coding",
        "reward_model": {"style": "rule", "ground_truth": '{"a": "PASSED"}'},
        "extra_info": {
            "index": 3,
            "task_id": "x:1",
            "repo": "x",
            "base_commit": "abc",
            "image": "docker.io/n/x:1",
            "edits": [],
        },
        "agent_name": "skyrl",
    }
    assert json.loads(json.dumps(row)) == row
    assert "It {fails}." in user.content
    assert "BEGIN FUNCTION #1: terminal" in system.content


def test_bad_lines_are_dropped_with_their_numbers() -> None:
    lines = [json.dumps(ROW), "", "{", "[" * 100_000, json.dumps({**ROW, "problem_statement": ""})]
    first, _, broken, deep, empty = (read_line(line, number) for number, line in enumerate(lines, start=1))
    assert first == TASK
    assert isinstance(broken, BadRow)
    assert (broken.number, broken.why[:15]) == (3, "not valid JSON:")
    assert isinstance(deep, BadRow)
    assert deep.number == 4
    assert empty == BadRow(5, "problem_statement is empty")
