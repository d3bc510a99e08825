"""A remedy speaks only of the parts of a system that the log shows."""

import re
from pathlib import Path

import pytest

from skyrl_doctor.core.signature import Part
from skyrl_doctor.logs.diagnose import diagnose
from skyrl_doctor.logs.judge.hits import Hit
from skyrl_doctor.logs.judge.lines import Line
from skyrl_doctor.logs.match.signatures import KnownFailure, load_signatures, load_topics
from skyrl_doctor.logs.sentences import remedy
from skyrl_doctor.logs.show import own_remedy, text
from skyrl_doctor.logs.surroundings import ALL, OURS, WORDS, choose, fit, marked, shown_parts

WITH_REMEDY = [
    entry
    for entry in (*load_signatures(), *load_topics())
    if entry.signature.role is Part.ROOT and entry.signature.remedy
]
ECC = "RuntimeError: CUDA error: uncorrectable ECC error encountered"


def advised(tmp_path: Path, *lines: str) -> str:
    log = tmp_path / "run.log"
    log.write_text("\n".join(lines) + "\n")
    diagnosis = diagnose([str(log)]).diagnosis
    assert diagnosis.root is not None
    return own_remedy(diagnosis.root, diagnosis)


def test_a_sentence_about_a_part_that_is_not_shown_is_left_out() -> None:
    written = "Raise the limit. `sacct -j JOB` shows it. Ask Slurm: `sinfo` lists them. Try again."
    assert fit(written, ALL) == written
    assert fit(written, set()) == "Raise the limit. Try again."
    assert fit("Ray has a limit of its own.", set()) == ""


def test_a_sentence_that_loses_its_second_half_ends_with_a_full_stop() -> None:
    assert (
        fit("Remove the option; `skyrl-doctor env` does it. Try again.", ALL - {OURS})
        == "Remove the option. Try again."
    )
    assert fit("Remove what is left: `skyrl-train sweep`.", ALL - {OURS}) == "Remove what is left."


def test_a_sentence_goes_with_what_it_introduces() -> None:
    assert fit("Try again. On other nodes: `srun hostname`.", ALL - {"slurm"}) == "Try again."
    assert (
        fit("Fewer threads (with `a: b` (`c: d`). More), or none.", ALL)
        == "Fewer threads (with `a: b` (`c: d`). More), or none."
    )


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ({"slurm"}, "Request one (Slurm: `--gres`; a container: `--gpus`) on node A."),
        (set(), "Request one (a container: `--gpus`) on node B."),
    ],
)
def test_alternatives_and_choices(shown: set[str], expected: str) -> None:
    written = "Request one (Slurm: `--gres`; a container: `--gpus`) on node {slurm:A|B}."
    assert choose(written, shown) == expected


def test_parentheses_without_an_alternative_go() -> None:
    assert choose("Request more (Slurm: `--mem`), or use less.", set()) == "Request more, or use less."


@pytest.mark.parametrize("entry", WITH_REMEDY, ids=lambda entry: entry.name)
def test_no_remedy_is_for_a_part_that_the_line_does_not_show(entry: KnownFailure) -> None:
    sample = entry.signature.sample
    parts = shown_parts(set(marked(sample.encode())), "", "", entry.name, sample)
    found = Hit(entry, Line(file="a.log", order=0, number=1, text=sample, clock=None, context=((1, sample),)))
    shown = remedy(found, "", parts)
    assert shown
    assert "slurm" in parts or not WORDS["slurm"].search(shown)
    assert not re.search(r"[;:,]$|  |\{[a-z]+:|\|\}", shown)


def test_a_server_alone_is_not_sent_to_slurm(tmp_path: Path) -> None:
    found = advised(tmp_path, ECC)
    assert "--exclude" not in found
    assert "another node" in found


def test_a_job_of_slurm_is(tmp_path: Path) -> None:
    assert "--exclude=NODE" in advised(tmp_path, "srun: job 4711 has been allocated resources", ECC)


def test_the_number_of_the_job_is_filled_in(tmp_path: Path) -> None:
    log = tmp_path / "slurm-4711.out"
    log.write_text("torch.distributed.elastic.multiprocessing.api.SignalException: Process 2811 got signal: 15\n")
    found = diagnose([str(log)])
    lines = "\n".join(text(found.diagnosis, "", str, 1))
    assert found.newest.slurm_id == "4711"
    assert "sacct -j 4711" in lines
    assert "JOB" not in lines


def test_our_own_logs_have_every_part() -> None:
    assert shown_parts(set(), "run-config", "", "GPU001", "") == ALL
    assert shown_parts(set(), "verl", "", "SLM001", "") == {"framework", "verl", "ray", "slurm"}
    assert shown_parts(set(), "", "4711", "X", "") == {"slurm"}


def test_marks_are_words_of_their_parts() -> None:
    assert set(marked(b"slurmstepd: error: x\n(raylet) y\nMIG-9b2c")) == {"slurm", "ray", "mig"}
    assert set(marked(b"an array of arrays; import numpy")) == set()
