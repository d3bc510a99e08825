"""A diagnosis as programs and people get it."""

import json
import pkgutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from skyrl_doctor.core.signature import Part
from skyrl_doctor.logs.diagnose import diagnose
from skyrl_doctor.logs.show import data, text

LOGS = Path(__file__).parents[2] / "logs"
SCHEMA: Any = json.loads(pkgutil.get_data("skyrl_doctor.logs", "schema-diagnose-1.json") or b"")


def same(said: str) -> str:
    return said


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_every_diagnosis_keeps_the_schema() -> None:
    validator = Draft202012Validator(SCHEMA)
    for log in sorted(LOGS.glob("*/*.log"))[::4]:
        validator.validate(json.loads(json.dumps(data(diagnose([str(log)]).diagnosis, same))))


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"schema": 1, "root": None, "matches": [], "unknown": None, "more": 1},
        {
            "schema": 1,
            "root": None,
            "matches": [{"id": None, "slug": "x", "role": "root", "file": "a", "line": 1}],
            "unknown": None,
        },
        {
            "schema": 1,
            "root": {"id": None, "slug": "x", "file": "a", "line": 1, "text": "", "explain": "y"},
            "matches": [],
            "unknown": None,
        },
    ],
)
def test_what_is_no_diagnosis_does_not(wrong: dict[str, object]) -> None:
    assert not Draft202012Validator(SCHEMA).is_valid(wrong)


def test_a_person_reads_where_in_the_code_it_was_raised() -> None:
    found = diagnose([str(LOGS / "AGT008" / "rlock.log"), str(LOGS / "CFG005" / "verl.log")])
    frames = {hit.failure.name: hit.line.frame for hit in found.diagnosis.matches if hit.line.frame}
    assert frames["CFG005"] == "/app/verl/workers/rollout/vllm_rollout/vllm_rollout_spmd.py:140 in __init__"
    shown = "\n".join(text(diagnose([str(LOGS / "CFG005" / "verl.log")]).diagnosis, "", same, 1))
    assert "  raised in /app/verl/workers/rollout/vllm_rollout/vllm_rollout_spmd.py:140 in __init__\n" in shown


def test_frames_of_libraries_and_of_other_processes_are_no_place_to_look() -> None:
    shown = "\n".join(text(diagnose([str(LOGS / "GPU001" / "gpu_uuid.log")]).diagnosis, "", same, 1))
    assert (
        "raised in /venv/lib/python3.12/site-packages/vllm/platforms/interface.py:230 in device_id_to_physical_device_id"
        in shown
    )
    shown = "\n".join(text(diagnose([str(LOGS / "CKP003" / "pos.log")]).diagnosis, "", same, 1))
    assert "  called from /app/verl/utils/checkpoint/fsdp_checkpoint_manager.py:161 in save_checkpoint\n" in shown


