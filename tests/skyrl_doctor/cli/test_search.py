"""`explain` and `list` by words."""

import pytest

from skyrl_doctor.catalogue import catalogue
from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.cli.listing import rows
from skyrl_doctor.cli.search import find
from skyrl_doctor.symptoms import SYMPTOMS
from support import registry


def out(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert dispatch(list(words)) == 0
    return capsys.readouterr().out.splitlines()


OF_MEMORY = ["MEM002", "MEM005", "MEM006", "ENV007", "MEM001"]


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (("oom",), OF_MEMORY),
        (("out", "of", "memory"), OF_MEMORY),
        (("OOM",), OF_MEMORY),
        (("time", "limit"), ["TRN008", "SLM001"]),
    ],
)
def test_a_word_that_several_pages_have_lists_them(
    words: tuple[str, ...], ids: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = out(capsys, "explain", *words)
    assert lines[0].startswith(f"{len(ids)} failures match")
    assert sorted(line[:6] for line in lines[1:] if line[3:6].isdigit()) == sorted(ids)
    assert "Found before the job" in " ".join(lines)


@pytest.mark.parametrize(("words", "id_"), [(("wandb",), "ENV005"), (("wandb", "key"), "ENV005"), (("xid",), "GPU006")])
def test_words_of_one_name_or_summary_print_its_page(
    words: tuple[str, ...], id_: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert out(capsys, "explain", *words)[0].startswith(f"{id_} ")


def test_list_finds_the_words_of_log_lines_too(capsys: pytest.CaptureFixture[str]) -> None:
    found = [line[:6] for line in out(capsys, "list", "NVLink")]
    assert "GPU006" in found
    assert len(out(capsys, "list", "oom")) < len(out(capsys, "list"))


PHRASES = {
    "my job hangs": ("TRN006", "AGT018", "POD007", "TRN007", "TRN008"),
    "stuck at step 1": ("TRN006",),
    "nothing happens": ("TRN006",),
    "reward stays zero": ("AGT021", "AGT019"),
    "reward zero": ("AGT021", "AGT019"),
    "all rewards 0": ("AGT021", "AGT019"),
    "reward goes down": ("AGT019",),
    "it does not learn": ("AGT019", "AGT021", "CFG012"),
    "exit code 137": ("ENV007",),
    "exit code 139": ("ENV004", "ENV011"),
    "exit code 143": ("TRN011",),
    "killed by slurm": ("SLM011", "SLM012", "SLM001"),
    "loss is nan": ("TRN005",),
    "disk is full": ("CKP003", "POD002"),
    "no space left on device": ("CKP003",),
    "segfault": ("ENV004", "ENV011"),
    "wandb not logged in": ("ENV005",),
    "can't connect to ray": ("ENV009",),
    "no gpu found": ("GPU005", "GPU001"),
    "GPU is used by another process": ("GPU003",),
    "model not found": ("MOD003",),
    "401 unauthorized": ("RUN001", "MOD005"),
    "docker rate limit": ("IMG009",),
    "training does not resume": ("CKP001", "CKP004"),
    "starts from step 0 again": ("CKP001",),
    "nccl timeout": ("TRN008",),
    "flash attention not installed": ("ENV021", "TRN020"),
    "model does not use tools": ("AGT015",),
    "too many open files": ("ENV008",),
    "prompt too long": ("CFG001",),
    "dataset is empty": ("CFG007",),
    "training is slow": ("RUN010", "ENV002", "IMG005", "RUN005"),
    "podman doesn't start": ("POD008", "POD011", "POD001", "POD009"),
    "wrong number of gpus": ("GPU004", "GPU002"),
}
"""What people with a failed job type, and the failures that they are led to."""


def test_plain_phrases_lead_to_failures() -> None:
    known = rows(registry().checks)
    found = {phrase: find(known, (phrase,)) for phrase in PHRASES}
    assert {phrase: tuple(row["id"] for row in hits.named or hits.rows) for phrase, hits in found.items()} == PHRASES
    assert [hits.note for hits in found.values() if hits.note] == []


def test_the_symptoms_are_of_known_failures() -> None:
    assert sorted(set(SYMPTOMS) - {entry.id for entry in catalogue().entries}) == []


def test_words_that_no_failure_has_all_of_lead_to_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    lines = out(capsys, "explain", "no", "module", "named", "zzzz")
    assert lines[:3] == [
        "'no module named zzzz': no failure has all of these words; the nearest are",
        "  below; run `skyrl-doctor explain` with this id:",
        "ENV022  module-not-found",
    ]
    assert dispatch(["list", "no", "module", "named", "zzzz"]) == 0
    printed = capsys.readouterr()
    assert [line[:6] for line in printed.out.splitlines()] == ["ENV022"]
    assert printed.err == (
        "skyrl-doctor list: 'no module named zzzz': no failure has all of these words; the nearest are below:\n"
    )


@pytest.mark.parametrize("words", [("no", "such", "partition"), ("gcs", "node", "timeout")])
def test_pages_that_have_the_words_apart_are_only_the_nearest(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    said = " ".join(out(capsys, "explain", *words)[:3])
    assert f"{' '.join(words)!r}: no failure is about this; pages that have these words are below; run" in " ".join(
        said.split()
    )


def test_a_taken_port_is_not_only_of_nccl(capsys: pytest.CaptureFixture[str]) -> None:
    """The symptoms of one failure had these words, so that its page was printed for every such error."""
    for words in (("address", "already", "in", "use"), ("port", "in", "use")):
        assert "TRN009 collective-failed" not in out(capsys, "explain", *words)


def test_a_misspelt_word_is_read_as_the_closest(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["list", "podmann", "missing"]) == 0
    printed = capsys.readouterr()
    assert printed.err == "skyrl-doctor list: 'podmann missing': read 'podmann' as 'podman':\n"
    assert "POD011" in [line[:6] for line in printed.out.splitlines()]


def test_words_that_nothing_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["list", "zzzz"]) == dispatch(["explain", "zzzz"]) == 2
    assert capsys.readouterr().err == (
        "skyrl-doctor list: no failure has the words 'zzzz'; `skyrl-doctor list` prints all\n"
        "skyrl-doctor explain: no failure has the name or the words 'zzzz'; run `skyrl-doctor list` for all failures\n"
    )


def test_a_mistyped_name_names_the_closest(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["explain", "gpu0001"]) == 2
    assert capsys.readouterr().err.endswith("did you mean GPU001?\n")


def test_explain_and_list_count_the_same_failures(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["list", "oom"]) == 0
    listed = capsys.readouterr().out.splitlines()
    explained = out(capsys, "explain", "oom")
    chosen = [line[:6] for line in explained if line[:3].isupper()]
    assert chosen == [line[:6] for line in listed if line[:6] in chosen]
    assert " ".join(" ".join(explained[-2:]).split()).endswith(
        f"{len(listed) - len(chosen)} more with these words in their pages or log lines: skyrl-doctor list oom"
    )
