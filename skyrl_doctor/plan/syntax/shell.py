"""Reads the commands and variables of a shell script without running anything.

tree-sitter-bash parses the syntax, `shell_run` follows the statements, `shell_words` expands the words. A condition that
depends on a name that is not set counts it as empty, as bash does. What depends on the output of a command is unknown,
with the reason; the text around it is still read.
"""

from collections.abc import Iterator, Mapping

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.plan.source import COMMAND_LINE, Source
from skyrl_doctor.plan.syntax.shell_run import run
from skyrl_doctor.plan.syntax.shell_script import Command, OpenFile, Script
from skyrl_doctor.plan.syntax.shell_values import Variable

__all__ = ["Command", "OpenFile", "Script", "assignments", "read_script"]


def read_script(source: Source, environ: Mapping[str, str], open_file: OpenFile = lambda _: None) -> Script:
    """Follows the script from top to bottom. Raises UsageError."""
    lines = enumerate(source.text.splitlines(), start=1)
    script = Script(body_line=next((at for at, line in lines if line.strip() and not line.lstrip().startswith("#")), 0))
    name = "" if source.file == COMMAND_LINE else source.file
    try:
        run(script, source.text.replace("\r\n", "\n"), name, environ, open_file)
    except RecursionError:
        raise UsageError(f"target {source.file}: nested too deeply for a shell script") from None
    return script


def assignments(script: Script) -> Iterator[Variable]:
    """The variables of the script with their last values."""
    yield from script.variables.values()
