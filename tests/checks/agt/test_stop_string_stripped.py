"""AGT014."""

from checks.agt.stop_string_stripped import stop_string_stripped
from plans import MIG20, example, found, verdict
from skyrl_doctor.core.model import Location, Severity, Status
from skyrl_doctor.plan.findings import config_finding
from support import plan_of

TASK = "examples/skyrl-agent/verl_oh.yaml"


def test_only_what_closes_a_call_matters() -> None:
    for stops, keep, told in (
        (["</function>"], False, 1),
        (["</function"], False, 1),
        (["</function>"], True, 0),
        (["END"], False, 0),
        ([], False, 0),
    ):
        made = plan_of(rollout__stop=stops, rollout__keep_stop=keep)
        assert len(list(stop_string_stripped(made))) == told


def test_reproduces_the_configuration_of_the_notes() -> None:
    assert found("AGT014", example("examples/skyrl-agent/dev.conf", TASK)) == [
        config_finding(
            "generator.sampling_params.stop contains '</function>' and generator.sampling_params.include_stop_str_in_output is off; expected true, because vLLM strips the text that ends a call",
            Location(TASK, 10, "generator.sampling_params.stop"),
            {"generator.sampling_params.include_stop_str_in_output": "true"},
            severity=Severity.WARNING,
        )
    ]


def test_silent_on_the_clean_configuration() -> None:
    assert found("AGT014", example(MIG20)) == []
    assert verdict("AGT014", plan_of()) == (Status.SKIP, "the configuration sets no stop text")
