"""`skyrl-train show`: one rollout of a file, a list of several, and files that are none."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from job_samples import write_rollouts
from skyrl_train.agent import journal
from skyrl_train.agent.journal import append
from skyrl_train.cli import listed_rollouts
from skyrl_train.cli.app import dispatch
from skyrl_train.contracts import rollout_summaries
from skyrl_train.contracts.agent.call_parser import parse_call
from skyrl_train.contracts.agent.calls import Ended
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.transcript import Message, Reply, Result, Step, Transcript
from skyrl_train.contracts.rewards.score import Scored
from skyrl_train.view.index import Index, cache_directory

TEXT = "<function=terminal>\n<parameter=command>ls</parameter>\n</function>"
STEP = Step(
    reply=Reply(token_ids=(1, 2), text=TEXT, ended=Ended.STOP), call=parse_call(TEXT), result=Result(text="x" * 5000)
)
ONE = Transcript(
    task_id="t",
    rollout_id="t-0",
    prompt=(Message(role="user", content="fix it"),),
    prompt_ids=(1,),
    steps=(STEP,),
    finish=Finish.FINISH_TOOL,
    score=Scored(1.0, "all 2 tests as expected"),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rollouts.jsonl"
    append(path, ONE)
    return path


def test_the_only_rollout_is_shown(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["show", str(file)]) == 0
    short = capsys.readouterr().out
    assert short.startswith("task t · rollout t-0 · 1 prompt tokens\n")
    assert short.endswith("reward 1: all 2 tests as expected\n")
    assert "characters left out here" in short
    assert dispatch(["show", str(file), "--full"]) == 0
    assert "x" * 5000 in capsys.readouterr().out


def test_several_are_listed_and_one_is_named(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    append(file, replace(ONE, rollout_id="t-1", score=None, finish=Finish.CANCELLED))
    assert dispatch(["show", str(file)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "2 rollouts; name one with --rollout ID",
        "t-0  1 turn  FINISH_TOOL  reward 1: all 2 tests as expected",
        "t-1  1 turn  cancelled  no score (masked)",
    ]
    assert dispatch(["show", str(file), "--rollout", "t-1"]) == 0
    assert "rollout t-1" in capsys.readouterr().out
    assert dispatch(["show", str(file), "--rollout", "t-2"]) == 2
    assert capsys.readouterr().err == f"skyrl-train show: {file}: no rollout t-2; the file has t-0, t-1\n"


def test_a_file_that_was_cut_off_still_shows_what_is_whole(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:100])
    assert dispatch(["show", str(file)]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("task t · rollout t-0")
    assert said.err.startswith(f"skyrl-train show: {file}, line 2: not valid JSON: Unterminated string")
    assert said.err.endswith("; the file ends within the line\n")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no transcript found"),
        (b"\x00\xff\x7fELF", "no transcript found; line 1 cannot be read: not valid JSON: Expecting value"),
        (b'{"task_id": 1}\n', "no transcript found; line 1 cannot be read: "),
        (b"[" * 100_000, "no transcript found; line 1 cannot be read: "),
    ],
)
def test_a_file_of_something_else(tmp_path: Path, content: bytes, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    assert dispatch(["show", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"skyrl-train show: {path}: {why}")


def test_a_line_that_is_too_long_ends_the_reading(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "MAX_LINE", 1024 * 1024)
    append(file, replace(ONE, detail="x" * 1024 * 1024))
    assert dispatch(["show", str(file)]) == 1
    assert capsys.readouterr().err == (
        f"skyrl-train show: {file}, line 2: longer than 1 MiB; the rest of the file was skipped\n"
    )


def test_no_file_and_no_readable_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["show", str(tmp_path / "none")]) == 2
    assert dispatch(["show", str(tmp_path)]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"skyrl-train show: {tmp_path}/none does not exist; name a job directory or a file of transcripts",
        f"skyrl-train show: {tmp_path}: no transcripts found; expected files named step_N.jsonl",
    ]


def test_a_name_cannot_command_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rollouts.jsonl"
    evil = replace(ONE, task_id="\x1b[2Jt", rollout_id="\x1b]0;x\x07", prompt=(Message(role="\x1b[2J", content="x"),))
    append(path, evil)
    assert dispatch(["show", str(path)]) == 0
    one = capsys.readouterr().out
    append(path, evil)
    assert dispatch(["show", str(path)]) == 0
    assert "\x1b" not in one + capsys.readouterr().out


TOKENIZERS = """
class Tokenizer:
    @staticmethod
    def from_file(path):
        if path != "model/tokenizer.json":
            raise Exception("No such file or directory (os error 2)")
        return Tokenizer()
    def encode(self, text, add_special_tokens):
        assert add_special_tokens is False
        self.ids = [1, 2] if text.startswith("<function=") else [1, 3]
        return self
