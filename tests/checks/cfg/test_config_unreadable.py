"""CFG004."""

from checks.cfg.config_unreadable import config_unreadable
from plans import MIG20, example, found, plan, verdict
from skyrl_doctor.core.model import Location, Severity, Status
from skyrl_doctor.plan.findings import NO_PLAN, config_finding
from skyrl_doctor.plan.model import Plan, Problem


def test_tells_each_problem_of_the_plan() -> None:
    place = Location("f.toml", 3, "a.b")
    made = Plan(
        ("f.toml",),
        "run-config",
        problems=(
            Problem(message="one", location=place),
            Problem(message="two", location=place, settings={"a": "b"}, fatal=False),
            Problem(message="three", location=place, fatal=False, is_note=True),
        ),
    )
    assert list(config_unreadable(made)) == [
        config_finding("one", place),
        config_finding("two", place, {"a": "b"}, severity=Severity.WARNING),
        config_finding("three", place, severity=Severity.INFO),
    ]


def test_reproduces_two_faults_in_one_file() -> None:
    made = plan("[model]\npath = 'x'\nattention = 'sdpa'\n[rolout]\nn = 3\n")
    assert found("CFG004", made) == [
        config_finding(
            "unknown setting `rolout`; did you mean `rollout`?",
            Location("run.toml", 4, "rolout"),
            moves={"rolout": "rollout"},
        ),
    ]
    assert found("CFG004", plan("[model]\npath = 'x'\nattention = 'sdpa'\n[trainer]\nresume = 'path'\n")) == [
        config_finding(
            "remove_padding needs flash_attention_2, but attention is sdpa",
            Location("run.toml", None, "model.remove_padding"),
            {"model.remove_padding": "false"},
        ),
        config_finding(
            "resume is 'path' and resume_from is None; set resume_from if and only if resume = 'path'",
            Location("run.toml", None, "trainer.resume_from"),
        ),
    ]


def test_a_misspelled_key_in_a_table_that_another_check_judges() -> None:
    made = Plan(
        ("rl.toml",),
        "prime-rl",
        problems=tuple(
            Problem(message=key, location=Location("rl.toml", 3, key), fatal=False)
            for key in ("trainer.model.ac", "trainer.model.ac.freq_x")
        ),
    )
    assert [finding.message for finding in config_unreadable(made)] == ["trainer.model.ac.freq_x"]


def test_keys_that_could_not_be_checked_are_no_pass() -> None:
    reason = "recipe.x.main_x: its file is not in a directory above the script; its keys are not checked"
    unchecked = Plan(("run.sh",), "verl", unchecked=(reason,))
    assert verdict("CFG004", unchecked) == (Status.UNKNOWN, reason)
    place = Location("run.sh", 3, "a.b")
    warned = Problem(message="one", location=place, fatal=False)
    assert verdict("CFG004", Plan(("run.sh",), "verl", problems=(warned,), unchecked=(reason,)))[0] is Status.UNKNOWN
    with_problem = Plan(("run.sh",), "verl", problems=(Problem(message="one", location=place),), unchecked=(reason,))
    assert [(one.message, one.severity) for one in config_unreadable(with_problem)] == [
        ("one", Severity.ERROR),
        (reason, Severity.WARNING),
    ]


def test_silent_on_the_clean_configuration() -> None:
    assert found("CFG004", example(MIG20)) == []
    assert verdict("CFG004", Plan()) == (Status.SKIP, NO_PLAN)


def test_a_value_that_the_running_script_makes_is_a_note_and_an_unset_variable_a_warning() -> None:
    script = "python3 -m verl.trainer.main_ppo trainer.experiment_name=run_$(date +%F) trainer.project_name=$NOT_SET\n"
    severities = {finding.message: finding.severity for finding in found("CFG004", plan(script, "run.sh"))}
    assert severities == {
        "trainer.experiment_name = run_$(date +%F): known only when the script runs": Severity.INFO,
        "trainer.project_name = $NOT_SET: NOT_SET is not set here": Severity.WARNING,
    }
