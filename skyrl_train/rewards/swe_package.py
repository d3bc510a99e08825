"""SWE-bench's own reader of a repository's output, where its package is installed (`skyrl-doctor[swebench]`)."""

import functools
import importlib
import re
from collections.abc import Callable, Mapping

_TASK = re.compile(r"(?P<owner>.+)__(?P<name>.+)-\d+")
PARSERS = "swebench.harness.log_parsers.python"

Reader = Callable[[str], Mapping[str, str]]


def repo_of(task_id: str) -> str:
    """The repository of a task of SWE-bench: "django/django" for "django__django-11099", empty for other names."""
    found = _TASK.fullmatch(task_id)
    return f"{found['owner']}/{found['name']}" if found else ""


def package_reader(repo: str) -> Reader | None:
    """The reader for a repository. None if the package is absent, or does not know the repository."""
    parser = _parsers().get(repo)
    return None if parser is None else lambda output: parser(output, None)


@functools.cache
def _parsers() -> Mapping[str, Callable[[str, None], Mapping[str, str]]]:
    try:
        found: Mapping[str, Callable[[str, None], Mapping[str, str]]] = importlib.import_module(
            PARSERS
        ).MAP_REPO_TO_PARSER_PY
    except (ImportError, AttributeError):
        return {}
    return found
