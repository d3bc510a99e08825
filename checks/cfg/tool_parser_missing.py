"""Tool calls are enabled without a parser that vLLM has.

## What it does
If the configuration lets vLLM parse tool calls, checks that it names a parser and that vLLM has it.

## Why it breaks training
vLLM refuses to start, because it cannot guess how a model writes its calls. If only the parser is named and the
switch is off, vLLM rejects every request with tools while the run waits for its first rollout.

## How to fix
Name the parser of the model's family (`hermes` for Qwen2.5 and most fine-tunes), and turn on the switch.

## Example
    "auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set
"""

from collections.abc import Iterator

from checks.vocabulary import LACK
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.tool_parsers import KNOWN, nearest

CAUSE = "the server was started without a parser for tool calls, or with an unknown one"

BOTH = "Start vLLM with `--enable-auto-tool-choice --tool-call-parser NAME`, or set `{key:rollout.auto_tool_choice}` and `{key:rollout.tool_call_parser}`. NAME is that of the model's family: `hermes` for Qwen2.5 and most fine-tunes."
LIST = "Choose a name from the list in the error. It grows with vLLM: a parser for a new model needs a newer vLLM, or a plugin (`--tool-parser-plugin`)."

KEYS = ("rollout.auto_tool_choice", "rollout.tool_call_parser", "model.path")

SIGNATURES = (
    Signature(
        pattern=r"tool choice requires --enable-auto-tool-choice",
        sample="openai.BadRequestError: Error code: 400 - {'error': {'message': '\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'}}",
        explain="a request has tools, but the server was started without a parser for tool calls",
        remedy=BOTH,
        versions="vllm",
    ),
    Signature(
        pattern=r"invalid tool call parser: (?P<name>[\w.-]{1,60})",
        sample="KeyError: 'invalid tool call parser: nope (chose from { hermes,llama3_json,mistral })'",
        explain="vLLM has no tool parser `{name}`",
        remedy=LIST,
        versions="vllm",
    ),
    Signature(
        pattern=r"--enable-auto-tool-choice requires --tool-call-parser|argument --tool-call-parser: invalid choice|(?:[Uu]nknown|[Uu]nsupported|[Ii]nvalid) tool[_ -](?:call[_ -])?parser|[Tt]ool parser \S{1,60} is not (?:registered|supported|known|available)",
        sample="TypeError: Error: --enable-auto-tool-choice requires --tool-call-parser",
        explain=CAUSE,
        remedy=f"{BOTH} {LIST}",
        versions="vllm, verl",
    ),
    Signature(
        pattern=r"[Tt]ool (?:call )?(?:parser|helper):? ?'[\w-]{1,60}' (?:is )?not found|is not found in tool_parsers|\b[Tt]ool [Pp]arser could not locate (?:the )?tool calls?\b|\b\w{1,20} XML parser: tokenizer did not include\b",
        sample="KeyError: \"tool helper: 'nope' is not found in tool_parsers!\"",
        explain="the installed vLLM has no tool parser of this name",
        remedy=LIST,
        versions="vllm",
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\btool[- _](?:call[- _])?parser\b.{{0,60}}(?:{LACK}|unknown|unsupported|required)|\bno tool[- _](?:call[- _])?parser\b",
    sample="RuntimeError: no tool call parser was given",
    explain=CAUSE,
    remedy=BOTH,
    versions="any",
)

SWITCH, PARSER = "rollout.auto_tool_choice", "rollout.tool_call_parser"
PARSER_ALONE = ("prime-rl",)


@check("CFG006", fix="skyrl_train/config/tool_parsers.py")
def tool_parser_missing(plan: Plan) -> Iterator[Finding]:
    is_on, parser = required(plan).flag(SWITCH), plan.text(PARSER)
    if not is_on and parser is None:
        raise NotApplicable("the configuration does not let vLLM parse tool calls")
    if parser is None:
        message = (
            f"{plan.name(SWITCH)} is on, but {plan.name(PARSER)} is not set; expected the parser of the model's family"
        )
        yield config_finding(message, plan.place(SWITCH), plan.settings({PARSER: "hermes"}))
        return
    if parser not in KNOWN:
        message = (
            f"{plan.name(PARSER)} = {parser!r} is not a parser of vLLM; expected one of {', '.join(sorted(KNOWN))}"
        )
        # A plugin may bring a parser of its own, so this is likely and not certain.
        yield config_finding(
            message, plan.place(PARSER), plan.settings({PARSER: nearest(parser)}), severity=Severity.WARNING
        )
    if is_on is False and not plan.is_of(*PARSER_ALONE):
        message = f"{plan.name(PARSER)} = {parser!r} has no effect while {plan.name(SWITCH)} is off; expected true"
        yield config_finding(message, plan.place(PARSER), plan.settings({SWITCH: "true"}))
