"""`skyrl-train data`: convert, inspect, validate and oracle, on files of both kinds."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from skyrl_train.cli.app import dispatch
from skyrl_train.contracts.rewards.oracle import read_report
from skyrl_train.contracts.tasks.rows import TaskRow, read_row
from skyrl_train.tasks.convert import verl_row

ROW = {
    "docker_image": "n/x:1",
    "repo_name": "x",
    "commit_hash": "abc",
    "problem_statement": "It {fails}.",
    "expected_output_json": '{"a": "PASSED"}',
}
SWE = {
    "instance_id": "sympy__sympy-1",
    "repo": "sympy/sympy",
    "base_commit": "abc",
    "problem_statement": "It fails.",
    "FAIL_TO_PASS": '["test_a"]',
    "PASS_TO_PASS": '["test_b"]',
    "image_name": "ghcr.io/x/sympy:1",
}


def row(number: int) -> dict[str, str]:
    return {**ROW, "docker_image": f"n/x:{number}"}


def verl(number: int, index: int) -> dict[str, object]:
    task = read_row(row(number), 1)
    assert isinstance(task, TaskRow)
    return verl_row(task, index)


def written(path: Path, rows: list[Any]) -> str:
    if path.suffix == ".parquet":
        arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow.Table.from_pylist(rows), path)
    else:
        path.write_text("".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in rows))
    return str(path)


def read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        found: list[dict[str, Any]] = pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
        return found
    return [json.loads(line) for line in path.read_text().splitlines()]


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = dispatch(["data", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("source", [".parquet", ".jsonl"])
@pytest.mark.parametrize("target", [".parquet", ".jsonl"])
def test_rows_become_verls_columns(
    tmp_path: Path, source: str, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = {**row(9), "problem_statement": " "}
    data = written(tmp_path / f"rows{source}", [row(1), bad, row(2), row(1)])
    out = tmp_path / f"train{target}"
    assert said(capsys, "convert", data, str(out)) == (
        0,
        f"2 rows written to {out}; dropped 2 (reasons: {out}.rejected.jsonl); 2 images listed in {out}.images.txt\n",
        "",
    )
    assert read(out) == [verl(1, 0), verl(2, 1)]
    assert read(tmp_path / f"train{target}.rejected.jsonl") == [
        {"row": 2, "why": "problem_statement is empty"},
        {"row": 4, "why": "task x:1 is a duplicate of row 1"},
    ]
    assert Path(f"{out}.images.txt").read_text() == "docker.io/n/x:1\ndocker.io/n/x:2\n"
    assert said(capsys, "validate", str(out)) == (0, "2 good rows, 0 bad\n", "")
    assert said(capsys, "inspect", str(out))[1].startswith("2 good rows, 0 bad\n2 images; longest problem or prompt:")


def test_skyrls_and_swe_benchs_rows_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    skyrl = {"prompt": "It fails.", "data_source": "r2e-gym", "instance": row(3)}
    data = written(tmp_path / "rows.jsonl", [skyrl, SWE, "{", ""])
    out = tmp_path / "train.jsonl"
    assert said(capsys, "convert", data, str(out))[0] == 0
    assert [one["data_source"] for one in read(out)] == ["r2e-gym", "swe-bench"]
    assert said(capsys, "validate", data) == (
        1,
        "row 3: not valid JSON: Expecting property name enclosed in double quotes: line 2 column 1 (char 2)\n2 good rows, 1 bad\n",
        "",
    )


@pytest.mark.parametrize("name", ["none.parquet", "none.jsonl"])
def test_a_data_set_that_is_not_there_is_named_once(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "validate", name) == (
        2,
        "",
        f"skyrl-train data: data set {name}: No such file or directory\n",
    )


def test_nothing_is_written_where_no_row_can_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = written(tmp_path / "rows.jsonl", [{"a": 1}])
    out = tmp_path / "train.parquet"
    out.write_bytes(b"before")
    code, _, err = said(capsys, "convert", data, str(out))
    assert (code, out.read_bytes()) == (2, b"before")
    assert (
        err
        == f"skyrl-train data: {data}: none of its 1 rows can be used (row 1: docker_image or instance_id is missing); {out}.rejected.jsonl has all reasons\n"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("rows.jsonl", "train.parquet", "train.parquet.rejected.jsonl")
    ]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["convert", "none.jsonl", "x.jsonl"], "data set none.jsonl: No such file or directory"),
        (
            ["convert", "rows.csv", "x.jsonl"],
            "data set rows.csv: unknown file type; expected a name that ends in .jsonl, .json, .parquet",
        ),
        (
            ["convert", "rows.jsonl", "x.csv"],
            "x.csv: unknown file type; expected a name that ends in .jsonl, .json, .parquet",
        ),
        (["convert", "rows.jsonl", "rows.jsonl"], "rows.jsonl is the same file as the source; name another file"),
        (["convert", "rows.jsonl", "x.jsonl", "--limit", "0"], "--limit is 0; expected 1 or more"),
        (["convert", "rows.jsonl", "no/x.jsonl"], "cannot write no/x.jsonl: No such file or directory"),
        (
            ["convert", "rows.jsonl", "x.jsonl", "--rejects", "rows.jsonl"],
            "--rejects rows.jsonl is the same file as the source",
        ),
        (
            ["convert", "rows.jsonl", "x.jsonl", "--images", "link.jsonl"],
            "--images link.jsonl is the same file as the source",
        ),
        (
            ["convert", "rows.jsonl", "x.jsonl", "--images", "./x.jsonl"],
            "--images x.jsonl is the same file as the target",
        ),
        (
            ["convert", "x.jsonl.rejected.jsonl", "x.jsonl"],
            "--rejects x.jsonl.rejected.jsonl is the same file as the source",
        ),
        (["convert", "rows.jsonl", "x.jsonl", "--rejects", "pipe"], "--rejects pipe exists and is not a regular file"),
        (["convert", "rows.jsonl", "x.jsonl", "--rejects", "no/x"], "cannot write no/x: No such file or directory"),
        (["convert", "empty.jsonl", "x.jsonl"], "empty.jsonl has no rows"),
        (["convert", "broken.parquet", "x.jsonl"], "data set broken.parquet: "),
        (["oracle", "none.jsonl"], "none.jsonl is not a file; pass --data with the file that training reads"),
        (["oracle", "rows.jsonl", "--sample", "0"], "--sample is 0; expected 1 or more"),
    ],
)
def test_what_cannot_be_done_is_said(
    tmp_path: Path,
    words: list[str],
    error: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("rows.jsonl", "x.jsonl.rejected.jsonl"):
        written(tmp_path / name, [row(1), {}])
    (tmp_path / "link.jsonl").symlink_to("rows.jsonl")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 no")
    source = tmp_path / words[1]
    before = source.read_bytes() if source.exists() else None
    code, _, err = said(capsys, *words)
    assert code == 2
    assert err.startswith(f"skyrl-train data: {error}")
    assert len(err.splitlines()) == 1
    assert (source.read_bytes() if source.exists() else None) == before
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("target", [".parquet", ".jsonl"])
def test_text_that_no_file_can_hold_is_a_bad_row(
    tmp_path: Path, target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = written(tmp_path / "rows.jsonl", [{**row(1), "problem_statement": "cut emoji \ud83d"}, row(2)])
    out = tmp_path / f"train{target}"
    assert said(capsys, "convert", data, str(out))[::2] == (0, "")
    assert read(out) == [verl(2, 0)]
    assert (
        said(capsys, "validate", data)[1].splitlines()[0]
        == "row 1: problem_statement contains an incomplete character (\\ud83d)"
    )


def test_a_byte_order_mark_belongs_to_no_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "rows.jsonl"
    data.write_text(json.dumps(row(1)) + "\n", encoding="utf-8-sig")
    assert said(capsys, "validate", str(data)) == (0, "1 good row, 0 bad\n", "")
    assert said(capsys, "convert", str(data), str(tmp_path / "train.jsonl"))[0] == 0


def test_a_name_of_a_row_cannot_command_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = written(tmp_path / "rows.jsonl", [{**row(1), "repo_name": "\x1b[2Jx"}])
    assert "1  repository \\x1b[2Jx\n" in said(capsys, "inspect", data)[1]


def test_what_pyarrow_says_in_several_lines_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "rows.parquet"
    data.write_bytes(b"PAR1" + b"\0" * 100 + b"PAR1")
    code, _, err = said(capsys, "validate", str(data))
    assert (code, len(err.splitlines())) == (2, 1)


def test_rows_that_verl_would_stumble_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = verl(1, 0)
    faults: list[tuple[dict[str, Any], str]] = [
        ({"prompt": "fix"}, "prompt is text; expected a list of messages, since verl cannot read a plain string"),
        ({"prompt": []}, "prompt is empty; expected a list of messages"),
        (
            {"prompt": [{"role": "me", "content": "x"}]},
            'prompt[0].role is "me"; expected system, user, assistant, tool',
        ),
        ({"prompt": [{"role": "user"}]}, "prompt[0].content is missing"),
        (
            {"prompt": [{"role": "user", "content": "\udca9"}]},
            "prompt[0].content contains an incomplete character (\\udca9)",
        ),
        ({"agent_name": None}, "agent_name is missing"),
        ({"reward_model": {}}, "reward_model.ground_truth is missing"),
        (
            {"reward_model": {"ground_truth": "{}"}},
            "reward_model.ground_truth: no expected tests: a run without tests would score 1",
        ),
        ({"extra_info": None}, "extra_info is missing"),
        ({"extra_info": {"task_id": ""}}, "extra_info.task_id is empty; expected text"),
    ]
    data = written(tmp_path / "train.jsonl", [good, *({**good, **change} for change, _ in faults)])
    code, out, _ = said(capsys, "validate", data)
    assert code == 1
    assert out.splitlines() == [
        *(f"row {number}: {why}" for number, (_, why) in enumerate(faults, start=2)),
        "1 good row, 10 bad",
    ]


def test_a_large_file_takes_little_memory(tmp_path: Path) -> None:
    """Ten times the rows, and no more than a few bytes for each: the rows themselves would be 40 MB."""
    script = (
        "import json, resource, sys\nfrom skyrl_train.cli.app import dispatch\n"
        "row = json.loads(sys.argv[1])\n"
        "def rows(count):\n"
        "    with open('rows.jsonl', 'w') as file:\n"
        "        for i in range(count):\n"
        "            file.write(json.dumps({**row, 'docker_image': f'n/x:{i % 50}' if i < 50 else f'n/y{i}:1'}) + '\\n')\n"
        "    dispatch(['data', 'convert', 'rows.jsonl', 'train.jsonl'])\n"
        "    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "few = rows(500); many = rows(5000)\nprint(many - few, file=sys.stderr)\n"
    )
    long = json.dumps({**ROW, "problem_statement": "It fails. " * 800})
    done = subprocess.run(
        [sys.executable, "-c", script, long], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300
    )
    assert int(done.stderr.splitlines()[-1]) < 8000


def test_the_oracle_tries_the_demonstrations_rewards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "train.jsonl"
    data.write_text("x")
    code, out, _ = said(capsys, "oracle", "demo", "--sample", "1", "--data", str(data), "--python", sys.executable)
    assert (code, out.splitlines()[-2:]) == (0, ["good        slugs:1", f"report: {data}.oracle.json"])
    report = read_report(Path(f"{data}.oracle.json").read_text())
    assert report is not None
    assert (report.bytes, [one.task_id for one in report.tasks]) == (1, ["slugs:1"])
