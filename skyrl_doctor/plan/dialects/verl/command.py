"""Finds the calls of main_ppo in a shell script, with interpreter and overrides."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from skyrl_doctor.core.model import Location
from skyrl_doctor.plan.dialects.verl.compose import Given
from skyrl_doctor.plan.model import Problem
from skyrl_doctor.plan.syntax.hydra import looks_like_override
from skyrl_doctor.plan.syntax.shell import Command, Script
from skyrl_doctor.plan.syntax.shell_values import Word

_VALUED = ("--config-path", "-cp", "--config-name", "-cn", "--config-dir", "-cd", "--package", "-p")
_PRINTS = ("--cfg", "-c", "--help", "-h", "--hydra-help", "--info", "-i", "--version", "--resolve")
"""With these options Hydra prints something and does not run."""
_NEEDS_GROUP = "model_engine="


@dataclass(slots=True)
class Call:
    """One call of main_ppo."""

    line: int
    launcher: str
    interpreter: str | None
    config_name: str
    overrides: tuple[Given, ...]
    problems: list[Problem] = field(default_factory=list)

    @property
    def engine(self) -> str:
        """The training engine of verl, from the chosen configuration."""
        chosen = [given.text.partition("=")[2] for given in self.overrides if given.text.startswith(_NEEDS_GROUP)]
        if chosen:
            return chosen[-1].strip("'\"")
        name = self.config_name.removesuffix(".yaml")
        return next((engine for engine in ("megatron", "veomni", "torchtitan") if engine in name), "dp")


def calls(script: Script, file: str) -> list[Call]:
    """Every call of main_ppo that the script makes, in order."""
    made = (_call(command, at, file) for command in script.commands if (at := _entry(command.words)) is not None)
    return [call for call in made if call is not None]


def stray_overrides(script: Script, file: str, call: Call) -> Iterator[Problem]:
    """Problems for overrides after the end of the command, which a comment or a missing backslash ended."""
    for command in script.commands:
        if (
            command.line <= call.line
            or not looks_like_override(command.name)
            or "." not in command.name.partition("=")[0]
        ):
            continue
        for word in command.words:
            if looks_like_override(word.text):
                key = word.text.lstrip("+~").partition("=")[0]
                yield Problem(
                    message=f"verl does not get {word.text}: a comment or a missing backslash ends the command of line {call.line} before it",
                    location=Location(file, word.line, key),
                )


def _entry(words: tuple[Word, ...]) -> int | None:
    """The index of the word that names main_ppo."""
    if words and words[0].text in ("echo", "printf", "grep", "pkill", "cat", "ls"):
        return None
    for index, word in enumerate(words):
        name = word.text.removesuffix(".py").replace("/", ".")
        if name.endswith("main_ppo") and (word.text.endswith(".py") or (index > 0 and words[index - 1].text == "-m")):
            return index
    return None


def _call(command: Command, at: int, file: str) -> Call | None:
    """The call; None if it only prints."""
    before = [word.text for word in command.words[:at]]
    python = next((text for text in reversed(before) if "python" in text.rpartition("/")[2]), None)
    made = Call(
        line=command.line,
        launcher="uv run" if _is_uv(before) else "python",
        interpreter=python if python and "/" in python else None,
        config_name="ppo_trainer",
        overrides=(),
    )
    given: list[Given] = []
    rest = iter(command.words[at + 1 :])
    for word in rest:
        name, equals, value = word.text.partition("=")
        if name in _PRINTS:
            return None
        if name in _VALUED:
            value = value if equals else next(rest, word).text
            if name in ("--config-name", "-cn"):
                made.config_name = value
        elif not word.text.startswith("-"):
            given.append(Given(word.text, Location(file, word.line, None), word.unknown, word.span))
    made.overrides = tuple(given)
    return made


def _is_uv(before: list[str]) -> bool:
    names = [text.rpartition("/")[2] for text in before]
    return any(name == "uv" and names[index + 1 : index + 2] == ["run"] for index, name in enumerate(names))
