"""Edits shell scripts: overrides of a command, variables and #SBATCH lines, one word at a time.

The plan's spans count bytes of the UTF-8 text.
"""

import re
import shlex

from skyrl_doctor.plan.edits.changes import CannotEdit, Move, Remove, Set
from skyrl_doctor.plan.model import Plan, Value
from skyrl_train.contracts.assignment import assignment

_WORD = re.compile(r"(?P<quote>['\"]?)(?P<head>\+{0,2}(?P<key>[\w.@/\-]+)=)(?P<value>.*)(?P=quote)", re.DOTALL)
_DEFAULTED = re.compile(r"(?P<head>\$\{\w+:?[-=])(?P<value>[^${}\"'`\\]*)\}")
_USED = re.compile(
    r"(?P<quote>['\"]?)\+{0,2}[\w.@/\-]+=(?P<inner>\"?)\$(?P<brace>\{)?(?P<name>[A-Za-z_]\w*)(?(brace)\})(?P=inner)(?P=quote)"
)
"""A setting whose value is a variable and nothing else."""
_USES = 3
"""A variable that is assigned its own value or a default, and used in one place."""
_VARIABLE = re.compile(r"\$[\w{(]|`")
"""What bash or Hydra puts in: the value is set elsewhere."""
_SBATCH = "#SBATCH "
_SAFE = re.compile(r"[A-Za-z0-9_./:,=@%+-]+")


def edited(text: str, change: Set | Move | Remove, plan: Plan, file: str, line: int | None) -> str:
    """The text with this change. `line` is the finding's. Raises CannotEdit."""
    match change:
        case Set(key, value):
            return _set(text, key, value, plan, file)
        case Move(key, to):
            written = plan.own.get(to)
            if written is not None and written.written:
                raise CannotEdit(f"the file already sets {to}; remove {key} by hand")
            return _renamed(text, key, to, line)
        case Remove(key):
            raise CannotEdit(f"remove {key} by hand")


def _set(text: str, key: str, value: str, plan: Plan, file: str) -> str:
    if key.startswith(_SBATCH):
        return _sbatch(text, key.removeprefix(_SBATCH), value, _line_of(plan, key))
    if key.startswith("sbatch "):
        raise CannotEdit(f"change {assignment(key, value)} by hand")
    found = plan.own.get(key)
    if found is None or found.location is None or found.location.file != file or found.span is None:
        return _added(text, key, value, plan, file)
    data = text.encode()
    start, end = found.span
    word = data[start:end].decode()
    variable = _USED.fullmatch(word)
    place = _only_default(text, variable["name"]) if variable and _SAFE.fullmatch(value) else None
    if place is not None:
        return f"{text[: place[0]]}{value}{text[place[1] :]}"
    return (data[:start] + _new_word(word, found, value).encode() + data[end:]).decode()


def _only_default(text: str, name: str) -> tuple[int, int] | None:
    """Where the default of a variable stands, if `NAME=${NAME:-default}` is its only assignment and it is used once."""
    if len(re.findall(rf"(?<!\w){name}(?!\w)", text)) != _USES:
        return None
    found = re.search(
        rf"^[ \t]*(?:export +)?{name}=(?P<quote>[\"']?)\$\{{{name}:?[-=](?P<value>[^${{}}\"'`\\\s]*)\}}(?P=quote)[ \t]*(?:#.*)?$",
        text,
        re.MULTILINE,
    )
    return None if found is None or found["quote"] == "'" else found.span("value")


def _new_word(word: str, found: Value, value: str) -> str:
    """The word with the new value, in the quotes of the old one."""
    override = _WORD.fullmatch(word)
    if override is not None and override["key"] == found.own:
        quote = override["quote"]
        written = override["value"].strip("\"'")
        if (default := _DEFAULTED.fullmatch(written)) is not None and _SAFE.fullmatch(value):
            return word.replace(written, f"{default['head']}{value}}}")
        if _VARIABLE.search(written):
            raise CannotEdit(f"change it by hand: the file has {word}")
        return f"{quote}{override['head']}{_quoted(value, quote, override['value'])}{quote}"
    if override is not None and "$" not in word:
        raise CannotEdit(f"change it by hand: the file has {word}")
    quote = word[:1] if word[:1] in ("'", '"') and word.endswith(word[:1]) and len(word) > 1 else ""
    inner = word[1:-1] if quote else word
    if (default := _DEFAULTED.fullmatch(inner)) is not None and _SAFE.fullmatch(value):
        return f"{quote}{default['head']}{value}}}{quote}"
    if any(letter in inner for letter in "$`\\'\" \n"):
        raise CannotEdit(f"change it by hand: the file has {word}")
    return f"{quote}{_quoted(value, quote, inner)}{quote}"


