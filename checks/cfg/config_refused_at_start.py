"""The program refused its configuration.

## What it does
Finds the refusals of Hydra, OmegaConf, pydantic, argparse and the argument classes of transformers, and names the key.

## Why it breaks training
The program ends before it does any work: an unknown or misspelled key, a key of another version, a value of a wrong
type, or a value that is required and missing.

## How to fix
`skyrl-doctor preflight FILE` (CFG004) finds these before the job and names the nearest key. Hydra takes a new key only
with a `+` before it; do not add it to a misspelled one.

## Example
    Could not override 'data.train_batchsize'.
    To append to your config use +data.train_batchsize=4
"""

from checks.cfg.shared import CONFIGURATIONS
from skyrl_doctor.core.signature import Signature

BEFORE = "{framework:`skyrl-doctor preflight FILE` finds it before the next job (CFG004) and names the nearest key.|}"

TAKES_SETTINGS = r"\w{0,60}(?:Config|Arguments|Args|Params|Settings|Plugin|LLM|Accelerator)"
"""Names of classes that take the settings of a run."""
HYDRA_REFUSES = r"^(?:Could not append to config\.|Could not delete from config\.|Error (?:parsing|merging) override \S|Ambiguous value for argument '|Primary config directory not found\.|LexerNoViableAltException: |Could not find '[\w./@-]{1,200}'$|In '[^'\n]{1,200}': (?:Error composing config|\w{1,40} raised while composing config))"
CLICK_REFUSES = r"(?:No such option: |Missing (?:argument|option|parameter)|Invalid value for |Got unexpected extra argument|No such command |Unrecognized (?:or misplaced )?options?: |Required options? |Parsing error\b|Parser key |No action for )"
REQUIRED = "`{key}` is required and not set"
SET_IT = f"The line `full_key` below has the whole name. Set it with `+KEY=VALUE`, or use the configuration of the same version as the code. {BEFORE}"

