"""What skyrl-train says of the end of a run is what diagnose knows: the words that it prints, out of its own sources."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import skyrl_train
from skyrl_doctor.catalogue import catalogue
from skyrl_doctor.logs.diagnose import diagnose
from skyrl_doctor.logs.match.errors import ERROR, is_error
from skyrl_doctor.logs.match.signatures import load_signatures
from skyrl_train.contracts.run_log import say, say_cause

SOURCES = Path(skyrl_train.__file__ or "").parent
NAMED = re.compile(r"([A-Z]{3}\d{3}): ")
CANCELLED = "slurmstepd: error: *** JOB 4711 ON gpu07 CANCELLED AT 2026-01-15T16:00:12 ***"


def sentences() -> Iterator[str]:
    """Every text in our sources that begins with the id of a failure, with 4 for what is filled in."""
    for path in SOURCES.rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text())))
        inner = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in nodes:
            if id(node) in inner:
                continue
            if isinstance(node, ast.JoinedStr):
                yield "".join(str(part.value) if isinstance(part, ast.Constant) else "4" for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


OWN = sorted({text for text in sentences() if NAMED.match(text) and len(text) > len("TRN001: ")})


def known_as(line: str) -> set[str]:
    own = [each for each in load_signatures() if each.signature.versions == "skyrl-train"]
    return {each.name for each in own if re.search(each.signature.pattern, line)}


@pytest.mark.parametrize("text", OWN)
def test_a_sentence_that_names_a_failure_is_known_as_that_failure(text: str) -> None:
    assert known_as(f"skyrl-train train: error: {text}") == {text[:6]}


def test_the_doctors_own_list_of_what_it_left_out_is_no_failure(tmp_path: Path) -> None:
    """Wherever its lines are wrapped, an id may stand before the colon."""
    lines = [f"         GPU004 {entry.id}: GPU-node check; this looks like a\n" for entry in catalogue().entries]
    (tmp_path / "job.err").write_text("".join(lines))
    found = diagnose([str(tmp_path / "job.err")]).diagnosis
    assert (found.root, found.matches, found.unknown) == (None, (), None)


def test_there_are_such_sentences() -> None:
    assert {text[:6] for text in OWN} >= {"TRN001", "TRN006", "RUN002", "IMG008"}


@pytest.mark.parametrize(
    ("text", "id_"),
    [
        ("skyrl-train job: trainer: the runtime job ended before it was ready: the runtime ended with 1", "RUN011"),
        ("skyrl-train job: runtime: the runtime exited with status 1", "RUN011"),
        (
            "skyrl-train job: trainer: stopped by signal 15: the runtime job ended: the HTTP server ended",
            "RUN011",
        ),
        ("skyrl-train job: trainer: the gate refused: GPU002 2 MIG slices; wanted 1; RUN001 refuses no key", "GPU002"),
        ("skyrl-train launch: the login gate refused: CFG001 max_tokens = 4000; wanted 616", "CFG001"),
        (
            "skyrl-train job: trainer: the runtime job ended before it was ready: the gate refused: IMG006 holds no tests",
            "IMG006",
        ),
        ("skyrl-train job: trainer: the gate refused: RUN001 could not look: http://n:1: timed out", ""),
        ("skyrl-train job: trainer: the gate refused: RUN001 could not be checked: http://n:1: timed out", ""),
        ("skyrl-train train: error: no free port for Ray's head: 6379, 6380 are taken on this node", ""),
        ("skyrl-train train: refused: verdict.json is of another configuration", ""),
        ("skyrl-train runtime: podman 3.4.4 is too old: wanted 4.0 or newer", ""),
        ("skyrl-train runtime serve: the HTTP server ended by itself", ""),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_our_cause_comes_before_slurms_end(text: str, id_: str, first: bool, tmp_path: Path) -> None:
    log = tmp_path / "trainer.log"
    lines = ["2026-03-02 10:11:09,522\tINFO worker.py:2038 -- Started a local Ray instance.", CANCELLED]
    log.write_text("\n".join([lines[0], text, lines[1]] if first else [*lines, text]))
    found = diagnose([str(log)]).diagnosis
    if id_:
        assert found.root is not None
        assert (found.root.failure.name, found.root.line.text) == (id_, text)
    else:
        assert found.root is None
        assert found.unknown is not None
        assert found.unknown.text == text


@pytest.mark.parametrize(
    "text",
    [
        "skyrl-train job: trainer: done",
        "skyrl-train job: trainer: stopped by signal 15",
        "skyrl-train job: trainer: stopped by signal 15: the runtime job ended: done",
        "skyrl-train job: trainer: the trainer ended with 1",
        "skyrl-train job: trainer: the trainer exited with status 1",
        "skyrl-train job: ended 3 processes left by the trainer",
        "skyrl-train job: runtime: the trainer has ended",
        "skyrl-train job: ended 3 processes that the trainer had left",
        "skyrl-train train: syncing weights to the model servers",
        "skyrl-train train: step 3 has no usable rollout, new prompts are drawn: 4 x error_runtime: SandboxError: the sandbox did not start",
        "skyrl-train train: step 3 has no usable rollout; drawing new prompts: 4 x error_runtime: SandboxError: the sandbox did not start",
        "skyrl-train train: training starts from the model: there is no checkpoint yet in /work/run",
    ],
)
def test_news_are_no_cause(text: str) -> None:
    assert not (re.search(ERROR, text) and is_error(text))


def test_the_driver_marks_its_cause(capsys: pytest.CaptureFixture[str]) -> None:
    say("syncing weights")
    say_cause(RuntimeError("no free port"))
    news, cause = capsys.readouterr().err.splitlines()
    assert re.search(ERROR, news) is None
    assert re.search(ERROR, cause)
    assert is_error(cause)
