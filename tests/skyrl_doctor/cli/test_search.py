"""`explain` and `list` by words."""

import pytest

from skyrl_doctor.cli.app import dispatch


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


@pytest.mark.parametrize(
    ("words", "id_"), [(("wandb",), "ENV005"), (("wandb", "key"), "ENV005"), (("nccl",), "TRN009")]
)
def test_words_of_one_name_or_summary_print_its_page(
    words: tuple[str, ...], id_: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert out(capsys, "explain", *words)[0].startswith(f"{id_} ")


def test_list_finds_the_words_of_log_lines_too(capsys: pytest.CaptureFixture[str]) -> None:
    found = [line[:6] for line in out(capsys, "list", "NVLink")]
    assert "GPU006" in found
    assert len(out(capsys, "list", "oom")) < len(out(capsys, "list"))


def test_words_that_nothing_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["list", "zzzz"]) == dispatch(["explain", "zzzz"]) == 2
    assert capsys.readouterr().err == (
        "skyrl-doctor list: no failure has the words 'zzzz'; `skyrl-doctor list` prints all\n"
        "skyrl-doctor explain: no failure has the name or the words 'zzzz'; run `skyrl-doctor list` for all failures\n"
    )


def test_a_mistyped_name_names_the_closest(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["explain", "gpu0001"]) == 2
    assert capsys.readouterr().err.endswith("did you mean GPU001?\n")
