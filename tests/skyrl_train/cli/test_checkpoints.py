import json
import os
import sys
import time
from pathlib import Path

import pytest

from checkpoint_files import save
from skyrl_train.checkpoints import finish
from skyrl_train.cli.app import dispatch

Output = pytest.CaptureFixture[str]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    for step in (1, 2, 3):
        save(tmp_path, step)
        finish(str(tmp_path), step)
        os.utime(tmp_path / f"global_step_{step}/skyrl_complete.json", (step * 60, step * 60))
    return tmp_path


def output(capsys: Output, *words: str) -> tuple[int, str, str]:
    status = dispatch(["checkpoints", *words])
    out, err = capsys.readouterr()
    return status, out, err


def test_list_points_at_the_one_that_a_resume_takes(root: Path, capsys: Output) -> None:
    (root / "global_step_3/data.pt").unlink()
    line = (
        "   global_step_1          0.00 GiB  1970-01-01 00:01  1 GPU  complete\n"
        "-> global_step_2          0.00 GiB  1970-01-01 00:02  1 GPU  complete\n"
        "   global_step_3          0.00 GiB  1970-01-01 00:03  1 GPU  broken\n"
        "       data.pt was removed after it was saved\n"
        "       data.pt is missing, which verl writes last\n"
        "a resume loads global_step_2; the tracker contains '3' and the next start repairs it\n"
    )
    assert output(capsys, "list", str(root)) == (0, line, "")


def test_list_for_a_program(root: Path, capsys: Output) -> None:
    status, out, _ = output(capsys, "list", "--format", "json", str(root / "global_step_2"))
    found = json.loads(out)
    assert output(capsys, "list", "--format", "json", str(root / "global_step_2/actor"))[1] == out
    assert (status, found["schema"], found["tracker"], found["last_good"]) == (0, 1, 3, 3)
    (one,) = found["checkpoints"]
    assert (one["step"], one["state"], one["marked"], one["ranks"], one["faults"]) == (2, "complete", True, [1], [])


def test_verify_names_what_is_wrong(root: Path, capsys: Output) -> None:
    assert output(capsys, "verify", str(root), "--deep")[0] == 0
    status, out, _ = output(capsys, "verify", str(root / "global_step_2"), "--gpus", "4")
    assert (status, out.splitlines()[1:]) == (
        1,
        ["       it was saved by 1 GPU, but this run has 4; the numbers must be equal"],
    )
    path = root / "global_step_1/actor/model_world_size_1_rank_0.pt"
    data = bytearray(path.read_bytes())
    middle = data.index(b"archive/data/0") + 50
    data[middle] ^= 1
    path.write_bytes(data)
    (root / "global_step_1/skyrl_complete.json").unlink()
    assert output(capsys, "verify", str(root / "global_step_1"))[0] == 0
    status, out, _ = output(capsys, "verify", str(root / "global_step_1"), "--deep")
    name = "actor/model_world_size_1_rank_0.pt"
    assert (status, out.splitlines()[1:]) == (
        1,
        [f"       {name}: the checksum of archive/data/0 does not match: the file is damaged"],
    )


def test_a_fault_is_told_once(root: Path, capsys: Output) -> None:
    (root / "global_step_2/actor/model_world_size_1_rank_0.pt").write_bytes(b"no zip")
    (root / "global_step_2/skyrl_complete.json").unlink()
    _, out, _ = output(capsys, "verify", str(root / "global_step_2"), "--deep")
    assert [line.strip() for line in out.splitlines()[1:]] == [
        "actor/model_world_size_1_rank_0.pt: the zip directory at its end is missing: the write was interrupted"
    ]


def test_prune_shows_before_it_removes(root: Path, capsys: Output) -> None:
    status, out, _ = output(capsys, "prune", "--keep", "1", str(root))
    assert (status, [line[:26] for line in out.splitlines()]) == (
        0,
        [
            "would remove global_step_1 ",
            "would remove global_step_2 ",
            "kept global_step_3        ",
            "0.00 GiB; --apply removes ",
        ],
    ) or out
    assert len(list(root.glob("global_step_*"))) == 3
    status, out, _ = output(capsys, "prune", "--keep", "1", "--apply", "--format", "json", str(root))
    assert json.loads(out)["removed"] == [1, 2]
    assert [path.name for path in root.glob("global_step_*")] == ["global_step_3"]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            ["list", "/no/such"],
            "/no/such is not a directory; give a directory of checkpoints (global_step_N) or the job directory of a launch",
        ),
        (["verify", "{empty}"], "{empty}: no checkpoint found; expected global_step_N"),
        (["merge", "{empty}", "--to", "{empty}/m"], "{empty}: no complete checkpoint to merge"),
        (["prune", "--keep", "0", "{root}"], "keep is 0; expected at least 1"),
        (["verify", "--gpus", "0", "{root}"], "--gpus is 0; expected 1 or more"),
        *(
            (
                ["merge", "{root}", "--to", "{root}/m", "--limit", limit],
                f"--limit is {limit}; expected seconds, at most a week (604800)",
            )
            for limit in ("nan", "inf", "0", "-1")
        ),
        (["merge", "{root}", "--to", "{root}"], "{root} exists already; name a new directory"),
        (["merge", "{root}", "--to", "{root}/a/b"], "{root}/a is not a directory; make it first, or name another one"),
        (
            ["merge", "{root}", "--critic", "--to", "{root}/m"],
            "{root}/global_step_3 cannot be merged: critic/ has no model shard",
        ),
        (
            ["merge", "{root}", "--to", "{root}/m", "--python", "/no/python"],
            "/no/python: No such file or directory; pass --python with a Python that has torch and transformers",
        ),
    ],
)
def test_what_cannot_be_done_is_said(
    words: list[str], why: str, root: Path, tmp_path_factory: pytest.TempPathFactory, capsys: Output
) -> None:
    names = {"root": str(root), "empty": str(tmp_path_factory.mktemp("empty"))}
    status, out, err = output(capsys, *(word.format(**names) for word in words))
    assert (status, out, err) == (2, "", f"skyrl-train checkpoints: {why.format(**names)}\n")


def python(place: Path, body: str) -> str:
    path = place / "python"
    path.write_text(f"#!{sys.executable}\nimport os, sys\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_merge_gives_the_model_its_name_when_it_is_whole(root: Path, capsys: Output) -> None:
    fake = python(root, 'os.mkdir(sys.argv[3]); print(\'noise\\n{"tensors": 5, "adapters": 2}\')')
    assert output(capsys, "merge", str(root), "--to", f"{root}/m", "--python", fake)[:2] == (
        0,
        f"model with 5 tensors, 2 of them with the adapter merged: {root}/m\n",
    )
    assert (root / "m").is_dir()


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("os.mkdir(sys.argv[3]); sys.exit('no torch here')", "no torch here"),
        ("os.mkdir(sys.argv[3]); os._exit(3)", "exit status 3"),
        (
            "import no_such_torch",
            "ModuleNotFoundError: No module named 'no_such_torch'; pass --python with a Python that has torch and transformers",
        ),
        ("os.mkdir(sys.argv[3]); print('{}')", "exit status 0"),
    ],
)
def test_a_merge_that_fails_leaves_nothing(body: str, why: str, root: Path, capsys: Output) -> None:
    fake = python(root, body)
    status, _, err = output(capsys, "merge", str(root), "--to", f"{root}/m", "--python", fake)
    assert (status, err) == (2, f"skyrl-train checkpoints: the merge failed: {why}\n")
    assert not list(root.glob("m*"))
