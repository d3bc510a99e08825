"""The bundle of a job: what it holds, that it holds no secret, its size, and that the other commands read it."""

from pathlib import Path

import pytest

from job_samples import SECRET, make_job
from skyrl_doctor.bundle import LEFT_OUT, LOG_BYTES, collect, redactor_of
from skyrl_doctor.html.job import read_job
from skyrl_doctor.machine.redact import Redactor
from skyrl_train.contracts.job_files import JOB_SUMMARIES, KEY

RUNTIME_KEY = "kJ83hd-w0Qz_77aLmX2"


@pytest.fixture
def job(tmp_path: Path) -> Path:
    made = make_job(tmp_path / "job", steps=3, prompts=2, samples=2)
    (made / KEY).write_text(RUNTIME_KEY)
    (made / "core.1234").write_bytes(b"memory")
    with (made / "training_42.out").open("a") as log:
        log.write(f"runtime said {RUNTIME_KEY}\n")
    return made


def bundled(job: Path, place: Path, *, most_bytes: int = 20_000_000) -> dict[str, str]:
    collect(str(job), str(place), Redactor([RUNTIME_KEY]), most_bytes=most_bytes)
    return {path.relative_to(place).as_posix(): path.read_text() for path in place.rglob("*") if path.is_file()}


def test_only_known_kinds_are_copied(job: Path, tmp_path: Path) -> None:
    assert sorted(bundled(job, tmp_path / "out")) == [
        "config.toml",
        "events.jsonl",
        "gate_trainer.json",
        "jobs.json",
        JOB_SUMMARIES,
        "training_42.out",
        "verdict.json",
    ]


def test_no_secret_is_in_a_bundle(job: Path, tmp_path: Path) -> None:
    assert [
        name for name, text in bundled(job, tmp_path / "out").items() if SECRET in text or RUNTIME_KEY in text
    ] == []


def test_no_text_of_a_rollout_is_in_a_bundle(job: Path, tmp_path: Path) -> None:
    assert "You fix bugs." not in "".join(bundled(job, tmp_path / "out").values())


def test_the_size_is_limited_and_the_rest_is_named(job: Path, tmp_path: Path) -> None:
    found = bundled(job, tmp_path / "out", most_bytes=6_000)
    assert sum(len(text) for name, text in found.items() if name != LEFT_OUT) <= 6_000
    assert "more than the limit allows" in found[LEFT_OUT]


def test_a_long_log_keeps_its_begin_and_its_end(job: Path, tmp_path: Path) -> None:
    (job / "long.log").write_text("first\n" + "middle\n" * 1_000_000 + "last\n")
    text = bundled(job, tmp_path / "out")["long.log"]
    assert len(text) <= LOG_BYTES + 100
    assert text.startswith("first\nmiddle\n")
    assert text.endswith("middle\nlast\n")
    assert "bytes left out" in text


def test_a_link_to_a_device_is_not_followed(job: Path, tmp_path: Path) -> None:
    (job / "endless.log").symlink_to("/dev/zero")
    (job / "endless.toml").symlink_to("/dev/zero")
    assert "endless.log" not in bundled(job, tmp_path / "out")


def test_a_bundle_reads_as_the_job_does(job: Path, tmp_path: Path) -> None:
    bundled(job, tmp_path / "out")
    (here, cause, _), (there, same, _) = read_job(str(job)), read_job(str(tmp_path / "out"))
    assert there.rollouts == here.rollouts
    assert [step.step for step in there.steps] == [1, 2, 3]
    assert (same.id, len(there.events)) == (cause.id, len(here.events))


def test_a_secret_of_the_configuration_is_known_in_the_logs(job: Path, tmp_path: Path) -> None:
    secret = "9f3b27c1d04e8a65f19c3b7d2e604a8c51d7f0b3"
    with (job / "config.toml").open("a") as file:
        file.write(f'\n[env]\nWANDB_API_KEY = "{secret}"\n')
    with (job / "training_42.out").open("a") as file:
        file.write(f"RuntimeError: login with {secret} failed\n")
    collect(str(job), str(tmp_path / "b"), redactor_of(str(job), {}), most_bytes=20_000_000)
    log = (tmp_path / "b/training_42.out").read_text()
    assert (secret in log, "RuntimeError: login with <redacted:" in log) == (False, True)


def test_a_password_that_is_a_plain_word_is_hidden_only_in_its_place(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text('DB_PASSWORD = "training"\n')
    redact = redactor_of(str(tmp_path), {})
    assert redact("training step 4") == "training step 4"
    assert "training" not in redact('DB_PASSWORD = "training"')
