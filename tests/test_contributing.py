"""What contributors are held to before a commit."""

import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
LONG = "Add " + "x" * 69


@pytest.mark.parametrize(
    ("message", "accepted"),
    [
        ("[GPU001] Name the slice by number\n\nvLLM reads no UUID.\n", True),
        ("Add a check\n\n# a comment of git\nA body.\n", True),
        ("Merge branch 'x'\n", True),
        ("Add a check\n", False),
        ("Add a check\n\n# only a comment of git\n", False),
        ("Add a check\nNo empty line.\n\nA body.\n", False),
        (f"{LONG}\n\nA body.\n", False),
    ],
)
def test_a_commit_message_has_a_short_subject_and_a_body(tmp_path: Path, message: str, accepted: bool) -> None:
    file = tmp_path / "COMMIT_EDITMSG"
    file.write_text(message)
    done = subprocess.run([ROOT / ".ci/commit-message", file], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode == 0, bool(done.stderr)) == (accepted, not accepted)


def test_each_hook_runs_a_program_that_make_test_installs() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    entries = [hook["entry"].split()[0] for repo in config["repos"] for hook in repo["hooks"]]
    assert [repo["repo"] for repo in config["repos"]] == ["local"]
    assert {entry.rpartition("/")[0] for entry in entries} == {".venv-dev/bin", ".ci"}


def test_each_changelog_fragment_has_a_known_type() -> None:
    names = [path.name for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md"]
    kinds = {"added", "changed", "fixed", "removed"}
    assert [name for name in names if name.split(".")[-2:-1] == [] or name.split(".")[-2] not in kinds] == []
