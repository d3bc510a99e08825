"""The program that measures prompts, run as the doctor runs it, with acted-out tokenizers and pyarrow."""

import json
import os
import subprocess
import sys
from pathlib import Path

import skyrl_doctor.children
from skyrl_doctor.facts.prompts import PromptLengths, parse_prompts

CHILD = Path(skyrl_doctor.children.__file__ or "").with_name("prompt_lengths.py")
FAKES = Path(__file__).parents[2] / "fakes" / "datasets"


def ask(
    file: Path, *, sample: int = 100, tokenizer: str = "tokenizer.json", fakes: Path = FAKES
) -> PromptLengths | str:
    spec = {"file": str(file), "tokenizer": tokenizer, "key": "prompt", "sample": sample}
    done = subprocess.run(
        [sys.executable, "-B", str(CHILD), json.dumps(spec)],
        env={"PATH": os.defpath, "PYTHONPATH": str(fakes)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert done.stderr == ""
    return parse_prompts(done.stdout, "child")


def words(count: int) -> str:
    return "word " * count


def test_percentiles_of_lines(tmp_path: Path) -> None:
    file = tmp_path / "train.jsonl"
    file.write_text("".join(json.dumps({"prompt": words(n)}) + "\n" for n in range(1, 101)))
    found = ask(file, sample=1000)
    assert found == PromptLengths(file=str(file), count=100, rows=100, p50=56, p95=101, longest=105)
    assert found.summary == f"p95 of 100 of 100 prompts in {file}; p50 56, longest 105"


def test_a_sample_of_lines_is_spread_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "train.jsonl"
    file.write_text("".join(json.dumps({"prompt": words(100 + n)}) + "\n" for n in range(1000)))
    found = ask(file, sample=10)
    assert isinstance(found, PromptLengths)
    assert (found.count, found.longest > 900, abs(found.rows - 1000) < 300) == (10, True, True)


def test_parquet_is_sampled_over_its_groups_and_not_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "train.parquet"
    message = [{"role": "user", "content": words(10)}, {"role": "system", "content": words(5)}]
    file.write_text(json.dumps({"groups": [[{"prompt": message}] * 2000 for _ in range(4)]}))
    assert ask(file, sample=40) == PromptLengths(file=str(file), count=40, rows=8000, p50=25, p95=25, longest=25)
    decoded = sum(int(line) for line in Path(f"{file}.decoded").read_text().split())
    assert decoded == 256  # of 8,000: a batch of 64 of each group


def test_why_there_are_no_lengths(tmp_path: Path) -> None:
    odd = {
        "a.csv": ("x", "{0} is neither parquet nor JSON lines"),
        "b.jsonl": ("{}\n", "{0} cannot be read: KeyError: 'prompt'"),
        "c.jsonl": ('{"prompt": 3}\n', "a prompt has type int; expected a string or a list of messages"),
        "d.jsonl": ("", "{0} has no prompt under 'prompt'"),
        "e.parquet": ("not parquet", "{0} cannot be read: Expecting value: line 1 column 1 (char 0)"),
        "f.parquet": ('{"groups": [[{"text": "x"}]]}', "{0} has no column 'prompt'"),
    }
    for name, (text, why) in odd.items():
        file = tmp_path / name
        file.write_text(text)
        assert ask(file) == why.format(file)
    good = tmp_path / "g.jsonl"
    good.write_text('{"prompt": "x"}\n')
    assert ask(good, tokenizer="broken.json") == "broken.json cannot be loaded: expected value at line 1"
    assert ask(tmp_path / "none.jsonl") == (
        f"{tmp_path}/none.jsonl cannot be read: FileNotFoundError: [Errno 2] No such file or directory: '{tmp_path}/none.jsonl'"
    )


def test_without_the_packages_the_bounds_serve(tmp_path: Path) -> None:
    file = tmp_path / "x.parquet"
    file.write_text("{}")
    assert ask(file, fakes=tmp_path) == "the package tokenizers is not installed"
