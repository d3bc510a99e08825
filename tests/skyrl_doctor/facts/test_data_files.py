"""The files of tasks that a plan names."""

import pytest

from fakes.podman_store import IDENTITY
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.data_files import DataFile, data_files
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.machine.recorded import RecordedMachine
from support import plan_of

STAT: dict[str, object] = {
    "kind": "file", "mode": 420, "uid": 0, "gid": 0, "size": 5, "mtime": 1.0, "device": 1, "inode": 1
}  # fmt: skip


def look(answers: dict[str, object], **plan: object) -> list[tuple[str, str, str]]:
    machine = RecordedMachine(
        {"identity": IDENTITY, **{f"stat {path}": answer for path, answer in answers.items()}}, strict=True
    )
    found: tuple[DataFile, ...] = data_files(machine, plan_of(**plan), Environ({"HOME": "/home/ada"})).files
    return [(file.key.removeprefix("data."), file.path, file.wrong or file.unsure) for file in found]


def test_every_file_is_looked_at() -> None:
    answers: dict[str, object] = {
        "/home/ada/a.parquet": STAT,
        "b.jsonl": {**STAT, "size": 0},
        "/c": {**STAT, "kind": "dir"},
        "/d.jsonl": {**STAT, "kind": "fifo"},
        "/e.jsonl": {"absent": "/e.jsonl"},
        "/f.jsonl": {"unreadable": "/f.jsonl", "why": "Permission denied"},
    }
    files = ["~/a.parquet", "b.jsonl", "/c", "/d.jsonl"]
    assert look(answers, data__train_files=files, data__val_files=["/e.jsonl", "/f.jsonl"]) == [
        ("train_files", "/home/ada/a.parquet", ""),
        ("train_files", "b.jsonl", "is empty"),
        ("train_files", "/c", "is a directory"),
        ("train_files", "/d.jsonl", "is a fifo"),
        ("val_files", "/e.jsonl", "does not exist"),
        ("val_files", "/f.jsonl", "/f.jsonl: Permission denied"),
    ]


@pytest.mark.parametrize("files", [[], ["s3://bucket/train.parquet", "$DATA/train.parquet"]])
def test_what_lies_elsewhere_is_not_looked_for(files: list[str]) -> None:
    with pytest.raises(NotApplicable, match="names no data file on this machine"):
        look({}, data__train_files=files)


def test_without_a_home_nobody_knows_where_a_file_lies() -> None:
    plan = plan_of(data__train_files=["~/a.parquet"])
    with pytest.raises(CouldNotLook, match="HOME is not set"):
        data_files(RecordedMachine({}, strict=True), plan, Environ({}))
