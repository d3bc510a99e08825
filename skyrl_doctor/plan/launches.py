"""Finds the programs that a shell script starts: `python -m X`, `python file.py`, `uv run rl`, behind any wrapper."""

import dataclasses
import re

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.stray_words import is_stray
from skyrl_doctor.plan.syntax.shell import Script
from skyrl_doctor.plan.syntax.shell_programs import GATE, SCRIPTS, SHELLS, WRAPPERS, base, script_at
from skyrl_doctor.plan.syntax.shell_script import Job
from skyrl_doctor.plan.syntax.shell_values import Word

MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_RUNNERS = re.compile(
    r"python[\d.]*|torchrun|accelerate|deepspeed|torch\.distributed\.(?:run|launch)|accelerate\.commands\.launch"
)
"""Programs that start the Python program among their arguments."""
_STARTS = {
    "ray": ("submit",),
    "conda": ("run",),
    "micromamba": ("run",),
    "poetry": ("run",),
    "pixi": ("run",),
    "docker": ("run", "exec"),
    "podman": ("run", "exec"),
    "kubectl": ("exec",),
    "apptainer": ("run", "exec"),
    "singularity": ("run", "exec"),
}
"""The commands of a wrapper that start a program."""
_UV_VALUED = frozenset(
    [
        "--extra",
        "--with",
        "--with-editable",
        "--with-requirements",
        "--env-file",
        "--python",
        "-p",
        "--directory",
        "--project",
        "--group",
        "--only-group",
        "--no-extra",
        "--index",
        "--default-index",
        "--index-url",
        "--extra-index-url",
        "--package",
        "--config-file",
        "--cache-dir",
        "--link-mode",
    ]
)
_HARMLESS = frozenset(
    "ALIAS : . [ [[ ] ]] alias awk basename bc break builtin cat cd chmod chown clear column continue cp curl cut date declare "
    "df diff dirname disown du echo eval exit export false fi find free git grep head hf hostname huggingface-cli id ip jq kill "
    "let ln local ls lscpu mkdir mkfifo mktemp ml modal module mv nproc nvcc nvidia-smi pip pip3 pkill popd printenv printf ps "
    "pushd pwd read readlink readonly realpath return rm rmdir rsync sed seq set shift shopt sleep sort source ssh stat stty tail "
    "tar tee test touch tput tr trap true type typeset ulimit umask unalias uname uniq unset unzip wait wandb wc wget which who "
    "whoami xdg-open yes zip".lower().split()
)
"""Commands that prepare, print or clean up. They start no training."""
_HARMLESS_MODULES = (
    "pip",
    "venv",
    "ensurepip",
    "json",
    "site",
    "http",
    "zipfile",
    "huggingface_hub",
    "virtualenv",
    "skyrl_doctor",
)
SILENT = ("echo", "printf", "grep", "pkill", "pgrep", "cat", "ls", "sed", "awk", "kill", "rm", "export")
"""Commands whose arguments are text."""


@record
class Launch:
    """A program that a script starts, and the words after its name.

    `name` is a module (`verl.trainer.main_ppo`), the path of a Python file, or a command (`rl`).
    """

    name: str
    words: tuple[Word, ...]
    line: int
    is_module: bool = False
    job: Job | None = None
    file: str = ""
    """The file that holds the line; empty for the target itself."""
    at: int = 0
    """The number of its command in the script."""

    @property
    def script(self) -> str:
        """The shell script that it is, or an empty text."""
        return next((word for word in reversed(self.name.split()) if word.endswith(SCRIPTS)), "")

    @property
    def is_python(self) -> bool:
        return self.is_module or self.name.endswith(".py")

    @property
    def module(self) -> str:
        """The module, also of a file: `skyrl/train/main_sft.py` is `skyrl.train.main_sft`."""
        return self.name if self.is_module else self.name.removesuffix(".py").replace("/", ".").lstrip(".")


