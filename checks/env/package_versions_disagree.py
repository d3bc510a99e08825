"""Packages of the training stack have versions that do not work together.

## What it does
Reads the installed versions of the training interpreter, without importing anything, and compares them with the
requirements of verl, vLLM, torch, transformers, Ray and the OpenHands packages. verl's V1 trainer also needs
TransferQueue, the OpenHands packages must all have the same version, and no package may be installed twice.

## Why it breaks training
verl 0.9.1 is built for vLLM 0.24.0, torch 2.11.0 and a range of transformers. A later installation changes one of
them, and the run fails at an import in a worker or silently behaves differently. An unpinned installation of the
OpenHands packages may end with an SDK that is two years old and a new server.

## How to fix
Install the stack in one command with its pins (`pip install 'verl[vllm]==0.9.1'`), the OpenHands packages with one
version, and anything else under the resulting constraints.

## Example
    verl 0.9.1 requires transformers!=5.6.0,<5.11,>=5.5.3, but 5.12.0 is installed
"""

from collections.abc import Iterator

from checks.env.shared import COMPILED
from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.interpreter import Interpreter
from skyrl_train.node.packages import OPENHANDS, Disagreement, disagreements, is_prerelease, newest, openhands_versions

STACK = ("verl", "vllm", "torch", "transformers", "ray", *OPENHANDS)

_STACK = r"torch|transformers|vllm|verl|ray|peft|trl|accelerate|tokenizers|huggingface_hub|datasets|deepspeed|triton|flash_attn|xformers|sglang|bitsandbytes|tensordict|pydantic|openai|numpy"
_PARTED = r"torch|torchvision|transformers|vllm|peft|trl|accelerate|tokenizers|huggingface_hub|datasets|deepspeed|triton|xformers|sglang|bitsandbytes|tensordict|pydantic|openai|numpy"
"""Packages that are seldom a directory beside the run's own code, as verl is."""
_NEEDED = r"PyTorch|Pytorch|torch|[Tt]ransformers|DeepSpeed|deepspeed|accelerate|Accelerate|peft|PEFT|trl|TRL|vllm|vLLM|tensordict|bitsandbytes|tokenizers|datasets|huggingface_hub|xformers|triton"