def test_of_an_unknown_error_it_is_said_how_many_are_like_it(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("".join(f"ValueError: row {n} of task {n} has no reward\n" for n in range(9)), encoding="utf-8")
    found = diagnose([str(log)]).diagnosis
    assert list(text(found, "", same, 1))[-1] == (
        "  9 similar lines in this file, from line 1 to 9: ValueError: row * of task * has no reward"
    )
    assert data(found, same)["unknown"]["cluster"] == {
        "template": "ValueError: row * of task * has no reward",
        "count": 9,
        "first": 1,
        "last": 9,
    }


def test_what_the_run_outlived_is_told_of_and_no_cause(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    steps = "".join(f"step:{n} - actor/loss:0.1\n" for n in range(3))
    log.write_text(f"Error: beginning container create transaction: database is locked\n{steps}", encoding="utf-8")
    assert list(text(diagnose([str(log)]).diagnosis, "", same, 1))[:3] == [
        "Known failures, but the run continued after them:",
        f"  POD009 database-locked-under-burst, {log}:1",
        "No known failure and no error found in 1 file.",
    ]


def lines_of(tmp_path: Path, *lines: str) -> list[str]:
    log = tmp_path / "a.log"
    log.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    found = diagnose([str(log)]).diagnosis
    Draft202012Validator(SCHEMA).validate(json.loads(json.dumps(data(found, same))))
    return [line.replace(str(tmp_path), "") for line in text(found, "", same, 1)]


def test_a_long_neighbour_of_the_line_is_cut_and_the_line_itself_is_not(tmp_path: Path) -> None:
    long = "x" * 300
    metrics, error = lines_of(tmp_path, f"step:1 - {long}", f"ValueError: {long}")[2:4]
    assert metrics == f"{f'         1 | step:1 - {long}'[:159]}…"
    assert error == f"  >      2 | ValueError: {long}"


def test_an_unknown_error_comes_with_a_text_to_search_for_and_the_other_errors(tmp_path: Path) -> None:
    shown = lines_of(tmp_path, "ValueError: row 12 has no reward", "KeyError: 'a'", "KeyError: 'b'")
    assert shown == [
        "No known failure matched. The first error:",
        "  /a.log:1",
        "  >      1 | ValueError: row 12 has no reward",
        "         2 | KeyError: 'a'",
        "         3 | KeyError: 'b'",
        '  search the web for: ValueError "has no reward"',
        "Other errors that no known failure matches:",
        "  2 lines like KeyError: 'a', first at /a.log:2",
    ]


def test_an_error_that_ended_nothing_is_shown_and_is_no_alarm(tmp_path: Path) -> None:
    assert lines_of(tmp_path, "2026-03-02 09:14:03,120 - own - ERROR - odd, falling back to 3") == [
        "No known failure found in 1 file.",
        "The first error line. It announces another try, or the run continued after it:",
        "  /a.log:1",
        "  >      1 | 2026-03-02 09:14:03,120 - own - ERROR - odd, falling back to 3",
    ]


def test_a_failure_named_by_its_words_is_only_probable(tmp_path: Path) -> None:
    shown = lines_of(tmp_path, "ERROR trainer: could not save: no free disk space on /scratch")
    assert shown[0].startswith("probably CKP003 disk-too-small: ")
    assert shown[1] == "No signature matches the line. It is named by its words."


PAGE = """Title.

## What it does
Looks.

## Why it breaks training
It ends.

## How to fix
Start one Ray cluster. `skyrl-train launch` does
both. Request `a.b`.

## Example
    x
"""


def test_users_of_another_framework_read_nothing_of_skyrl_train(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    texts = {}
    for mark in ("skyrl-train job: trainer: done", "/app/verl/trainer/main_ppo.py", "fine"):
        log.write_text(f"{mark}\nNo available worker slots\n", encoding="utf-8")
        texts[mark] = "\n".join(text(diagnose([str(log)]).diagnosis, PAGE, same, 1))
    both = "Start one Ray cluster. `skyrl-train launch` does both. Request `a.b`."
    assert [both in one for one in texts.values()] == [True, False, False]
    assert "Start one Ray cluster. Request `a.b`." in texts["/app/verl/trainer/main_ppo.py"]


def test_a_remedy_without_our_parts_is_still_a_sentence(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text("No available worker slots\n", encoding="utf-8")
    page = "Full.\n\n## How to fix\nKeep fewer, or remove old ones: `skyrl-train checkpoints prune DIR`. If it is full, look.\n"
    shown = " ".join(" ".join(text(diagnose([str(log)]).diagnosis, page, same, 1)).split())
    assert "Keep fewer, or remove old ones. If it is full, look." in shown


def test_a_consequence_has_the_id_of_its_failure(tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text("No available worker slots\n", encoding="utf-8")
    found = diagnose([str(log)]).diagnosis
    assert found.root is not None
    failure = found.root.failure
    follows = replace(failure, signature=replace(failure.signature, role=Part.CASCADE))
    later = replace(found, root=None, unknown=found.root.line, matches=(replace(found.root, failure=follows),))
    shown = " ".join("\n".join(text(later, "", same, 1)).replace(str(tmp_path), "").split())
    assert shown.endswith(
        "Consequences, not the cause: RUN005, /x.log:1: more sandboxes were requested at once than the runtime has slots"
    )


def report(path: Path, body: str) -> list[str]:
    path.write_text(body, encoding="utf-8")
    return list(text(diagnose([str(path)]).diagnosis, "", same, 1))


def test_a_run_that_ended_well_survived_its_error(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    shown = report(path, "ValueError: odd panel\nTraining finished\n")
    assert shown == [
        "No known failure found in 1 file.",
        "The run ended well. This line looks like an error, and the run survived it:",
        f"  {path}:1",
        "  >      1 | ValueError: odd panel",
        "         2 | Training finished",
        f"The run completed: {path}:2",
    ]


def test_an_error_in_the_users_own_code_is_not_searched_for(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    shown = report(
        path, "Traceback (most recent call last):\n  File \"/home/me/a.py\", line 3, in f\n    x['']\nKeyError: ''\n"
    )
    assert shown[-2:] == ["  raised in /home/me/a.py:3 in f", "  This is your own code: look at f, line 3 of a.py"]


def test_the_users_own_frame_is_named_beside_that_of_a_library(tmp_path: Path) -> None:
    library = "/env/lib/python3.12/site-packages/oddlib/client.py"
    path = tmp_path / "a.log"
    shown = report(
        path,
        'Traceback (most recent call last):\n  File "/home/me/a.py", line 3, in f\n    run()\n'
        f'  File "{library}", line 9, in run\n    go()\nTypeError: the token is of another type\n',
    )
    assert shown[-4:] == [
        f"  raised in {library}:9 in run",
        "  called from your own code: /home/me/a.py:3 in f",
        "  raised by oddlib",
        '  search the web for: oddlib TypeError "the token is of another type"',
    ]
