"""Further texts of the failures of models and of numbers that do not fit."""

from checks.signatures.short import roots

_MANY = r"(?:qwen|llama|mistral|ministral|gemma|phi|glm|deepseek|kimi|gpt_oss|olmo|granite|nemotron|seed_oss|ernie|minimax|hunyuan|falcon|cohere|exaone|smollm|bailing|longcat|mimo|apertus|dots)"

SIGNATURES = {
    "MOD001": roots(
        "vLLM cannot reload this model's weights",
        (
            r"has no attribute 'weight_loader'|load_weights\(\) got an unexpected keyword|\bweight_loader\(\) (?:got an unexpected|missing \d)",
            "AttributeError: 'Parameter' object has no attribute 'weight_loader'",
            "vllm, verl",
        ),
        (
            r"There is no module or parameter named '[^']{1,120}' in \w+For|Attempted to load weight .{0,80}into parameter|[Ff]ollowing weights were not initialized from checkpoint",
            "ValueError: There is no module or parameter named 'base_model' in Qwen2ForCausalLM",
            "vllm",
        ),
    ),
    "MOD002": roots(
        "the model sees pictures, and the loader takes language models only",
        (
            r"Unrecognized configuration class .{0,200}(?:Mistral3|Gemma3n?|PaliGemma|Mllama|Idefics|Glm4v|Kimi_?VL|InternVL|Llama4|AyaVision)\w*Config\b",
            "ValueError: Unrecognized configuration class <class 'transformers.models.mistral3.configuration_mistral3.Mistral3Config'> for this kind of AutoModel: AutoModelForCausalLM.",
            "transformers",
        ),
        (
            r"'\w*(?:VL|Vision|Omni|Llava|Pixtral|Mllama|Mistral3|Gemma3)\w*Config' object has no attribute '",
            "AttributeError: 'Qwen2_5_VLConfig' object has no attribute 'vocab_size'",
            "transformers",
        ),
    ),
    "MOD003": roots(
        "the model is neither on disk nor on the hub under this name, or it is closed to this user",
        (
            r"Invalid repository ID or local directory specified|\bHFValidationError\b|Incorrect path_or_model_id",
            "ValueError: Invalid repository ID or local directory specified: '/models/qwen'. Please verify the following requirements:",
            "vllm, huggingface_hub",
        ),
        (
            r"trying to access a gated repo|[Cc]annot access gated repo|\bGatedRepoError\b|\bRepositoryNotFoundError\b|\bOfflineModeIsEnabled\b",
            "OSError: You are trying to access a gated repo. Make sure to have access to it at https://huggingface.co/meta-llama/Llama-3.1-8B.",
            "transformers, huggingface_hub",
        ),
        (
            r"Can't load (?:tokenizer|the configuration of|the model|feature extractor|image processor) (?:for |of )?'|Error no file named (?:pytorch_model|model)|does not appear to have (?:a )?files? named|[Cc]annot find any model weights with|Entry Not Found for url: .{0,200}(?:config\.json|\.safetensors|tokenizer\w{0,20}\.json)",
            "OSError: Can't load tokenizer for '/models/qwen'. If you were trying to load it from 'https://huggingface.co/models', make sure you don't have a local directory with the same name.",
            "transformers, vllm",
        ),
        (
            r"Unrecognized model in \S{1,300} Should have a `model_type`|No supported config format found in|Unable to load weights from \w{1,12} checkpoint file|the config file at .{1,300} is not a valid JSON file|Couldn't instantiate the backend tokenizer|\bHfHubHTTPError: 5\d\d |(?:Error|Timeout): .{0,60}host='(?:huggingface|hf)\.co', port=443\): Read timed out|Error while deserializing header: |is restricted and you are not in the authorized list|\bLocalTokenNotFoundError\b|\b(?:Connection|SSL|Proxy)Error: .{0,40}\(host='(?:huggingface|hf)\.co', port=443\): Max retries exceeded|cannot find the (?:requested files|appropriate snapshot folder) in the (?:local|disk) cache|[Cc]annot (?:connect to|reach) .{0,20}huggingface\.co|Cannot reach https://hf",
            "huggingface_hub.errors.LocalEntryNotFoundError: Cannot find an appropriate cached snapshot folder: cannot find the appropriate snapshot folder in the local cache",
            "huggingface_hub",
        ),
    ),
    "MOD004": (
        *roots(
            "the installed library is older than the model",
            (
                r"has no vLLM implementation|model with architecture \S{1,60} is not supported|Tokenizer class \w+ does not exist or is not currently imported|rope_scaling. must be a dictionary with|untagged enum ModelWrapper|[Uu]nsupported (?:model )?architecture",
                "ValueError: Qwen9ForCausalLM has no vLLM implementation and the Transformers implementation is not compatible with vLLM.",
                "vllm, transformers",
            ),
            (
                r"cannot import name '\w+(?:ForCausalLM|ForConditionalGeneration|Config|Model)' from 'transformers|module '?transformers'? has no attribute '?\w+(?:ForCausalLM|ForConditionalGeneration|Config|Model)\b",
                "ImportError: cannot import name 'Qwen3ForCausalLM' from 'transformers' (/venv/lib/python3.12/site-packages/transformers/__init__.py)",
                "transformers",
            ),
            (
                rf"(?:^\W{{0,8}}|\]:? |[-|\"] ?)KeyError: ['\"]{_MANY}[\w.-]{{0,30}}['\"]$",
                "KeyError: 'qwen3_next'",
                "transformers",
            ),
        ),
    ),
    "CFG001": roots(
        "the request asked for more tokens than the model's context has left",
        (
            r"prompt \(length \d+\) is longer than the maximum model length|[Pp]rompt length of \d+ is longer than the maximum model|prompt length \d+ exceeds the max_model_len",
            "ValueError: The decoder prompt (length 5120) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.",
            "vllm 0.8 - 0.12",
        ),
        (
            r"\d+ tokens\) is longer than the model's context length|[Rr]equested token count exceeds the model's maximum context length|ContextWindowExceededError|context_length_exceeded|`max_new_tokens` must be <= \d",
            "ValueError: Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5297 tokens: 1297 tokens from the input messages and 4000 tokens for the completion.",
            "sglang, litellm",
        ),
        (
            r"Prompt length \d+ is longer than \d+|sequence_length=\d+ is (?:longer|larger) than max_length|exceeds this limit even without any output tokens|[Pp]rompt \(\d+ tokens\) is too long and exceeds|max_(?:completion_)?tokens must be at least 1, got (?:-\d|0\b)|is too long to fit into the model|prompt is too long: \d+ tokens > \d",
            "RuntimeError: Prompt length 2310 is longer than 1024.",
            "verl",
        ),
    ),
    "CFG002": roots(
        "the batch does not divide over the workers",
        (
            r"(?i:batch|rollout|DataProto|num_workers|n_gpus|world_size|dp_size)[^\n]{0,140}(?:must|should|needs to|has to|is not|not)(?: be)?(?: evenly)? divisible by",
            "AssertionError: normalized ppo_mini_batch_size 6 should be divisible by ppo_micro_batch_size_per_gpu 4",
            "verl, SkyRL, prime-rl",
        ),
        (
            r"ppo_\w{1,30} 0 should be larger than 0|[Bb]atch size \d+ is not divisible|batch_size is not equal to micro_batch|batch[_ ]size\b.{0,80}(?:must|should|has to) be (?:a multiple of|>=|at least|larger than|greater than)",
            "AssertionError: normalized ppo_mini_batch_size 0 should be larger than 0",
            "verl",
        ),
    ),
    "CFG005": roots(
        "the model has a shorter context than was asked for",
        (
            r"User-specified (?:max_model_len|context_length) .{0,40}is greater than the derived|model context length should be greater than total sequence length",
            "AssertionError: model context length should be greater than total sequence length",
            "verl, sglang",
        ),
    ),
    "CFG006": roots(
        "the server was started without a parser for tool calls, or with an unknown one",
        (
            r"--enable-auto-tool-choice requires --tool-call-parser|argument --tool-call-parser: invalid choice|(?:[Uu]nknown|[Uu]nsupported|[Ii]nvalid) tool[_ -](?:call[_ -])?parser|[Tt]ool parser \S{1,60} is not (?:registered|supported|known|available)",
            "TypeError: Error: --enable-auto-tool-choice requires --tool-call-parser",
            "vllm, verl",
        ),
        (
            r"[Tt]ool (?:call )?(?:parser|helper):? ?'[\w-]{1,60}' (?:is )?not found|is not found in tool_parsers",
            "KeyError: \"tool helper: 'nope' is not found in tool_parsers!\"",
            "vllm",
        ),
    ),
}