SIGNATURES = (
    Signature(
        pattern=r"Could not override '(?P<key>[^'\n]{1,200})'",
        sample="Could not override 'data.train_batchsize'.",
        explain="Hydra refused `{key}`: this version's configuration has no such key",
        remedy=f"Correct or remove `{{key}}`. {BEFORE} Write `+{{key}}=…` only if the program reads a key that its configuration does not list.",
        versions="hydra",
    ),
    Signature(
        pattern=r"Key '(?P<key>[^'\n]{1,200})' (?:is not in struct|not in '\w{1,80}')(?:.{0,4}\bfull_key: (?P<full>[\w.\[\]]{1,200}))?",
        sample="omegaconf.errors.ConfigAttributeError: Key 'min_lr' is not in struct",
        explain="the program reads or sets `{key}`, which the configuration does not have",
        remedy=SET_IT,
        versions="omegaconf",
    ),
    Signature(
        pattern=r"\bomegaconf\.errors\.Config(?:Attribute|Key)Error: Missing key (?P<key>\S{1,120})$",
        sample="omegaconf.errors.ConfigAttributeError: Missing key enable",
        explain="the program reads `{key}`, which the configuration does not have",
        remedy=SET_IT,
        versions="omegaconf",
    ),
    Signature(
        pattern=r"^(?:\[\w{1,20}\]: ?)?(?:\w{1,40}\.){0,6}\w{0,40}(?:Error|Exception): (?i:(?:invalid|unknown|unrecogni[sz]ed|unexpected|unsupported|undefined|extra) (?:config(?:uration)?|settings?|hyper-?parameter|yaml|toml) (?:key|option|field|parameter|entry|name|argument)s?)\b(?: \w{2,5})?:? ?[\[('\"`]{0,2}(?P<key>[\w.-]{1,120})",
        sample="AssertionError: Invalid configuration key: save_every",
        explain="the program's configuration has no key `{key}`",
        remedy="Correct or remove `{key}` in the file or on the command line. The line of code above the error reads the configuration: it shows which keys this version takes.",
        versions="any",
    ),
    Signature(
        pattern=r"\b(?:Value|Key|Config|Attribute|Runtime|Assertion)\w{0,10}Error: [^\n]{0,40}\b[Kk]ey:? ['\"`]?(?P<key>[\w.-]{1,120})['\"`]? is (?:missing|required)\b",
        sample="ValueError: The key: own_offload is missing, causing the setup to fail.",
        explain=REQUIRED,
        remedy="Set `{key}` in the configuration that the program reads; the line of code above the error shows in which part. Missing only in your file: compare it with the example of this version.",
        versions="any",
        last_resort=True,
    ),
    Signature(
        pattern=r"Error: (?P<why>Invalid value '[^'\n]{1,80}' (?:for|in) VLLM_\w{1,60}\. Valid options[^\n]{0,200}|VLLM_PORT '[^'\n]{1,100}' (?:must be a valid integer|appears to be a URI)[^\n]{0,100}|No model specified! Please specify model[^\n]{0,100})",
        sample="ValueError: Invalid value 'OWN' for VLLM_OWN_BACKEND. Valid options: ['A', 'B'].",
        explain="vLLM refuses a variable or an argument: {why}",
        remedy="Correct or unset what the line names. `VLLM_PORT` as a URI comes from a Kubernetes service with the name `vllm`: rename the service.",
        versions="vllm",
    ),
    Signature(
        pattern=r"\bTarget modules (?P<names>[^\n]{1,300}?) not found in the base model\b",
        sample="ValueError: Target modules {'own_proj'} not found in the base model. Please check the target modules and try again.",
        explain="the model has no layers with the names {names}, which the adapter's `target_modules` lists",
        remedy='Use the names of this model (`print(model)` shows them, such as `q_proj`), or `target_modules="all-linear"`.',
        versions="peft",
    ),
    Signature(
        pattern=r"Missing mandatory value: (?P<key>[\w.\[\]]{1,200})",
        sample="omegaconf.errors.MissingMandatoryValue: Missing mandatory value: data.train_files",
        explain=REQUIRED,
        remedy="Set `{key}=…` on the command line or in the file.",
        versions="omegaconf",
    ),
    Signature(
        pattern=r"(?:InterpolationKeyError: |Interpolation key )'?(?:Interpolation key ')?(?P<key>[\w.]{1,200})' not found",
        sample="omegaconf.errors.InterpolationKeyError: Interpolation key 'nope.x' not found",
        explain="a value refers to `{key}`, which the configuration does not have",
        remedy="Correct the `${…}` of the value that `full_key` below names, or set `{key}`.",
        versions="omegaconf",
    ),
    Signature(
        pattern=r"omegaconf\.errors\.ValidationError: .{0,20}Value '(?P<value>[^'\n]{0,200})' .{0,60}could not be converted to (?P<type>\w{1,40})",
        sample="omegaconf.errors.ValidationError: Value 'abc' of type 'str' could not be converted to Integer",
        explain="the configuration expects {type}, but the value is `{value}`",
        remedy=f"The line `full_key` below names the key. {BEFORE}",
        versions="omegaconf",
    ),
    Signature(
        pattern=r"\bThe supplied chat template (?:string )?\((?P<file>[^()\n]{1,300})\) (?:appears path-like, but doesn't exist|looks like a file path, but it failed to be opened)",
        sample="ValueError: The supplied chat template string (templates/tool.jinja) appears path-like, but doesn't exist!",
        explain="vLLM takes `{file}` for the path of a chat template, and that file does not exist",
        remedy="Give `--chat-template` an absolute path: a relative one counts from the directory in which the server starts. Without the option vLLM uses the template of the model's tokenizer.",
        versions="vllm",
    ),
    Signature(
        pattern=r"In '(?P<file>[^'\n]{1,200})': Could not (?:find|load) '(?P<part>[^'\n]{1,200})'",
        sample="In 'own_grpo': Could not find 'algorithm/own_correction'",
        explain="the configuration `{file}` asks for the part `{part}`, which Hydra does not find",
        remedy="`{part}` is listed in the `defaults` of `{file}` and names a file below the configuration directory: list that directory. Missing there: the program is of another version than `{file}`, or its configuration directory is not in `hydra.searchpath`.",
        versions="hydra",
    ),
    Signature(
        pattern=r"Cannot find primary config '(?P<key>[^'\n]{1,200})'",
        sample="Cannot find primary config 'grpo'. Check that it's in your config search path.",
        explain="Hydra does not find the configuration file `{key}`",
        remedy="Compare --config-name and --config-path with the search path below this line: --config-path is relative to the program's file, not to the current directory, unless it is absolute.",
        versions="hydra",
    ),
    Signature(
        pattern=r"^(?:hydra\.errors\.OverrideParseException: )?(?:mismatched input|no viable alternative at input|extraneous input|token recognition error at:) '(?P<text>[^\n]{1,80}?)'",
        sample="no viable alternative at input '[1,'",
        explain="Hydra cannot read an override near `{text}`",
        remedy="""Quote the value for the shell and for Hydra: `'key="a,b=c"'`. Lists are `'key=[1,2]'`, without blanks.""",
        versions="hydra",
    ),
    Signature(
        pattern=r"\b(?P<count>\d{1,4}) validation errors? for (?P<model>\w{0,60}(?:Config|Settings|Args|Arguments)\b\w{0,20})(?:\s{1,6}(?:(?P<key>[\w.\-]{1,200})\s{1,4})?(?P<why>[A-Z][^\[\n]{3,400}) \[type=)?",
        sample="pydantic_core._pydantic_core.ValidationError: 1 validation error for RLConfig\nteacher_gpu_ids\n  Extra inputs are not permitted [type=extra_forbidden, input_value=[2, 3], input_type=list]",
        explain="the configuration ({model}) was refused: {key}: {why}",
        remedy="The lines below name each key: `Extra inputs are not permitted` is an unknown or renamed key, `Field required` one that is missing, `Input should be` a value of another type (a text of digits needs quotes). {framework:If it is the trainer's configuration, `skyrl-doctor preflight FILE` finds it before the next job (CFG004).|}",
        versions="pydantic",
        last_resort=True,
    ),
    Signature(
        pattern=r"^(?:vllm|api_server\.py|launch_server\.py): error: unrecognized arguments: (?P<word>serve|vllm) ",
        sample="vllm: error: unrecognized arguments: serve own/model",
        explain="`{word}` reached the server as an argument: the image's entrypoint starts the server already",
        remedy="Leave `vllm serve` out after the name of the image, and begin with the model; or set the entrypoint (`--entrypoint vllm`) and keep `serve MODEL`.",
        versions="vllm",
    ),
    Signature(
        pattern=r": error: (?:unrecognized arguments: (?P<argument>\S{1,200})|the following arguments are required: (?P<required>\S{1,200})|argument (?P<name>-?\S{1,120}): \S|one of the arguments (?P<group>-[^\n]{1,200}) is required|ambiguous option: (?P<short>\S{1,120}))|^(?:[\w./-]{1,100}/)?(?:srun|sbatch|salloc|torchrun|ray|vllm|python[\d.]{0,5}): (?:unrecognized|invalid) option (?:-- )?['\"]?(?P<option>[\w=-]{1,100})",
        sample="main.py: error: unrecognized arguments: --nope",
        explain="the program refused a command-line argument",
        remedy="Compare the argument with `--help` of the installed version: its spelling, or its name in another version.",
        versions="argparse",
        unless=r"agent[-_]server|^(?:conda|mamba|micromamba|git|apt|npm|helm|kubectl): error: ",
        last_resort=True,
    ),
    Signature(
        pattern=r"\b(?:Some specified arguments|Some keys) are not used by the HfArgumentParser: (?P<keys>\[[^\n]{1,300})|\bValueError: remaining_argv: (?P<rest>\[[^\n]{1,300})",
        sample="ValueError: Some specified arguments are not used by the HfArgumentParser: ['--block_size', '2048']",
        explain="the program does not know these arguments: {keys}",
        remedy="Compare each with `--help` of the installed version: its spelling, or its name in another version.",
        versions="transformers, trl, ms-swift",
    ),
    Signature(
        pattern=r"^(?:\W{0,8}|\[?[\w ]{1,20}\]?:? )ValueError: (?P<why>\S[^\n]{3,300})",
        near=r"\bin parse_args_into_dataclasses$|hf_argparser\.py\", line \d{1,5}, in ",
        within=30,
        sample="ValueError: --load_best_model_at_end requires the save and eval strategy to match",
        explain="the program refused its arguments when it read them: {why}",
        remedy="Change the arguments that the message names.",
        versions="transformers, trl, ms-swift, LLaMA-Factory",
        last_resort=True,
    ),
    Signature(
        pattern=r"^(?:\W{0,8}|\[?[\w ]{1,20}\]?:? )ValueError: (?P<why>\S[^\n]{3,300})",
        near=r"(?:transformers/trainer|trl/(?:\w{1,40}/){1,3}\w{1,40}_trainer)\.py\", line \d{1,5}, in __init__\b",
        within=3,
        sample="ValueError: The train_dataset does not implement __len__, max_steps has to be specified.",
        explain="the trainer refused its arguments when it was made: {why}",
        remedy="Change the arguments that the message names, or the data, model and arguments that do not go together.",
        versions="transformers, trl",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bFileNotFoundError: The passed configuration file `(?P<file>[^`\n]{1,300})` does not exist",
        sample="FileNotFoundError: The passed configuration file `conf/four_gpus.yaml` does not exist. Please pass an existing file to `accelerate launch`",
        explain="accelerate does not find its configuration file `{file}`",
        remedy="Correct `--config_file`: a relative path counts from the directory in which the job runs. `accelerate config --config_file FILE` writes one.",
        versions="accelerate",
    ),
    Signature(
        pattern=r"\bThe config file at (?P<file>\S{1,300}) had unknown keys \((?P<keys>[^()\n]{1,300})\)",
        sample="ValueError: The config file at /home/u17/two.yaml had unknown keys (['main_training_tp_size']), please try upgrading your `accelerate` version or fix (and potentially remove) these keys from your config file.",
        explain="accelerate refuses `{file}`: it does not know {keys}",
        remedy="Remove these keys from the file, or install the version of accelerate that wrote it (`accelerate config` writes a new file for the installed one).",
        versions="accelerate",
    ),
    Signature(
        pattern=rf"{HYDRA_REFUSES}|^\W{{2,8}}{CLICK_REFUSES}|^(?:[\w./-]{{1,100}}: )?(?:E|e)rror: {CLICK_REFUSES}",
        sample="Could not append to config. An item is already at 'trainer.logger'.",
        explain="the program refused an argument or an override of its command line",
        remedy="`+key=…` adds a key that is not there, `++key=…` adds or changes it, `key=…` only changes it. Compare the name with `--help` of the installed version.",
        versions="hydra, click, typer, tyro",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bomegaconf\.errors\.\w{3,40}: (?P<why>\S[^\n]{3,300})|\bhydra\.errors\.(?:ConfigCompositionException|MissingConfigException|OverrideParseException|HydraException): (?P<other>\S[^\n]{3,300})|\bError locating target '(?P<target>[^'\n]{1,200})'",
        sample="omegaconf.errors.UnsupportedInterpolationType: Unsupported interpolation type oc.nope",
        explain="Hydra or OmegaConf refused the configuration: {why}",
        remedy=f"The line `full_key` below names the key. {BEFORE}",
        versions="hydra, omegaconf",
        last_resort=True,
    ),
    Signature(
        pattern=rf"\bTypeError[:(] ?['\"]?(?P<model>{TAKES_SETTINGS})\.__init__\(\) got an unexpected keyword argument '(?P<key>\w{{1,120}})'",
        sample="TypeError: TrainingArguments.__init__() got an unexpected keyword argument 'evaluation_strategy'",
        explain="the installed version of `{model}` has no setting `{key}`",
        remedy="Compare it with the documentation of the installed release: `{key}` was renamed or removed, or is newer than the release (`evaluation_strategy` is `eval_strategy` since transformers 4.46). Change the setting, or install the release that the code was written for.",
        versions="transformers, trl, peft, vllm, verl",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bTypeError: __init__\(\) got an unexpected keyword argument '(?P<key>\w{1,120})'",
        near=rf"\b{TAKES_SETTINGS}\(",
        within=4,
        sample="TypeError: __init__() got an unexpected keyword argument 'evaluation_strategy'",
        explain="the installed version has no setting `{key}`",
        remedy="Compare it with the documentation of the installed release: `{key}` was renamed or removed, or is newer than the release.",
        versions="transformers, trl, peft, vllm",
        last_resort=True,
    ),
    Signature(
        pattern=r"\b(?:yaml\.(?:scanner|parser|composer|constructor)\.\w{4,20}Error|(?:tomllib|tomli|toml)\.(?:\w{1,20}\.)?T(?:OML|oml)DecodeError): (?P<why>\S[^\n]{3,300})",
        near=r"[Cc]onf|\b[Ss]ettings?\b|\bhydra\b",
        within=12,
        sample="yaml.scanner.ScannerError: mapping values are not allowed here",
        explain="a configuration file cannot be read: {why}",
        remedy="Correct the file at the line that the error names: an indentation, a missing quote, or a tab instead of blanks.",
        versions="pyyaml, tomllib",
        last_resort=True,
    ),
    Signature(
        pattern=r"^(?:\W{0,8}|\[?[\w ]{1,20}\]?:? )(?:\w{1,40}\.){0,6}(?:Value|Assertion|DeepSpeedConfig)Error: (?P<why>\S[^\n]{3,300})",
        near=rf"File \"[^\"\n]{{0,300}}/(?:{CONFIGURATIONS})\.py\", line \d{{1,5}}, in ",
        within=4,
        unless=r"\bonly (?:be used|supported|available) (?:on|with|for) \w{2,10} (?:devices?|GPUs?|platforms?)|\bnot (?:installed|available)\b|\bpip3? install\b|\b[Pp]lease install\b",
        sample="ValueError: Could not find the transformer layer class QwenLayer in the model.",
        explain="the program refused its settings when it read them: {why}",
        remedy="Change the settings that the message names.",
        versions="transformers, trl, accelerate, deepspeed, vllm, sglang, verl, OpenRLHF",
        last_resort=True,
    ),
    Signature(
        pattern=r"^(?:\W{0,8}|\[?[\w ]{1,20}\]?:? )(?:\w{1,40}\.){0,6}(?:\w{0,40}(?:Config|Configuration)(?:Validation|Parse|Key|Value)?Error|\w{0,40}ConfigurationException|Misconfigur(?:ation|ed)(?:Exception|Error)): (?P<why>\S[^\n]{3,300})",
        unless=r"\b(?:botocore|boto3?|kubernetes|kube\w{0,10}|google|azure|docker|git|conda|pip|dbus|locale|django|sqlalchemy|alembic)\b|\b(?:GPUs?|gpu|CUDA|devices?|memory|checkpoint|module|version)\b|\b(?:training|validation|test|predict)_step\b|\bconfigure_optimizers\b|\b\w{1,20}_dataloader\b|\bnot (?:installed|available)\b|\bpip3? install\b|\b[Pp]lease install\b|\bNo such file\b",
        sample="own_trainer.exceptions.OwnConfigurationError: `save_folder` is not empty and `save_overwrite` is off",
        explain="the program refused its settings: {why}",
        remedy="Change the settings that the message names.",
        versions="OLMo, lightning, torchtune, torchtitan, deepspeed",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bPlease correct the following DeepSpeed config values that mismatch\b|\bExpected a string path to an existing deepspeed config\b|\bFound `(?:optimizer|scheduler)` configured in the DeepSpeed config\b|\bDeepSpeedConfig: \w{1,40} is not defined\b",
        sample="ValueError: Please correct the following DeepSpeed config values that mismatch TrainingArguments values:",
        explain="DeepSpeed's configuration is not found, lacks a value or contradicts the arguments of the trainer",
        remedy='Set the values that the message names to `"auto"` in the DeepSpeed file, so that the trainer fills them in. A path must exist in the directory in which the job starts.',
        versions="deepspeed, transformers, accelerate",
    ),
    Signature(
        pattern=r"\b(?:Value|Assertion|Config|Key|NotImplemented)Error: ['\"]?(?P<why>[`'\"]?(?:--)?[a-z][a-z\d]{0,30}(?:[._-][a-z\d]{1,30}){1,6}[`'\"]? (?:must|should) be (?:one of|either)\b ?[\[({'\"`a-z][^\n]{1,300}|(?:[Uu]nknown|[Uu]nsupported|[Ii]nvalid|[Uu]nrecogni[sz]ed) (?:value (?:for|of) )?[`'\"]?[\w.-]{2,40}(?: [\w.-]{2,30}){0,4}[`'\"]?(?: ?[:=]|,)? ?[`'\"]?[\w./-]{1,80}[`'\"]?[.,;:]? (?:\(|- )?(?:[Ss]hould be one of|[Mm]ust be (?:one of|either)|[Ee]xpected (?:one of|[`'\"])|[Pp]ossible values are|[Ss]upported (?:values|options|choices|modes|methods|types)\b|[Vv]alid (?:values|options|choices|modes)\b|[Cc]ho(?:o)?se (?:from|between|one of|[`'\"])|[Aa]vailable (?:options|choices|values)\b|[Oo]ptions are|[Aa]llowed (?:values|options))[^\n]{1,300})",
        sample="ValueError: Unknown own level: panel. Possible values are 'token' and 'sequence'.",
        explain="the program does not know the word of a setting: {why}",
        remedy="Use one of the words that the message lists. Missing there, although the documentation has it: the installed version is another one.",
        versions="trl, verl, SkyRL, vllm, sglang",
        unless=r"\b(?:tensors?|shape|ndim|input_ids|images?|audio|message|role|content|columns?|file|format|tool[ _](?:call )?parser)\b",
        last_resort=True,
    ),
)
