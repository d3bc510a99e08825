"""Commands inside `bash -c "…"`, as containers and several nodes are started."""

from pathlib import Path

import pytest

from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.plan.inner_scripts import with_inner_commands
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.shell import Script, read_script

RUN = "python3 -m verl.trainer.main_ppo trainer.nnodes=2"


def read(text: str) -> Script:
    script = read_script(Source("run.sh", text), {})
    with_inner_commands(script, text)
    return script


def words(text: str) -> list[str]:
    return [" ".join(word.text for word in command.words) for command in read(text).commands]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"bash -c '{RUN}'", [RUN]),
        (f"srun --ntasks=2 bash -lc '{RUN}'", [f"srun --ntasks=2 {RUN}"]),
        (f"apptainer exec --nv x.sif sh -c \"cd /w; {RUN}\"", [f"apptainer exec --nv x.sif {RUN}"]),
        ("N=2\nexport M=x\nbash -c \"echo a$N \\$M\"", ["echo a2 x"]),
        ("export M=x; bash -c 'bash -c \"echo $M\"'", ["echo x"]),
        ("echo bash -c 'rm x'", ["echo bash -c rm x"]),
        ("bash run.sh -c x", ["bash run.sh -c x"]),
    ],
)  # fmt: skip
def test_inner_commands_stand_behind_their_wrapper(text: str, found: list[str]) -> None:
    assert [one for one in words(text) if not one.startswith("export")] == found


def test_places_are_those_of_the_file() -> None:
    text = f"A=1\nsrun bash -c '\n  {RUN}'\n"
    (command,) = (one for one in read(text).commands if one.name == "srun")
    last = command.words[-1]
    start, end = last.span
    assert (last.line, text.encode()[start:end]) == (3, b"trainer.nnodes=2")


def test_a_fault_inside_is_found_and_mended_in_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "run.sh"
    script.write_text(
        "apptainer exec x.sif bash -c 'python3 -m verl.trainer.main_ppo trainer.nodes=2'\n", encoding="utf-8"
    )
    assert (
        dispatch(["fix", str(script), "--structure-only", "--verl-version", "0.9.1", "--select", "CFG004", "--apply"])
        == 0
    )
    assert script.read_text(encoding="utf-8").endswith("main_ppo trainer.nnodes=2'\n"), capsys.readouterr().out


def test_a_text_that_was_put_together_is_not_edited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The script's words do not stand in the file as they are."""
    script = tmp_path / "run.sh"
    text = 'N=8\nbash -c "python3 -m verl.trainer.main_ppo trainer.n_gpus_per_node=$N data.train_batch_size=4"\n'
    script.write_text(text, encoding="utf-8")
    dispatch(["fix", str(script), "--structure-only", "--verl-version", "0.9.1", "--select", "CFG002", "--apply"])
    changed = script.read_text(encoding="utf-8")
    assert changed.startswith('N=8\nbash -c "python3 -m verl.trainer.main_ppo trainer.n_gpus_per_node=$N'), changed
    capsys.readouterr()
