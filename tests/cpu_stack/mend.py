"""The command that the tiny model knows: it puts the mended files in their places."""

from pathlib import Path

from skyrl_train.demo.task import DemoTask


def write_mend(demo: DemoTask, repository: Path) -> None:
    lines = [f"cat > {path} <<'END'\n{text}\nEND\n" for path, text in demo.gold.items()]
    (repository / "mend").write_text("".join(lines), encoding="utf-8")
