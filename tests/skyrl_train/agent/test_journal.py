"""Transcripts in files."""

from dataclasses import replace
from pathlib import Path

from skyrl_train.agent.journal import Unreadable, append, read
from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.transcript import Message, Transcript

TRANSCRIPT = Transcript(
    task_id="t",
    rollout_id="t-0",
    prompt=(Message(role="user", content="zwei\nZeilen\u2028 é"),),
    prompt_ids=(1,),
    steps=(),
    finish=Finish.CANCELLED,
)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "transcripts.jsonl"
    other = replace(TRANSCRIPT, rollout_id="t-1")
    append(path, TRANSCRIPT)
    append(path, other)
    assert list(read(path)) == [TRANSCRIPT, other]
    assert path.read_bytes().count(b"\n") == 2


def test_a_torn_line_takes_no_other_with_it(tmp_path: Path) -> None:
    path = tmp_path / "transcripts.jsonl"
    append(path, TRANSCRIPT)
    whole = path.read_bytes()
    path.write_bytes(whole + b"\xff\n" + b"[" * 100_000 + b"\n" + b"{}\n" + whole + whole[:40])
    first, junk, deep, empty, again, torn = read(path)
    assert first == again == TRANSCRIPT
    assert [line.line for line in (junk, deep, empty, torn) if isinstance(line, Unreadable)] == [2, 3, 4, 6]


def test_no_text_keeps_a_rollout_out_of_its_file(tmp_path: Path) -> None:
    """An error that names a file whose name is no UTF-8, say."""
    append(tmp_path / "j", replace(TRANSCRIPT, detail="no such file: caf\udce9"))
    assert [line.detail for line in read(tmp_path / "j") if isinstance(line, Transcript)] == ["no such file: caf?"]
