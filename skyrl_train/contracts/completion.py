"""The script that completes a command line in bash, zsh and fish. It is made once; completing starts no Python."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence

from skyrl_train.contracts.command_line import Program, parser
from skyrl_train.contracts.help import Parser

SHELLS = ("bash", "zsh", "fish")
_ZSH = "autoload -Uz compinit bashcompinit && compinit -u && bashcompinit\n"
_SCRIPT = """\
{function}() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" command="" words="" word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in
      {commands}) command="$word"; break ;;
    esac
  done
  case "$command $before" in
{cases}  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F {function} {name}
"""


def script(program: Program, shell: str, more: Mapping[str, Sequence[str]]) -> str:
    """The script. `more` are words of a command that its parser does not list, such as ids."""
    if shell == "fish":
        return "".join(f"complete -c {program.name} {line}\n" for line in _fish(program, more))
    narrow = dict(reversed([*_cases(program, more)]))  # the first of several actions with one option counts
    cases = [f"    {pattern}) words={shlex.quote(' '.join(words))} ;;\n" for pattern, words in reversed(narrow.items())]
    text = _SCRIPT.format(
        function=f"_{re.sub(r'[^a-z]', '_', program.name)}",
        commands="|".join(program.commands),
        cases="".join(cases),
        name=program.name,
    )
    return _ZSH + text if shell == "zsh" else text


def _cases(program: Program, more: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, list[str]]]:
    """Patterns of `COMMAND PREVIOUS_WORD`, the narrow ones first, and the words that may follow."""
    yield '" "*', [*program.commands, "--help", "--version"]
    for name in program.commands:
        made = parser(program, name).below()[name]
        yield from _values(name, made)
        yield f'"{name} "*', [*_positional(made), *more.get(name, ()), *dict.fromkeys(made.options())]


def _values(name: str, made: Parser) -> Iterator[tuple[str, list[str]]]:
    """The values that follow each option; none for a file or a value of the user's."""
    for action in (action for one in made.tree() for action in one.shown() if action.nargs != 0):
        for option in action.option_strings:
            yield f'"{name} {option}"', [str(choice) for choice in action.choices or ()]


def _positional(made: Parser) -> Iterator[str]:
    for action in made.shown():
        if not action.option_strings and action.choices:
            yield from map(str, action.choices)


def _fish(program: Program, more: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The rest of each line of fish's `complete`: commands, then the words, options and values of each."""
    for name, summary in program.commands.items():
        yield f"-n __fish_use_subcommand -f -a {name} -d {_fish_text(summary)}"
    for name in program.commands:
        made = parser(program, name).below()[name]
        here = f"-n '__fish_seen_subcommand_from {name}'"
        words = [*_positional(made), *more.get(name, ())]
        if words:
            yield f"{here} -a {_fish_text(' '.join(words))}"
        seen = set[str]()
        for action in (action for one in made.tree() for action in one.shown()):
            names = [option for option in action.option_strings if option not in seen]
            seen.update(names)
            if names:
                options = " ".join(_fish_option(option) for option in names)
                choices = " ".join(map(str, action.choices or ()))
                value = f" -x -a {_fish_text(choices)}" if choices else "" if action.nargs == 0 else " -r"
                yield f"{here} {options}{value}"


def _fish_option(option: str) -> str:
    return f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"


def _fish_text(text: str) -> str:
    """In single quotes, in which fish knows only these two escapes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
