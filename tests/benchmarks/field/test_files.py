"""Files of a checkout, and the third that is kept back."""

from pathlib import Path

from benchmarks.field.files import Checkout, File, files_of


def test_scripts_and_configurations_are_found(tmp_path: Path) -> None:
    root = tmp_path / "owner+name"
    for name in (
        "a/run.sh",
        "b.toml",
        "c.yaml",
        "job.slurm",
        ".git/x.sh",
        "pyproject.toml",
        "notes.md",
        ".github/ci.yml",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    assert files_of(Checkout(root)) == [
        File("owner/name", "a/run.sh"),
        File("owner/name", "b.toml"),
        File("owner/name", "c.yaml"),
        File("owner/name", "job.slurm"),
    ]


def test_about_a_third_is_hidden_and_always_the_same() -> None:
    hidden = sum(File("s", f"examples/{number}.sh").is_hidden for number in range(300))
    assert 80 <= hidden <= 120
    assert File("s", "examples/0.sh").is_hidden == File("other", "examples/0.sh").is_hidden
