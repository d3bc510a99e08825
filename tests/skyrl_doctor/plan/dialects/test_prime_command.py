"""A script that starts a program of prime-rl with files and options."""

from pathlib import Path

import pytest

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.plan.load import load
from skyrl_doctor.plan.model import Plan

RUN = """\
max_steps = 20
[model]
name = "Qwen/Qwen3-0.6B"
[trainer]
[orchestrator]
batch_size = 128
"""


def started(folder: Path, script: str, text: str = RUN) -> Plan:
    (folder / "configs").mkdir()
    (folder / "configs" / "rl.toml").write_text(text, encoding="utf-8")
    (folder / "more.toml").write_text("max_steps = 30\n", encoding="utf-8")
    (folder / "run.sh").write_text(script, encoding="utf-8")
    return load(LocalMachine(), (str(folder / "run.sh"),))


@pytest.mark.parametrize(
    ("words", "steps"),
    [
        ("uv run rl @ configs/rl.toml", 20),
        ("uv run --no-sync rl @configs/rl.toml", 20),
        ("uv run rl @ configs/rl.toml @ more.toml", 30),
        ("uv run rl @ configs/rl.toml --max-steps 40 --clean", 40),
        ("N=50\npython -m prime_rl.rl @ configs/rl.toml --max-steps=$N", 50),
    ],
)
def test_files_and_options_make_one_run(tmp_path: Path, words: str, steps: int) -> None:
    found = started(tmp_path, f"{words}\n")
    assert found.is_of("prime-rl")
    assert found.own["max_steps"].value == steps
    assert found.text("model.path") == "Qwen/Qwen3-0.6B"


def test_an_unknown_key_is_told_where_it_is_written(tmp_path: Path) -> None:
    found = started(tmp_path, "uv run rl @ configs/rl.toml --orchestrator.bach-size 3\n", f"{RUN}nonsense = 1\n")
    places = [(problem.location.file.rpartition("/")[2], problem.location.key) for problem in found.problems]
    assert places == [("rl.toml", "orchestrator.nonsense"), ("run.sh", "orchestrator.bach_size")]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("uv run rl @ configs/none.toml", "line 1: cannot find configs/none.toml"),
        ("uv run rl @ $1", r"the file of rl is unknown: \$1"),
        ("uv run rl --max-steps 3", "starts rl, which the doctor does not know"),
        ("other @ configs/rl.toml", "starts other, which the doctor does not know"),
    ],
)
def test_a_start_without_its_file_is_refused(tmp_path: Path, words: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        started(tmp_path, f"{words}\n")
