"""Programs that start other programs, and the script file that a command starts behind them."""

from collections.abc import Sequence

from skyrl_doctor.plan.syntax.shell_values import Word

SHELLS = ("bash", "sh", "zsh", "dash")
SCRIPTS = (".sh", ".bash", ".sbatch", ".slurm")
WRAPPERS = frozenset(
    [
        "apptainer",
        "command",
        "conda",
        "docker",
        "enroot",
        "env",
        "exec",
        "kubectl",
        "micromamba",
        "mpiexec",
        "mpirun",
        "nice",
        "nohup",
        "nsys",
        "numactl",
        "pixi",
        "podman",
        "poetry",
        "ray",
        "sbatch",
        "setsid",
        "singularity",
        "srun",
        "stdbuf",
        "sudo",
        "time",
        "timeout",
        "uv",
        "uvx",
        "xargs",
    ]
)
"""Programs that start the program among their arguments."""
_INTERPRETERS = ("python", "torchrun", "accelerate", "deepspeed")


GATE = "skyrl-doctor"


def base(word: Word) -> str:
    return word.text.rpartition("/")[2]


def script_at(words: Sequence[Word]) -> int | None:
    """The number of the word that names the script which a command starts: `bash x.sh`, `srun bash x.sh`, `sbatch x.sh`."""
    for at, word in enumerate(words):
        name = base(word)
        if at and (word.text in ("--wrap", "-c") or name.startswith(_INTERPRETERS) or name == GATE):
            return None
        if word.text.endswith(SCRIPTS) and "=" not in word.text and not word.text.startswith("-"):
            return at
        if at == 0 and name not in WRAPPERS and name not in SHELLS:
            return None
        if name in SHELLS and _runs_text(words[at + 1 :]):
            return None
    return None


def _runs_text(words: Sequence[Word]) -> bool:
    """Whether the first options of a shell say that a text follows: `-c`, `-lc`."""
    for word in words:
        if not word.text.startswith("-"):
            return False
        if not word.text.startswith("--") and "c" in word.text:
            return True
    return False


def behind_gate(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words with the command that `skyrl-doctor gate TARGET -- COMMAND` starts in the place of the gate."""
    at = next((at for at, word in enumerate(words) if base(word) == GATE or word.text == "skyrl_doctor"), None)
    if at is None or (base(words[0]) not in (GATE, *WRAPPERS) and not base(words[0]).startswith("python")):
        return words
    first = at if base(words[at]) == GATE else max(0, at - 2)  # python -m skyrl_doctor
    ends = (end for end in range(at + 1, len(words)) if words[end].text == "--")
    end = next(ends, None)
    return words if end is None or words[at + 1].text != "gate" else (*words[:first], *words[end + 1 :])