def _quoted(value: str, quote: str, old: str) -> str:
    """The value for a place inside these quotes, or quoted itself where it needs it."""
    if quote:
        if any(letter in value for letter in ("\\", "$", "`", quote)):
            raise CannotEdit("change it by hand: the value needs other quotes")
        return value
    inner = old[:1] if old[:1] in ("'", '"') and old.endswith(old[:1]) and len(old) > 1 else ""
    if inner and not any(letter in value for letter in ("\\", "$", "`", inner)):
        return f"{inner}{value}{inner}"
    return value if _SAFE.fullmatch(value) else shlex.quote(value)


def _renamed(text: str, key: str, to: str, line: int | None) -> str:
    """Renames the key of the one word of this line that sets it."""
    lines = text.split("\n")
    if line is None or line > len(lines):
        raise CannotEdit(f"rename {key} to {to} by hand")
    found = list(re.finditer(rf"(?<![^\s'\"(]){re.escape(key)}(?==)", lines[line - 1]))
    if len(found) != 1:
        raise CannotEdit(f"rename {key} to {to} by hand: line {line} has it {len(found)} times")
    start, end = found[0].span()
    lines[line - 1] = lines[line - 1][:start] + to + lines[line - 1][end:]
    return "\n".join(lines)


def _sbatch(text: str, option: str, value: str, line: int | None) -> str:
    """Changes an option of an #SBATCH line; of a list of resources the number at its end."""
    lines = text.split("\n")
    if line is None or line > len(lines) or not lines[line - 1].lstrip().startswith(_SBATCH.rstrip()):
        raise CannotEdit(f"add {option}={value} by hand")
    found = re.search(rf"(?<=\s)(?P<head>{re.escape(option)}(?:=|\s+))(?P<old>\S+)", lines[line - 1])
    if found is None:
        raise CannotEdit(f"change {option} by hand")
    if "," in found["old"]:
        raise CannotEdit(f"change {option}={found['old']} by hand")
    kind, colon, _ = found["old"].rpartition(":")
    kept = f"{kind}{colon}" if colon and value.isdigit() else ""
    lines[line - 1] = f"{lines[line - 1][: found.start()]}{found['head']}{kept}{value}{lines[line - 1][found.end() :]}"
    return "\n".join(lines)


def _line_of(plan: Plan, key: str) -> int | None:
    found = plan.own.get(key) or next((value for value in plan.values.values() if value.own == key), None)
    return found.location.line if found is not None and found.location is not None else None


def _added(text: str, key: str, value: str, plan: Plan, file: str) -> str:
    """Adds an override below the last one of the command, or a variable at the end of a file of variables."""
    here = [one for one in plan.own.values() if one.span and one.location and one.location.file == file]
    data = text.encode()
    overrides = [one for one in here if _is_override(data, one)]
    if overrides:
        return _after(data, max(one.span or (0, 0) for one in overrides), f"{key}={_quoted(value, '', '')}")
    if here and key.isidentifier() and key.isupper():
        return f"{text}{'' if text.endswith(chr(10)) else chr(10)}{key}={_quoted(value, '', '')}\n"
    raise CannotEdit(f"add it by hand: {key} is not in {file}")


def _is_override(data: bytes, value: Value) -> bool:
    word = _WORD.fullmatch(data[slice(*(value.span or (0, 0)))].decode("utf-8", "replace"))
    return word is not None and word["key"] == value.own


def _after(data: bytes, span: tuple[int, int], word: str) -> str:
    """The text with a word behind another one: in a line of its own where that one has one."""
    start = data.rfind(b"\n", 0, span[0]) + 1
    indent = data[start : span[0]].decode("utf-8", "replace")
    if indent.strip():
        between = " "
    else:
        continues = data[: max(start - 1, 0)].endswith(b"\\")
        between = f" \\\n{indent}" if continues else f"\n{indent}"
    return (data[: span[1]] + f"{between}{word}".encode() + data[span[1] :]).decode()