"""


def test_the_tokens_of_a_reply_are_compared_with_those_of_its_text(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stub").mkdir()
    (tmp_path / "stub/tokenizers.py").write_text(TOKENIZERS)
    monkeypatch.syspath_prepend(str(tmp_path / "stub"))
    monkeypatch.delitem(sys.modules, "tokenizers", raising=False)
    assert dispatch(["show", str(file), "--tokenizer", "model"]) == 0
    assert capsys.readouterr().out.endswith("tokens: the text of all 1 replies gives the same tokens\n")
    other = replace(STEP, reply=replace(STEP.reply, text="other"))
    append(file, replace(ONE, rollout_id="t-1", steps=(STEP, other)))
    assert dispatch(["show", str(file), "--rollout", "t-1", "--tokenizer", "model"]) == 0
    assert capsys.readouterr().out.endswith(
        "tokens: reply 2 differs at token 1: the engine wrote 2, its text gives 3 (AGT016)\n"
    )
    assert dispatch(["show", str(file), "--tokenizer", "model"]) == 2
    assert (
        capsys.readouterr().err
        == f"skyrl-train show: {file}: 2 rollouts, but --tokenizer compares one; name it with --rollout ID\n"
    )
    assert dispatch(["show", str(file), "--rollout", "t-0", "--tokenizer", "none"]) == 2
    assert capsys.readouterr().err == "skyrl-train show: none/tokenizer.json: No such file or directory (os error 2)\n"


def test_without_the_tokenizers_package_nothing_is_compared(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    assert dispatch(["show", str(file), "--tokenizer", "model"]) == 2
    assert capsys.readouterr().err == (
        "skyrl-train show: --tokenizer needs the package tokenizers, which is not installed here; run this in the training environment\n"
    )


@pytest.fixture
def job(tmp_path: Path) -> Path:
    write_rollouts(tmp_path / "job" / "rollouts", steps=3, prompts=2, samples=4)
    return tmp_path / "job"


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert dispatch(["show", *words]) == 0
    return capsys.readouterr().out.splitlines()


def test_a_job_lists_its_rollouts_in_aligned_columns(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = listed(capsys, str(job))
    assert (len(lines), lines[-1]) == (26, "24 rollouts")
    assert [lines[0], lines[1], lines[-2]] == [
        "step  rollout  task          reward  end                     turns  time  why",
        "   3  s3p1-3   repo__task-4       1  FINISH_TOOL                 5  18 s  3 of 3 tests pass",
        "   1  s1p0-0   repo__task-1       0  FINISH_TOOL                 5  18 s  test_fix fails",
    ]


def test_the_filters_of_a_list(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert listed(capsys, str(job), "--step", "2")[-1] == "8 rollouts"
    assert listed(capsys, str(job), "--text", "no such text") == ["0 rollouts"]
    solved = listed(capsys, str(job), "--reward-from", "1", "--text", "window.owned")
    assert [line for line in solved[1:-1] if "  1  FINISH_TOOL" not in line] == []
    assert len(solved) > 3
    assert len(listed(capsys, str(job), "--failed")) + len(listed(capsys, str(job), "--reward-from", "1")) == 28


def test_a_long_list_goes_on_after_a_rollout(
    job: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    every = listed(capsys, str(job), "--failed")[1:-1]
    monkeypatch.setattr(listed_rollouts, "MOST_LISTED", 4)
    first = listed(capsys, str(job), "--failed")
    last = every[3].split()[1]
    assert first[-2:] == [
        f"… and {len(every) - 4} more: `--after {last}` lists the next 4, `--all` lists all",
        f"4 rollouts of {len(every)}",
    ]
    assert listed(capsys, str(job), "--text", "window.owned")[-2:] == [
        "… and more: `--after s3p0-3` lists the next 4, `--all` lists all",
        "4 rollouts, and more",
    ]
    assert [line.split()[1] for line in first[1:5]] == [line.split()[1] for line in every[:4]]
    assert listed(capsys, str(job), "--failed", "--after", last)[1].split()[1] == every[4].split()[1]
    assert listed(capsys, str(job), "--failed", "--all")[1:-1] == every
    assert dispatch(["show", str(job), "--after", "none"]) == 2
    assert capsys.readouterr().err == f"skyrl-train show: --after none: {job} has no rollout of this id\n"


def test_a_list_leaves_the_viewers_index_and_reads_it_again(
    job: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(listed_rollouts, "SMALL", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    listed(capsys, str(job), "--failed")
    index = Index(str(job), cache_directory())
    assert sum(index.update()) == 0
    monkeypatch.setattr(rollout_summaries, "summary_of_line", None)  # a line read again would fail
    assert listed(capsys, str(job))[-1] == "24 rollouts"
    index.close()


def test_a_cache_that_cannot_be_written_is_not_needed(
    job: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(listed_rollouts, "SMALL", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert listed(capsys, str(job))[-1] == "24 rollouts"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--step", "999"), "--step 999: {} has no rollouts of this step; its steps are 1 to 3"),
        (("--tool", "finsh"), "--tool finsh: no rollout has this value; did you mean finish?"),
        (("--tool", "zzz"), "--tool zzz: no rollout has this value; the rollouts have execute_bash, finish"),
        (("--end", "max_iter"), "--end max_iter: no rollout has this value; did you mean max_iterations_reached?"),
    ],
)
def test_a_value_that_no_rollout_has(
    job: Path, words: tuple[str, str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dispatch(["show", str(job), *words]) == 2
    assert capsys.readouterr().err == f"skyrl-train show: {why.format(job)}\n"


def test_an_end_that_no_rollout_has_had_yet(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert listed(capsys, str(job), "--end", "ROLLOUT_TIMEOUT") == ["0 rollouts"]


def test_a_bundle_names_its_summaries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "job/rollout_summaries.jsonl").touch()
    assert dispatch(["show", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"skyrl-train show: {tmp_path}: a bundle holds a summary of each rollout ({tmp_path}/job/rollout_summaries.jsonl) "
        f"but no transcripts; `skyrl-doctor report {tmp_path}` shows the summaries\n"
    )


def test_a_rollout_of_a_job_is_found(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert listed(capsys, str(job), "--rollout", "s2p1-3")[0].startswith("task repo__task-3 · rollout s2p1-3")
    assert dispatch(["show", str(job), "--rollout", "none"]) == 2
    assert "list them with skyrl-train show" in capsys.readouterr().err
