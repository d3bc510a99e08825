"""Whether the watch still reads what the frameworks print: their step lines, and the names of their figures.

python -m benchmarks.formats SOURCES…        checkouts, git directories or wheels of verl, prime-rl and SkyRL

Each step line is found in the sources as an f-string, filled with sample values, and given to the watch's own reader.
Fails when a line is not read, when a figure that a rule needs is printed no more, or when an advised key is gone.
"""

import argparse
import ast
import contextlib
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skyrl_doctor.watch import figures
from skyrl_doctor.watch.figures import Figure
from skyrl_doctor.watch.read.steps import PRIME_RL, SKYRL, VERL, StepReader
from skyrl_doctor.watch.rules.conditions import CONDITIONS

PACKAGES = {"verl/": VERL, "prime_rl/": PRIME_RL, "skyrl/": SKYRL}
"""The package of each framework, as a folder of its sources."""
LINES = {VERL: ("step:3 - ",), PRIME_RL: ("Step 3 |",), SKYRL: ("Step 3: {", "{'final_loss'")}
"""How the step lines of each framework begin; the watch needs each of them."""
SKIPPED = re.compile(r"(?:^|/)(?:tests?|docs|examples|recipe|\.git)/")
MOST_BYTES, MOST_FILES, LIMIT_S = 5 << 20, 20_000, 120
FIGURES = {name: one for name, one in vars(figures).items() if isinstance(one, Figure)}
KEY = re.compile(r"\b[a-z]\w*(?:\.[a-z]\w*)+\b")


@dataclass
class Result:
    """`lines`: the step lines found, and the figures that the watch reads of each. `missing`: what is gone."""

    framework: str
    lines: dict[str, list[str]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    figures: int = 0
    keys: int = 0

    @property
    def is_good(self) -> bool:
        return bool(self.lines) and all(self.lines.values()) and not self.missing


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=Path, metavar="SOURCES")
    results = [examine(sources(path)) for path in parser.parse_args(argv).sources]
    for result in results:
        print(
            f"{result.framework}: {len(result.lines)} step lines, {result.figures} figures and {result.keys} advised keys; "
            f"{'all found' if result.is_good else 'NOT as the watch reads them'}"
        )
        for line, names in result.lines.items():
            print(f"  {'read' if names else 'NOT READ'}: {line[:150]}  ({len(names)} figures)")
        for text in result.missing:
            print(f"  missing: {text}")
    return 0 if all(result.is_good for result in results) else 1


def sources(path: Path) -> dict[str, str]:
    """The Python and YAML files of a checkout, a git directory or a wheel, by their names."""
    if path.is_file():
        return _of_wheel(path)
    if (path / "HEAD").is_file() and (path / "objects").is_dir():
        return _of_git(path)
    files = (file for file in sorted(path.rglob("*")) if _is_source(str(file.relative_to(path))) and file.is_file())
    return {
        str(file.relative_to(path)): file.read_text(encoding="utf-8", errors="replace")
        for file, _ in zip(files, range(MOST_FILES), strict=False)
        if file.stat().st_size <= MOST_BYTES
    }


