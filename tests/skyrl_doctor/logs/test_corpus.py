"""The labelled logs of tests/logs: <ID>/ holds logs whose cause is that failure, healthy/ and unknown/ none that is known."""

from pathlib import Path

import pytest

from skyrl_doctor.catalogue import When, catalogue
from skyrl_doctor.logs.diagnose import diagnose
from skyrl_doctor.logs.judge.hits import MAX_KEPT

LOGS = Path(__file__).parents[2] / "logs"
FILES = sorted(LOGS.glob("*/*.log"))


def named(file: Path) -> str:
    return f"{file.parent.name}/{file.stem}"


def said(*files: Path) -> str:
    found = diagnose([str(file) for file in files])
    assert found.unread == ()
    if found.diagnosis.root is not None:
        return found.diagnosis.root.failure.name
    return "unknown" if found.diagnosis.unknown else "healthy"


@pytest.mark.parametrize("file", FILES, ids=named)
def test_the_cause_is_named(file: Path) -> None:
    assert said(file) == file.parent.name


@pytest.mark.parametrize("file", FILES, ids=named)
def test_the_cause_is_named_among_healthy_logs(file: Path) -> None:
    beside = [LOGS / "healthy" / f"{name}.log" for name in ("config_dump", "error_metrics", "pip_resolver")]
    assert said(*beside, file) == file.parent.name


@pytest.mark.parametrize("file", FILES, ids=named)
def test_the_ends_of_lines_may_be_any(file: Path, tmp_path: Path) -> None:
    text = file.read_bytes()
    other = tmp_path / file.name
    other.write_bytes(text.rstrip(b"\n").replace(b"\n", b"\r\n"))
    assert said(other) == file.parent.name


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("actions", "2026-01-15T16:04:20.7109104Z ##[error]Action "),
        ("compiler", "2026-01-15T16:00:12.7886920Z /w/torch/csrc/profiler/metadata.cpp:128:26: error: "),
        ("dataloader_worker", "ValueError: sequence_length=5284 is larger"),
        ("paid_api", "openai.APIStatusError: Error code: 402"),
        ("rocm_error", "ROCm error: unspecified launch failure"),
        ("timed_out_host", "requests.exceptions.ConnectTimeout: HTTPSConnectionPool(host="),
    ],
)
def test_the_line_shown_is_the_one_with_the_reason(name: str, start: str) -> None:
    unknown = diagnose([str(LOGS / "unknown" / f"{name}.log")]).diagnosis.unknown
    assert unknown is not None
    assert unknown.text.strip().startswith(start)


def test_of_two_signatures_of_a_failure_the_first_explains_the_line() -> None:
    root = diagnose([str(LOGS / "MEM001" / "vllm_start.log")]).diagnosis.root
    assert root is not None
    assert root.failure.signature.versions == "vllm"


def test_the_corpus_is_whole() -> None:
    core = {entry.id for entry in catalogue().entries if entry.core and When.LOG in entry.when}
    assert core - {file.parent.name for file in FILES} == set()
    assert len(list(LOGS.glob("healthy/*.log"))) >= 15
    assert len(list(LOGS.glob("unknown/*.log"))) >= 6
    assert MAX_KEPT > 1


@pytest.mark.parametrize(
    "launched",
    [
        "0: ",
        "[rank0]: ",
        "[default3]:[rank3]: ",
        "trainer-1  | ",
        "2026-03-02T04:01:14.118932Z stderr F ",
        "Mar 02 04:01:14 gpu07 python3[812]: ",
    ],
)
@pytest.mark.parametrize("kind", sorted({file.parent.name for file in FILES}))
def test_what_starts_a_process_may_write_before_its_lines(kind: str, launched: str, tmp_path: Path) -> None:
    for file in sorted(LOGS.glob(f"{kind}/*.log"))[::3]:
        if launched == "0: " and b"\n'" in file.read_bytes():
            continue  # after a number and a colon, a quote may be the rest of a line that was cut there
        other = tmp_path / file.name
        other.write_bytes(b"".join(launched.encode() + line for line in file.read_bytes().splitlines(keepends=True)))
        assert (file.name, said(other)) == (file.name, kind)