SIGNATURES = (
    Signature(
        pattern=r"\bNumba needs NumPy (?P<expected>\d[\w. ]{0,20}?)\. Got NumPy (?P<found>[\d.]{1,12}\d)",
        sample="ImportError: Numba needs NumPy 2.2 or less. Got NumPy 2.4.",
        explain="numba needs NumPy {expected}, but {found} is installed",
        remedy="Install a NumPy that numba accepts, or a newer numba, with the interpreter that the traceback shows; `pip check` names other packages that disagree.",
        versions="numba",
    ),
    Signature(
        pattern=rf"^(?:.{{0,40}} )?ImportError: cannot import name '(?P<name>[^'\n]{{1,80}})' from '(?P<package>{_STACK})(?:\.[\w.]{{1,120}})?' \((?:unknown location|\S{{1,200}}/(?:site|dist)-packages/)",
        unless=r"most likely due to a circular import|'\w+(?:ForCausalLM|ForConditionalGeneration|Config|Model)' from 'transformers",
        sample="ImportError: cannot import name 'OwnCache' from 'transformers' (/opt/env/lib/python3.12/site-packages/transformers/__init__.py)",
        explain="the code that imports `{name}` was written for another version of {package} than the installed one",
        remedy="`pip show {package}` shows the version. Install the one that this code names as its requirement, or change the code. A kernel or job that ran while {package} was changed must be started again.",
        versions="the packages of a training stack",
    ),
    Signature(
        pattern=rf"\bModuleNotFoundError: No module named '(?P<package>{_PARTED})\.(?P<name>[\w.]{{1,120}})'",
        unless=rf"(?i:warn|optional|ignor|skip)|\bNo module named '{COMPILED}",
        sample="ModuleNotFoundError: No module named 'transformers.own_deepspeed'",
        explain="{package} is installed, but this version has no module `{name}`: the code that imports it was written for another one",
        remedy="`pip show {package}` shows the version. Install the one that the importing code names as its requirement, or a newer version of that code: the traceback shows where it is. A directory of your own with the name {package} hides the package too.",
        versions="the packages of a training stack",
        refines=("ENV022",),
        last_resort=True,
    ),
    Signature(
        pattern=rf"\bAttributeError: module '(?P<package>{_PARTED})(?:\.[\w.]{{1,80}})?' has no attribute '(?P<name>\w{{1,80}})'",
        unless=r"'\w+(?:ForCausalLM|ForConditionalGeneration|Config|Model)'",
        sample="AttributeError: module 'torch' has no attribute 'own_float4'",
        explain="the code uses `{name}`, which the installed {package} does not have: it was written for another version",
        remedy="`pip show {package}` shows the version. Install the one that this code names as its requirement, or change the code: the traceback shows where it is.",
        versions="the packages of a training stack",
        last_resort=True,
    ),
    Signature(
        pattern=rf"^(?:\W{{0,8}}|\[?[\w ]{{1,20}}\]?:? )(?:\w{{1,40}}\.){{0,6}}(?:Import|Value|Runtime|Assertion|NotImplemented|Environment)Error: (?P<why>[^\n]{{0,160}}(?:\b(?:requires?|needs?|needed|required)\b[^\n]{{0,30}}[ `](?:{_NEEDED})`?(?: version)? ?(?:>=|==|>|<) ?\d|\b(?:{_NEEDED})`?(?: \w{{1,8}})? version must be (?:>=|==|>|<|at least) ?\d|\b(?:{_NEEDED}) version of \S{{1,40}} does not support\b|\brequires? (?:{_NEEDED}) version \d[\w.]{{0,20}} or (?:higher|later|newer)|\bonly available in PyTorch \d|\brequires tensordict version \d|\bversion of `bitsandbytes` that is not compatible with)[^\n]{{0,160}})",
        sample="ImportError: DeepSpeed version must be >= 0.14.0 to use MOE support. Please update DeepSpeed.",
        explain="the installed version of a package is older than this code needs: {why}",
        remedy="`pip show PACKAGE` shows the installed version. Install one in the range that the message names with the interpreter that the traceback shows, or turn the setting off that needs it.",
        versions="accelerate, transformers, trl, verl, peft",
        unless=r"\brequires `?(?:accelerate|bitsandbytes|peft|trl|vllm)\b[^\n]{0,60}\bPlease (?:run|install)\b|\bnot (?:installed|found)\b",  # ENV022
        refines=("CFG030", "ENV022"),
        last_resort=True,
    ),
    Signature(
        pattern=r"\b(?:Contextual)?VersionConflict: \((?P<found>[\w.-]{1,60} [\w+.]{1,30}) \([^)\n]{0,200}\), Requirement\.parse\('(?P<needs>[^'\n]{1,120})'\)",
        sample="pkg_resources.ContextualVersionConflict: (numpy 2.2.0 (/venv/lib/python3.12/site-packages), Requirement.parse('numpy<2'), {'own'})",
        explain="{found} is installed, and a package needs {needs}",
        remedy="The last part of the line names the package that needs it. Install a version that fits all (`python -m pip install '{needs}'`); `pip check` names other packages that disagree.",
        versions="setuptools",
    ),
    Signature(
        pattern=r"\bTypeError[:(] ?['\"]?(?P<name>\w{0,60}Trainer)\.__init__\(\) got an unexpected keyword argument '(?P<key>\w{1,80})'",
        sample="TypeError: OwnTrainer.__init__() got an unexpected keyword argument 'own_tokenizer'",
        explain="the installed version's `{name}` takes no argument `{key}`: the code was written for another version",
        remedy="Compare it with the documentation of the installed release: `{key}` was renamed or moved to the trainer's configuration (`tokenizer` is `processing_class` since trl 0.12 and transformers 5), or is newer than the release. Change the code, or install the release that it was written for.",
        versions="transformers, trl",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bImportError: (?P<needs>[\w.-]{1,40} ?[<>=!~][^\n]{1,80}?) is required for a normal functioning of this module, but found (?P<found>[\w.-]{1,40}==[\w+.]{0,40}\w)",
        sample="ImportError: tokenizers>=0.22.0,<=0.23.0 is required for a normal functioning of this module, but found tokenizers==0.19.1.",
        explain="transformers needs {needs}, and {found} is installed",
        remedy="Install a version in that range with the interpreter that the traceback shows, or the transformers that fits the installed one; `pip check` names other packages that disagree.",
        versions="transformers",
    ),
    Signature(
        pattern=r"\bAttributeError: '(?P<config>(?:Qwen|Llama|Mi[ns]tral|Mixtral|Gemma|Phi|Deepseek|DeepSeek|GPT|Gpt|Glm|Intern|MiniCPM|MiniMax|Kimi|Nemotron|Olmo|Falcon|Ernie|Hunyuan|Cohere|Granite|Bert|Smol)\w{0,40}Config)' object has no attribute '(?P<name>\w{1,60})'",
        sample="AttributeError: 'Qwen3Config' object has no attribute 'rope_theta'",
        explain="the code reads `{name}` of the model's configuration ({config}), which the installed transformers does not have there",
        remedy="transformers and the program that raised this are of different times: install the version of transformers that the program asks for (`python -m pip check`, its requirements), or a newer program. For a model with code of its own, the version in its model card.",
        versions="transformers, vllm, sglang, verl",
        unless=r"VL|Vision|Omni|Audio|'(?:hidden_size|vocab_size|num_hidden_layers|num_attention_heads|num_key_value_heads|head_dim|text_config)'",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bBecause [^\n]{1,300} depends on [^\n]{1,200}(?:\band (?:you require|your project (?:depends on|requires)|[\w.\[\]-]{1,80}(?: ?[=<>!~]=?[\w*.]{1,20})? depends on)|\bwe can conclude\b)|\bbecause these package versions have conflicting dependencies\b|\b(?:LibMambaUnsatisfiableError|UnsatisfiableError|ResolutionImpossible): |\bThe following specifications were found to be incompatible\b",
        sample="ERROR: Cannot install -r requirements.txt (line 3) and torch==2.6.0 because these package versions have conflicting dependencies.",
        explain="no set of versions meets what the packages require of each other",
        remedy="The lines below name the packages and what each requires. Loosen the version that you set yourself (mostly torch: vLLM and SGLang need one release of it), or install packages of one release date.",
        versions="uv, pip, conda",
        unless=r"\bwas not found in\b|\bthere (?:is|are) no versions? of\b|\bhas no wheels\b",
        last_resort=True,
    ),
)


