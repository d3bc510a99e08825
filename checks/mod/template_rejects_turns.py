"""The chat template does not render a conversation that the rollouts need.

## What it does
Renders the conversations of the configured loop with the model's chat template: a system message, a reply, a tool's result.
Reports a missing template, one that raises an error, one that changes the text of a reply, and one that leaves out the
result of a tool. It uses the tokenizer on this machine, in the training interpreter.

## Why it breaks training
Each rollout fails at its first prompt or after its first reply, or the model never sees what its tools answered. Many
templates refuse a system message, two messages of one role in a row, or tool calls without an id of their own format.
`skyrl-train` writes a system message into its tasks. verl and SkyRL render a new message after a conversation of
their own, which has a system message too.

## How to fix
Use a template that accepts these roles: put `chat_template.jinja` into a copy of the model's directory, or for verl set
`actor_rollout_ref.model.custom_chat_template`.

## Example
    jinja2.exceptions.TemplateError: System role not supported
"""

from collections.abc import Iterator

from checks.mod.shared import OWN_BUILDERS, RESULT, Loop, has_more_turns, has_tool_turns, loop_of, slices
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.chat_template import ChatTemplate
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.models import model_type

SIGNATURES = (
    Signature(
        pattern=r"(?:jinja2\.exceptions\.TemplateError|mistral_common\.exceptions\.Invalid\w{1,40}): (?P<why>.{1,200})|\bfailed to render chat messages with this (?:tokenizer|processor) chat_template\b|\bSystem role not supported\b",
        sample="jinja2.exceptions.TemplateError: Conversation roles must alternate user/assistant/user/assistant/...",
        explain="the model's chat template refuses these messages: {why}",
        remedy="Put the system text into the first user message, and join neighbours of one role. Or use a template that takes these roles: `chat_template.jinja` in a copy of the model's directory, or `--chat-template FILE` of a server. For verl: `actor_rollout_ref.model.custom_chat_template`.",
        versions="transformers, vllm",
    ),
    Signature(
        pattern=r"\bdoes not have a chat template\b|\btokenizer's chat_template is null\b|\bhas no chat_template set in its tokenizer_config\.json|\bhas no (?:(?:tokenizer|processor) )?chat[_ ]template(?:, so vision|\. )|\bChat mode requires a chat template\b|\bNo chat template is set for this processor\b|\bhas multiple chat templates with no default specified\b|tokenizer\.chat_template is not set and no template argument was passed|default chat template is no longer allowed, so you must provide",
        sample="ValueError: Cannot use chat template functions because tokenizer.chat_template is not set and no template argument was passed!",
        explain="the model's tokenizer has no chat template",
        remedy="Use the instruct model, or put a `chat_template.jinja` next to its tokenizer.",
        versions="transformers",
    ),
    Signature(
        pattern=r"Continuous Token token-id suffix diff failed for roles",
        sample="ValueError: Continuous Token token-id suffix diff failed for roles: ['tool']",
        explain="the model's chat template renders earlier messages differently once a tool's result follows",
        versions="verl",
    ),
    Signature(
        pattern=r"chat template changes the text of a reply",
        sample="skyrl_train.rl.engine.EngineError: the model's chat template changes the text of a reply; use a template that keeps it",
        explain="the model's chat template does not keep the text of a reply",
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"\bJinja Exception: (?P<why>[^\"'\n]{1,200})|\bgot exception: .{0,200}(?:conversation roles must alternate|roles are supported|[Ss]ystem role not supported)",
        sample="Error: Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/...",
        explain="the chat template of the model server refuses the messages that the agent sends",
        remedy="Send no second system message and no two messages of one role in a row, or start the server with another template (llama-server: `--jinja --chat-template-file FILE`).",
        versions="llama.cpp",
        last_resort=True,
    ),
    Signature(
        pattern=r"jinja2\.exceptions\.(?:UndefinedError|TemplateRuntimeError|TemplateSyntaxError|SecurityError): (?P<why>.{1,200})",
        sample="jinja2.exceptions.UndefinedError: 'dict object' has no attribute 'content'",
        explain="the model's chat template failed: {why}",
        remedy="Compare the fields of the messages with those that the template reads (`chat_template.jinja`, or `chat_template` in tokenizer_config.json). A syntax error: transformers or Jinja is older than the template.",
        versions="transformers, vllm",
        near=r"apply_chat_template|chat_template_utils|render_jinja_template|chat_template",
        within=60,
    ),
)

KEY = "model.path"
FIRST_PROMPT = {Loop.OURS: "prompt", Loop.VERL: "user_prompt", Loop.SKYRL: "skyrl_base"}


@check("MOD007", fix="skyrl_train/contracts/agent/follow_up.py")
def template_rejects_turns(plan: Plan, model: ModelFiles, template: ChatTemplate) -> Iterator[Finding]:
    loop, kind = loop_of(plan), model_type(model.config or {}) or ""
    why = _refused(plan, loop, template, kind)
    if why:
        yield config_finding(
            why,
            plan.place(KEY),
            summary="use a chat template that renders the messages of a rollout",
            evidence=(f"{template.tokenizer}: {template.source or 'no chat_template'}",),
        )


def _refused(plan: Plan, loop: Loop, template: ChatTemplate, kind: str) -> str:
    if not template.source:
        has_one = kind in OWN_BUILDERS and loop is Loop.VERL
        return "" if has_one else "the model's tokenizer has no chat template; expected the one of a chat model"
    first, alone = template.renders[FIRST_PROMPT[loop]], template.renders["user_prompt"]
    if first.error:
        what = "the first prompt" if alone.error else "a system message"
        return f"the chat template refuses {what}, which {loop} needs: {first.error}"
    if not has_more_turns(plan, loop):
        return ""
    return _turn_refused(plan, loop, template, kind)


def _turn_refused(plan: Plan, loop: Loop, template: ChatTemplate, kind: str) -> str:
    if loop is Loop.VERL:
        return _tool_refused(template) if has_tool_turns(plan) and kind not in OWN_BUILDERS else ""
    follow = template.renders["follow" if loop is Loop.OURS else "skyrl_result"]
    if follow.error:
        return f"the chat template refuses the messages that {loop} renders after a reply: {follow.error}"
    if loop is Loop.OURS and follow.after is None:
        return "the chat template changes the text of a reply; expected it unchanged"
    return "" if RESULT in template.text(follow.ids) else "the chat template leaves out the result of a tool"


def _tool_refused(template: ChatTemplate) -> str:
    name = "tool_alone" if slices(template) else "verl_result"
    base, result = template.renders["verl_base"], template.renders[name]
    if name == "verl_result" and (base.error or result.error):
        return f"the chat template refuses the tool messages of verl: {base.error or result.error}"
    if name == "verl_result" and result.ids[: len(base.ids)] != base.ids:
        return "the chat template renders earlier messages differently once a tool's result follows, which verl refuses"
    if not result.error and RESULT not in template.text(result.ids):
        return "the chat template leaves out messages of the role `tool`, so the model never sees what its tools answer"
    return ""
