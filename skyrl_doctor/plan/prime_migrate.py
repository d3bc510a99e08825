"""Rewrites a prime-rl TOML of January 2026 to today's schema: renamed lines keep their comments, the rest is unchanged."""

from collections.abc import Mapping

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.answers import trainer_shares_gpu
from skyrl_doctor.plan.model import Plan, Value
from skyrl_doctor.plan.prime_renames import Rename, renames


@record
class Migration:
    """The new text, and a reason for each key that was not moved."""

    text: str
    left: tuple[str, ...]


@record
class Move:
    """One line that moves to another table. `home` is the line of its old table header, 0 for the top level."""

    line: int
    home: int
    table: str
    text: str


def migrate(plan: Plan, file: str, text: str) -> Migration:
    """The file's text with renamed keys, where a new name exists."""
    lines = text.splitlines(keepends=True)
    moves: list[Move] = []
    left: list[str] = []
    for rename in renames(plan):
        if rename.old.location is None or rename.old.location.file != file:
            continue
        made = _move(rename, plan, text, lines)
        if isinstance(made, Move):
            moves.append(made)
        else:
            left.append(f"line {rename.line}: {rename.old.own}: {made}")
    if trainer_shares_gpu(plan):
        left.append("trainer and inference share a GPU, but today's launcher gives each its own")
    return Migration(_written(lines, moves, plan), tuple(left))


def _move(rename: Rename, plan: Plan, text: str, lines: list[str]) -> Move | str:
    """The move of an old key's line, or the reason why it stays."""
    if not rename.settings:
        return rename.advice
    ((target, value),) = rename.settings.items()
    span, line = rename.old.span, rename.line
    if span is None or line is None or "\n" in text[slice(*span)] or isinstance(rename.old.value, dict):
        return f"{rename.advice}; move it by hand, because it spans several lines"
    start = sum(map(len, lines[: line - 1]))
    if "=" not in text[start : span[0]] or "{" in text[start : span[0]]:
        return f"{rename.advice}; move it by hand, because other keys share its line"
    table, _, name = target.rpartition(".")
    rest = text[span[1] : start + len(lines[line - 1])].rstrip("\r\n")
    header = plan.own.get(rename.old.own.rpartition(".")[0])
    home = header.location.line if header and header.location and header.location.line else 0
    return Move(line, home, table, f"{name} = {value}{rest}\n")


def _written(lines: list[str], moves: list[Move], plan: Plan) -> str:
    gone = {move.line for move in moves}
    gone |= {home for home in {move.home for move in moves} if home and _is_emptied(home, lines, gone)}
    headers = {
        key: value.location.line for key, value in plan.own.items() if value.location and _is_header(value, lines)
    }
    after: dict[int, list[str]] = {}
    for table, block in _blocks(moves).items():
        if headers.get(table) and headers[table] not in gone:
            after.setdefault(headers[table] or 0, []).extend(move.text for move in block)
        else:
            at = _end(block[0].home, lines)
            after.setdefault(at, []).extend([f"[{table}]\n", *(move.text for move in block), "\n"])
    result: list[str] = []
    for number in range(len(lines) + 1):
        if number and number not in gone:
            result.append(lines[number - 1])
        result.extend(after.get(number, ()))
    return _tidy("".join(result))


def _blocks(moves: list[Move]) -> Mapping[str, list[Move]]:
    blocks: dict[str, list[Move]] = {}
    for move in moves:
        blocks.setdefault(move.table, []).append(move)
    return blocks


def _is_header(value: Value, lines: list[str]) -> bool:
    line = value.location.line if value.location else None
    return isinstance(value.value, dict) and line is not None and lines[line - 1].lstrip().startswith(f"[{value.own}]")


def _is_emptied(home: int, lines: list[str], gone: set[int]) -> bool:
    """Whether all lines below a header are moved."""
    body = range(home + 1, _end(home, lines) + 1)
    return all(number in gone or not lines[number - 1].strip() for number in body)


def _end(home: int, lines: list[str]) -> int:
    """The last line before the next header."""
    for number in range(home + 1, len(lines) + 1):
        if lines[number - 1].lstrip().startswith("["):
            return number - 1
    return len(lines)


def _tidy(text: str) -> str:
    """Removes double empty lines and those at the end, which moved blocks leave."""
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text.rstrip("\n") + "\n"