@check(
    "ENV012",
    roles=[Role.GPU, Role.LOGIN],
    fix="operator: what is installed for the training interpreter is its owner's",
)
def package_versions_disagree(interpreter: Interpreter) -> Iterator[Finding]:
    if not any(name in interpreter.packages for name in STACK):
        raise NotApplicable(f"{interpreter.python.path} has none of {', '.join(STACK[:5])}, openhands-*")
    for disagreement in disagreements(interpreter.packages, interpreter.requires, interpreter.markers):
        yield _unmet(disagreement, interpreter)
    versions = openhands_versions(interpreter.packages)
    if versions:
        yield _mixed(versions, interpreter)
    for name in interpreter.doubled:
        if name in STACK:
            yield _doubled(name, interpreter)


def _unmet(found: Disagreement, interpreter: Interpreter) -> Finding:
    installed = f"{found.found} is installed" if found.found else "it is not installed"
    return Finding(
        message=f"{found.requirer} {found.requirer_version} requires {found.name}{found.expected}, but {installed}",
        severity=Severity.ERROR if found.fatal else Severity.WARNING,
        remedy=_install(interpreter, f"'{found.name}{found.expected}'"),
    )


def _mixed(versions: dict[str, str], interpreter: Interpreter) -> Finding:
    seen = ", ".join(f"{name} {version}" for name, version in versions.items())
    expected = newest(versions.values())
    ancient = any(map(is_prerelease, versions.values()))
    return Finding(
        message=f"the OpenHands packages have different versions: {seen}; expected the same for all",
        severity=Severity.ERROR if ancient else Severity.WARNING,
        remedy=_install(interpreter, " ".join(f"'{name}=={expected}'" for name in versions)) if expected else None,
    )


def _doubled(name: str, interpreter: Interpreter) -> Finding:
    return Finding(
        message=f"{name} is installed twice in one directory, because an installation was interrupted; expected once",
        severity=Severity.WARNING,
        remedy=_install(interpreter, f"--force-reinstall {name}"),
    )


def _install(interpreter: Interpreter, what: str) -> Remedy:
    return Remedy(
        kind=RemedyKind.FIX_ENV,
        summary="install the required version for the training interpreter",
        commands=(f"{interpreter.python.path} -m pip install {what}",),
    )
