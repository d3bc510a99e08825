"""Counts the texts for users that hold words which our plain-English rules avoid: `python -m benchmarks.language [-v]`.

A text for users is a string of the packages that is no docstring, the page of a check, the description of a setting, or
a paragraph of the docs. Patterns, samples of other programs' lines and identifiers are left out.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("checks", "skyrl_doctor", "skyrl_train")
DOCS = ("README.md", "CONTRIBUTING.md", "docs/*.md", "contrib/**/*.md", "examples/**/*.md")
AVOIDED = re.compile(
    r"\b(?:wanted|told|tells|said|says|shown|seen by|gone on|goes on|go on with|speaks? of|hangs? on|stands? in|whoever"
    r"|whose|nobody|somebody|no one|what for|else has none|counts? no more|is no (?!longer|space)|beside|such as come"
    r"|so many|as if it were|for good|in place of|whereas|thereof|hereby|shall|upon)\b",
    re.IGNORECASE,
)
NOT_WORDS = {"pattern", "sample", "near", "unless", "versions"}
"""Arguments that hold patterns or lines of other programs."""
REGEX = re.compile(r"\\[bdswS.\[(]|\(\?[:i!=<]|\.\{|\.\*|\[\^")


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of each string of a module that a user may read."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = _skipped(tree, keep_page=path.is_relative_to(ROOT / "checks"))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in skipped:
            continue
        if " " in node.value.strip() and not REGEX.search(node.value):
            yield node.lineno, node.value


def _skipped(tree: ast.Module, *, keep_page: bool) -> set[int]:
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body
            docs = [each.value for each in body if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)]
            kept = docs[:1] if keep_page and isinstance(node, ast.Module) else []
            found |= {id(doc) for doc in docs if doc not in kept}
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in {"root", "roots"}:
                found |= {id(inner) for inner in ast.walk(node) if _is_line(inner, node)}
            found |= {id(inner) for word in node.keywords if word.arg in NOT_WORDS for inner in ast.walk(word.value)}
    return found


def _is_line(inner: ast.AST, call: ast.Call) -> bool:
    """Whether a string is a pattern, a sample or a version of a table of signatures."""
    if not isinstance(inner, ast.Constant) or not isinstance(call.func, ast.Name):
        return False
    if call.func.id == "roots":
        return inner is not call.args[0]
    return inner in call.args[:2] or inner in call.args[3:]


def paragraphs(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of each line of prose; blocks of code are left out."""
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def found() -> Iterator[tuple[str, str, int, str]]:
    """Part of the project, file, line and text of each that holds such a word."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield from ((package, str(path.relative_to(ROOT)), line, text) for line, text in texts(path))
    for pattern in DOCS:
        for path in sorted(ROOT.glob(pattern)):
            yield from (("docs", str(path.relative_to(ROOT)), line, text) for line, text in paragraphs(path))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.language", description=__doc__.partition("\n")[0])
    parser.add_argument("-v", "--verbose", action="store_true", help="print each text")
    args = parser.parse_args()
    all_texts: dict[str, int] = {}
    bad: dict[str, int] = {}
    for part, path, line, text in found():
        all_texts[part] = all_texts.get(part, 0) + 1
        words = AVOIDED.findall(text)
        if not words:
            continue
        bad[part] = bad.get(part, 0) + 1
        if args.verbose:
            sys.stdout.write(f"{path}:{line}: {', '.join(words)}: {' '.join(text.split())[:160]}\n")
    for part, count in all_texts.items():
        sys.stdout.write(f"{part}: {bad.get(part, 0)} of {count} texts\n")
    sys.stdout.write(f"together: {sum(bad.values())} of {sum(all_texts.values())} texts\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
