"""CFG006."""

from checks.cfg.tool_parser_missing import tool_parser_missing
from plans import MIG20, example, found, plan, verdict
from skyrl_doctor.core.model import Location, Severity, Status
from skyrl_doctor.plan.findings import config_finding
from support import plan_of

HEAD = "[model]\nname = 'x'\n[orchestrator]\nrollouts_per_example = 2\n[inference.model]\n"


def test_a_switch_wants_a_parser() -> None:
    for switch, parser, told in ((True, None, 1), (True, "hermes", 0), (True, "hermez", 1), (False, "hermes", 1)):
        values = {"rollout__auto_tool_choice": switch} | ({"rollout__tool_call_parser": parser} if parser else {})
        assert len(list(tool_parser_missing(plan_of(**values)))) == told


def test_reproduces_a_server_that_does_not_start() -> None:
    assert found("CFG006", plan(HEAD + "enable_auto_tool_choice = true\n")) == [
        config_finding(
            "inference.model.enable_auto_tool_choice is on, but inference.model.tool_call_parser is not set; expected the parser of the model's family",
            Location("run.toml", 6, "inference.model.enable_auto_tool_choice"),
            {"inference.model.tool_call_parser": "hermes"},
        )
    ]


def test_a_parser_that_vllm_lacks_is_likely_a_slip() -> None:
    (finding,) = found("CFG006", plan(HEAD + "enable_auto_tool_choice = true\ntool_call_parser = 'qwen3_code'\n"))
    assert (finding.severity, finding.remedy and finding.remedy.settings) == (
        Severity.WARNING,
        {"inference.model.tool_call_parser": "qwen3_coder"},
    )


def test_silent_on_the_clean_configuration() -> None:
    assert found("CFG006", example("examples/prime-rl-2025/v5.toml")) == []
    assert found("CFG006", example("examples/prime-rl/two_gpus.toml")) == []
    assert verdict("CFG006", example(MIG20))[0] is Status.SKIP