def _of_wheel(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as wheel:
        infos = [
            one for one in wheel.infolist()[:MOST_FILES] if _is_source(one.filename) and one.file_size <= MOST_BYTES
        ]
        return {one.filename: wheel.read(one).decode("utf-8", "replace") for one in infos}


def _of_git(path: Path) -> dict[str, str]:
    git = ("git", f"--git-dir={path}")
    names = subprocess.run(
        (*git, "ls-tree", "-r", "--name-only", "HEAD"), capture_output=True, check=True, text=True, timeout=LIMIT_S
    ).stdout.splitlines()[: 10 * MOST_FILES]
    wanted = [name for name in names if _is_source(name)][:MOST_FILES]
    done = subprocess.run(
        (*git, "cat-file", "--batch"),
        input="".join(f"HEAD:{name}\n" for name in wanted).encode(),
        capture_output=True,
        check=True,
        timeout=LIMIT_S,
    ).stdout
    found, place = {}, 0
    for name in wanted:
        end = done.index(b"\n", place)
        head = done[place:end].split()
        if head[-1] == b"missing":
            place = end + 1
            continue
        size = int(head[-1])
        found[name] = done[end + 1 : end + 1 + size].decode("utf-8", "replace")
        place = end + size + 2
    return found


def _is_source(name: str) -> bool:
    return name.endswith((".py", ".yaml")) and not SKIPPED.search(name)


def examine(files: Mapping[str, str]) -> Result:
    """What of the framework in these files the watch reads."""
    framework = _framework(files)
    result = Result(framework or "no framework")
    trees = [tree for name, text in files.items() if name.endswith(".py") and (tree := _parsed(text)) is not None]
    for line in sorted({line for tree in trees for line in _lines(tree, framework)}):
        steps = [*StepReader().take(line.encode(), 0.0)]
        result.lines[line.replace("\n", " ")] = sorted({name for step in steps for name in step.metrics})
    begun = [line.replace(":  ", ": ") for line in result.lines]
    gone = [start for start in LINES.get(framework, ()) if not any(line.startswith(start) for line in begun)]
    result.missing += [f"step line: {start}" for start in gone]
    texts = {text for tree in trees for text in _texts(tree)}
    for title, name in _figures(framework):
        result.figures += 1
        printed = (
            any(name in names for names in result.lines.values()) if framework == PRIME_RL else _is_made(name, texts)
        )
        if not printed:
            result.missing.append(f"{title}: {name}")
    words = {word for text in files.values() for word in re.findall(r"\b[a-z]\w*\b", text)}
    for key in advised(framework):
        result.keys += 1
        if not set(key.split(".")) <= words:
            result.missing.append(f"advised key: {key}")
    return result


def advised(framework: str) -> list[str]:
    """The keys in the advice that only this framework's users get."""
    advice = {one.advice_for[framework].summary for one in CONDITIONS if framework in one.advice_for}
    return sorted({key for text in advice for key in KEY.findall(text)})


def _framework(files: Mapping[str, str]) -> str:
    """The framework with the outermost package: others may be packed inside."""
    depths = [
        (f"/{name}".index(f"/{package}"), one)
        for package, one in PACKAGES.items()
        for name in files
        if f"/{package}" in f"/{name}"
    ]
    return min(depths, default=(0, ""))[1]


def _figures(framework: str) -> Iterator[tuple[str, str]]:
    for title, one in FIGURES.items():
        names = {VERL: one.verl, PRIME_RL: one.prime_rl, SKYRL: one.skyrl}.get(framework, ())
        yield from ((title, name) for name in names)


def _is_made(name: str, texts: set[str]) -> bool:
    """Whether the sources have this name, or the parts that make it: `actor/` and `loss`, `diff` and `_mean`."""
    if name in texts:
        return True
    below, last = name.find("/") + 1, name.rfind("_")
    if below and name[:below] in texts and _is_made(name[below:], texts):
        return True
    return last > 0 and "/" not in name and {name[:last], name[last:]} <= texts


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _texts(tree: ast.AST) -> Iterator[str]:
    """The literal texts, those inside f-strings too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) <= 200:
            yield node.value


def _lines(tree: ast.AST, framework: str) -> Iterator[str]:
    """The step lines that these sources print, filled with samples."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from {VERL: _verl, PRIME_RL: _prime_rl, SKYRL: _skyrl}.get(framework, _none)(function)


def _none(_function: ast.AST) -> Iterator[str]:
    yield from ()


def _verl(function: ast.AST) -> Iterator[str]:
    """`step:3` and pairs `name:value`, put together by a text."""
    texts = [_filled(node) for node in ast.walk(function) if isinstance(node, ast.JoinedStr)]
    pairs = [text for text in texts if re.fullmatch(r"\S+:\S+", text) and not text.startswith("step:")]
    joints = [
        node.func.value.value
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join"
        if isinstance(node.func.value, ast.Constant) and isinstance(node.func.value.value, str)
    ]
    yield from (joint.join([text, *pairs]) for text in texts if text.startswith("step:") for joint in joints if pairs)


def _prime_rl(function: ast.AST) -> Iterator[str]:
    """A line in one f-string, or in one variable to which more is added."""
    added: dict[str, list[str]] = {}
    for node in ast.walk(function):
        if (
            isinstance(node, ast.AugAssign)
            and isinstance(node.value, ast.JoinedStr)
            and isinstance(node.target, ast.Name)
        ):
            added.setdefault(node.target.id, []).append(_filled(node.value))
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.JoinedStr)
            and isinstance(node.targets[0], ast.Name)
        ):
            line = _filled(node.value)
            if re.match(r"Step 3 \|", line):
                yield line + "".join(added.get(node.targets[0].id, ()))


def _skyrl(function: ast.AST) -> Iterator[str]:
    """The console logger's dictionary, the status line of the trainer, and the line of supervised training."""
    for node in ast.walk(function):
        if isinstance(node, ast.JoinedStr):
            line = _filled(node)
            if re.match(r"Step 3: ?\n", line):
                yield line.replace("\n0.5", "\n{'policy/grad_norm': '0.5000',\n 'trainer/epoch': 0}")
            elif re.match(r"Step 3: loss=", line):
                yield line
        elif isinstance(node, ast.Dict) and node.keys and isinstance(node.keys[0], ast.Constant):
            names = [key.value for key in node.keys if isinstance(key, ast.Constant)]
            if names[0] == "final_loss":
                yield repr({name: 0.5 for name in names if name != "loss_fn_outputs"})


def _filled(text: ast.JoinedStr) -> str:
    return "".join(_sample(part) if isinstance(part, ast.FormattedValue) else _literal(part) for part in text.values)


def _literal(part: ast.AST) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else ""


def _sample(part: ast.FormattedValue) -> str:
    """A value as the expression suggests: a time, a step, or a number in the given format."""
    spec = _filled(part.format_spec) if isinstance(part.format_spec, ast.JoinedStr) else ""
    words = ast.unparse(part.value)
    if "format_time" in words:
        return format("22.8s", spec)
    if re.search(r"\bstep$|global_step$", words):
        return "3"
    if isinstance(part.value, ast.Name) and part.value.id in ("k", "key", "name"):
        return "actor/grad_norm"
    for value in (0.5, 3, "x"):
        with contextlib.suppress(ValueError):  # a format for another type
            return format(value, spec)
    return "0.5"


if __name__ == "__main__":
    sys.exit(main())
