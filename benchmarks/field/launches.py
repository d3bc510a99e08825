"""Finds the training program among the arguments that a script built, and the source file of that program."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from benchmarks.field.sandbox import Started

_MODULE = re.compile(r"[A-Za-z_][\w]*(?:\.[A-Za-z_][\w]*)+")
_STARTERS = ("torch.distributed", "accelerate.commands", "debugpy", "pip", "pdb", "cProfile")
_PRIME = ("rl", "sft", "inference", "orchestrator", "trainer", "evals")
_SILENT = ("echo", "printf", "pip", "git", "grep", "pkill", "cat", "ls", "mkdir", "rm", "docker")
_TRAINS = re.compile(r"(?:main|train|trainer|ppo|grpo|sft)(?:_\w+)?$|_(?:main|train|trainer)$")
_SKYRL = re.compile(r"SkyRLTrainConfig|SFTConfig|from_cli_overrides|make_config|BasePPOExp")


@dataclass(frozen=True)
class Launch:
    """A training program: its kind (hydra, skyrl, prime, other), its source file, directory and arguments."""

    kind: str
    program: str
    file: str | None
    directory: str
    arguments: tuple[str, ...]

    @property
    def is_training(self) -> bool:
        """Whether it trains: a program with a known configuration, or one whose name says so."""
        return self.kind != "other" or _TRAINS.search(self.program.removesuffix(".py")) is not None

    def found_in(self, tree: Path) -> "Launch":
        """The same launch of a module whose file is in this tree alone."""
        file = tree / f"{self.program.replace('.', '/')}.py"
        if self.file is not None or not _MODULE.fullmatch(self.program) or not file.is_file():
            return self
        return Launch(_kind(file), self.program, str(file), self.directory, self.arguments)

    def beside(self, folder: Path, root: Path) -> "Launch":
        """The same launch of a file that is found from the script's folder, or from one above it below the root."""
        if self.file is not None or not self.program.endswith(".py"):
            return self
        for start in (folder, *folder.parents):
            if not start.is_relative_to(root):
                break
            if (start / self.program).is_file():
                file = start / self.program
                return Launch(_kind(file), self.program, str(file), str(start), self.arguments)
        return self

    def moved(self, old: Path, new: Path) -> "Launch":
        """The same launch with another directory in place of `old`."""
        file, directory, *arguments = (
            text.replace(str(old), str(new)) for text in (self.file or "", self.directory, *self.arguments)
        )
        return Launch(self.kind, self.program, file or None, directory, tuple(arguments))


@dataclass(frozen=True)
class HydraMain:
    """The arguments of `@hydra.main`."""

    config_path: str | None
    config_name: str | None


def launch_of(started: Started, tree: Path, root: Path) -> Launch | None:
    """The program that these arguments start, or None if they start no Python program."""
    words, directory = started.argv, Path(started.directory)
    name = words[0].rpartition("/")[2]
    if name in _SILENT or "pytest" in words[:6]:
        return None
    prime = next((i for i, word in enumerate(words[:6]) if word in _PRIME and "@" in words[i + 1 : i + 2]), None)
    if prime is not None:
        return Launch("prime", words[prime], None, started.directory, words[prime + 1 :])
    for index, word in enumerate(words):
        before = words[index - 1] if index else ""
        if before == "-m" and _MODULE.fullmatch(word) and not word.startswith(_STARTERS):
            file = _file_of_module(word, directory, tree, root)
            return Launch(_kind(file), word, file and str(file), started.directory, words[index + 1 :])
        if word.endswith(".py") and "=" not in word and index and not word.startswith("-"):
            found = directory / word
            file = found if found.is_file() else None
            return Launch(_kind(file), word, file and str(found), started.directory, words[index + 1 :])
    return None


def hydra_main(file: Path) -> HydraMain | None:
    """The arguments of the file's `@hydra.main`, or None."""
    try:
        tree = ast.parse(file.read_text(encoding="utf-8", errors="replace"))
    except (SyntaxError, OSError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("hydra.main", "main_decorator"):
            given = {word.arg: word.value for word in node.keywords}
            texts = {
                name: value.value
                for name, value in given.items()
                if isinstance(value, ast.Constant) and isinstance(value.value, str)
            }
            return HydraMain(texts.get("config_path"), texts.get("config_name"))
    return None


def folder_with(name: str, file: Path, tree: Path) -> str | None:
    """The folder of NAME.yaml that is nearest to a program which computes its config_path."""
    for folder in file.parents:
        found = sorted(folder.rglob(f"{name}.yaml"))
        if found or folder == tree:
            return str(found[0].parent) if found else None
    return None


def _kind(file: Path | None) -> str:
    if file is None:
        return "other"
    if hydra_main(file) is not None:
        return "hydra"
    return "skyrl" if _SKYRL.search(file.read_text(encoding="utf-8", errors="replace")) else "other"


def _file_of_module(module: str, directory: Path, tree: Path, root: Path) -> Path | None:
    path = module.replace(".", "/")
    for base in dict.fromkeys((directory, root, tree)):
        for name in (f"{path}.py", f"{path}/__main__.py"):
            if (base / name).is_file():
                return base / name
    found = sorted(tree.glob(f"*/{path}.py"))
    return found[0] if found else None
