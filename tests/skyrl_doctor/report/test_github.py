"""GitHub annotations: one line each, escaped so that GitHub reads back what was said."""

import re

from hypothesis import given
from hypothesis import strategies as st

from report_samples import MIXED, failing, only
from skyrl_doctor.core.model import Location, Outcome, Status
from skyrl_doctor.report.github import command, render
from skyrl_doctor.report.plain import plain

WHOLE = """\
::error file=run.toml,line=12,title=GPU001 mig-uuid::CUDA_VISIBLE_DEVICES names the device by its MIG UUID, but vLLM expects an index%0Aat:   run.toml:12 (trainer.gpus)%0Anote: CUDA_VISIBLE_DEVICES=MIG-aaaaaaaa-0000-0000-0000-000000000001%0Afix:  name it by its index (safe: it changes nothing outside this job)%0A      $ export CUDA_VISIBLE_DEVICES=0
::warning title=ENV002 triton-cache-on-network-fs::the cache is on nfs4; use a local disk
::notice title=GPU001 mig-uuid::node gpu-node-17 failed once before
::warning title=SLM001 walltime-mismatch::unknown: squeue: no answer within 5 s
::notice title=skyrl-doctor::CFG001: waiver by "ops" (reason: a test) expired on 2026-01-31 and is ignored
skyrl-doctor: fail (1 passed, 1 error, 1 warning, 1 info, 2 skipped, 1 waived, 1 unknown)
"""


def test_the_whole_report() -> None:
    assert render(MIXED) == WHOLE


def test_a_pass_gets_no_annotation() -> None:
    assert render(only(Outcome(id="ENV001", slug="x", status=Status.PASS))) == ("skyrl-doctor: pass (1 passed)\n")


def test_escapes() -> None:
    assert (
        command("error", "100% of a:b, c\r\nd", title="a,b:c%", location=Location("C:\\x, y%.toml"))
        == "::error file=C%3A\\x%2C y%25.toml,title=a%2Cb%3Ac%25::100%25 of a:b, c%0Ad"
    )


def read_back(line: str) -> tuple[str, dict[str, str], str]:
    """As GitHub's runner reads a command (actions/runner, ActionCommand.cs): split first, unescape then."""
    match = re.fullmatch(r"::(\w+) (.*?)::(.*)", line)
    assert match is not None, line
    pairs = (pair.split("=", 1) for pair in match[2].split(","))
    properties = {name: _unescaped(value, {"3A": ":", "2C": ","}) for name, value in pairs}
    return match[1], properties, _unescaped(match[3], {})


def _unescaped(text: str, more: dict[str, str]) -> str:
    return re.sub(r"%([0-9A-F]{2})", lambda found: {"25": "%", "0A": "\n", "0D": "\r", **more}[found[1]], text)


@given(st.text(st.characters(exclude_categories=[])), st.text(st.characters(exclude_categories=[])))
def test_what_was_said_comes_back(message: str, file: str) -> None:
    line = command("warning", message, title=file, location=Location(file, 3))
    assert line.count("\n") == 0
    assert read_back(line) == ("warning", {"file": plain(file), "line": "3", "title": plain(file)}, plain(message))


def test_a_quoted_log_cannot_give_commands() -> None:
    """A line of a log that looks like a command would stop the annotations, or mask a word everywhere."""
    lines = render(failing("seen\n::stop-commands::x\r::add-mask::a")).splitlines()
    assert lines[0] == "::error title=ENV001 triton-python-h::seen%0A::stop-commands::x%0A::add-mask::a"
    assert len(lines) == 2