def launches(script: Script) -> tuple[Launch, ...]:
    """Every program that the script starts, in order, without commands that only prepare or print."""
    return tuple(
        dataclasses.replace(found, job=command.job, file=command.file, at=at)
        for at, command in enumerate(script.commands)
        if not is_stray(command) and (found := launch_of(command.words)) is not None
    )


def launch_of(words: tuple[Word, ...]) -> Launch | None:
    """The program that one command starts; None if it only prepares or prints."""
    words = _without_assignments(words)
    if not words or base(words[0]) in SILENT:
        return None
    return _python_program(words) or _command(words)


def _python_program(words: tuple[Word, ...]) -> Launch | None:
    """The module after the last `-m`, or the first Python file, where no option of a program comes before it."""
    if any(base(word) == "pytest" for word in words):
        return None  # its `-m` selects tests
    for at, word in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else None
        if word.text == "-m" and after is not None and MODULE.fullmatch(after.text):
            if _RUNNERS.fullmatch(after.text):
                return _python_program(words[at + 2 :]) or Launch(
                    after.text, words[at + 2 :], word.line, is_module=True
                )
            if after.text.partition(".")[0] in _HARMLESS_MODULES:
                return None
            return Launch(after.text, words[at + 2 :], word.line, is_module=True)
        if word.text == "-c" and at and _RUNNERS.fullmatch(base(words[at - 1])):
            return None  # a line of Python
        if word.text.endswith(".py") and "=" not in word.text:
            return Launch(word.text, words[at + 1 :], word.line)
    return None


def _command(words: tuple[Word, ...]) -> Launch | None:
    """The command behind its wrappers."""
    name = base(words[0])
    if name in _HARMLESS or name == GATE or name.endswith("()"):
        return None
    if name in ("uv", "uvx"):
        return _of_uv(words)
    if name in WRAPPERS:
        inner = _unwrapped(words)
        return launch_of(inner) if inner else None
    if _RUNNERS.fullmatch(name):
        if name.startswith("python"):  # `python -c …` and `python -m pip` prepare
            words = words[1:]
        return None if not words or words[0].text.startswith("-") else Launch(words[0].text, words[1:], words[0].line)
    if name in SHELLS and len(words) > 1:
        return Launch(f"{name} {words[1].text}", words[2:], words[0].line)
    return Launch(words[0].text, words[1:], words[0].line)


def _of_uv(words: tuple[Word, ...]) -> Launch | None:
    """What `uv run` starts. Its other commands prepare."""
    at = 1
    if base(words[0]) == "uv":
        at = next((index for index, word in enumerate(words) if word.text == "run"), 0) + 1
        if at == 1:
            return None
    while at < len(words) and words[at].text.startswith("-"):
        at += 2 if words[at].text in _UV_VALUED else 1
    return launch_of(words[at:]) if at < len(words) else None


def _unwrapped(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The command of a wrapper: what follows `--`, else from the first program that is known to start others."""
    at = script_at(words)
    if at is not None:
        return words[at:]
    rest = words[1:]
    starts = _STARTS.get(base(words[0]))
    if starts is not None:
        verb = next((at for at, word in enumerate(rest) if word.text in starts), None)
        if verb is None:
            return ()  # `ray start`, `conda activate`
        rest = rest[verb + 1 :]
    dashes = next((at for at, word in enumerate(rest) if word.text == "--"), None)
    if dashes is not None:
        return rest[dashes + 1 :]
    known = (at for at, word in enumerate(rest) if _RUNNERS.fullmatch(base(word)) or base(word) in WRAPPERS)
    first = next(known, None)
    if first is not None:
        return rest[first:]
    plain = (at for at, word in enumerate(rest) if not word.text.startswith("-") and not word.text[:1].isdigit())
    last = next(plain, None)
    return () if last is None else rest[last:]


def _without_assignments(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """`A=1 python x` as `python x`, which is how `env A=1` and an expanded variable write it."""
    at = 0
    while at < len(words) and re.match(r"[A-Za-z_]\w*=", words[at].text):
        at += 1
    return words[at:]
