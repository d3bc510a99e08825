"""Renders a few fixed conversations with a model's chat template, as transformers does, and returns their tokens.

It needs tokenizers and jinja2, which transformers also uses: importing transformers itself takes seconds.
"""

import os
import sys

if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
    del sys.path[0]

os.environ["TOKENIZERS_PARALLELISM"] = "false"

import datetime as dt
import importlib
import json
import re
import resource

FILE_LIMIT = 64 << 20
TEXT_LIMIT = 1 << 17
MEMORY_LIMIT = 4 << 30
MARK = "SKYRL-REPLY"  # skyrl_train/contracts/agent/follow_up.py has the same one
REASON, RESULT = "SKYRLREASON", "SKYRLRESULT"
MARKER = re.compile(r"<\|[^<>|\s]{1,40}\|>|</?s>|<(?:start|end)_of_turn>|\[/?INST\]")
VALUES = ("ls .", '  two  spaces, it \'s "quoted" ?', "a\n\n\tb\n    c !", "naïve → ✓ 漢字 é")
CALL = "<function=terminal>\n<parameter=command>{}</parameter>\n</function>"
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "skyrl_probe",
            "description": "Runs a command.",
            "parameters": {
                "type": "object",
                "properties": {"command": {"type": "string", "description": "The command."}},
                "required": ["command"],
            },
        },
    }
]


class NoAnswerError(Exception):
    """The template cannot be judged; the text is the reason. `missing`: a package; `other`: a format that is not examined."""

    def __init__(self, why, kind="broken"):
        super().__init__(why)
        self.kind = kind


def system(text="You are a helpful assistant."):
    return {"role": "system", "content": text}


def user(text="Mend the code."):
    return {"role": "user", "content": text}


def assistant(text, **more):
    return {"role": "assistant", "content": text, **more}


def call(name="skyrl_probe", arguments=None, identity="call00001"):
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments or {}}}


def tool():
    return {"role": "tool", "content": RESULT}


def conversations(thought):
    """What is rendered, by name."""
    first = [system(), user()]
    reply = CALL.format(VALUES[0])
    calls = [call(arguments={"command": "ls"})]
    called = [*first, assistant("", tool_calls=calls)]
    # verl 0.9.1 and SkyRL render a new message after conversations of their own
    verl = [system("continuous token synthetic system"), user("continuous token synthetic user")]
    verl_call = call("continuous_token_tool", identity="continuous_token_call_0")
    verl = [*verl, assistant("", reasoning_content="reasoning", tool_calls=[verl_call])]
    skyrl = [system(), user("I am a user.")]
    unfinished = {"generation": False}
    return {
        "prompt": talk(*first),
        "user_prompt": talk(user()),
        "follow": talk(user("-"), assistant(MARK), user(RESULT)),
        "whole": talk(*first, assistant(reply), user(RESULT)),
        "reasoned": talk(*first, assistant(thought + reply), user(RESULT)),
        "skyrl_base": talk(*skyrl, **unfinished),
        "skyrl_result": talk(*skyrl, user(RESULT)),
        "tool_prompt": talk(*first, tools=TOOLS),
        "tool_whole": talk(*called, tool(), tools=TOOLS),
        "tool_reasoned": talk(*first, assistant(thought, tool_calls=calls), tool(), tools=TOOLS),
        "verl_base": talk(*verl, tools=TOOLS, **unfinished),
        "verl_result": talk(*verl, tool(), tools=TOOLS),
        "tool_alone": talk(tool()),
        "user_once": talk(user(""), **unfinished),
        "user_twice": talk(user(""), user(""), **unfinished),
    }


def talk(*messages, **options):
    return {"messages": list(messages), **options}


def main():
    spec = json.loads(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    try:
        answer = examine(spec)
    except NoAnswerError as reason:
        answer = {"why": str(reason), "kind": reason.kind}
    except MemoryError:
        answer = {
            "why": f"the chat template or the tokenizer needs more than {MEMORY_LIMIT >> 30} GiB of memory",
            "kind": "broken",
        }
    sys.stdout.write(json.dumps(answer) + "\n")


def examine(spec):
    directory = spec["tokenizer"]
    settings = read_json(os.path.join(directory, "tokenizer_config.json"))
    tokenizer, disagreeing = load_tokenizer(directory, settings)
    template, source = find_template(spec.get("template"), directory, settings)
    special = special_tokens(tokenizer, directory, settings)
    answer = {
        "source": source,
        "special": {name: [text, tokenizer.token_to_id(text)] for name, text in special.items()},
        "stops": stop_ids(spec["model"]),
        "embeddings": embeddings(spec["model"]),
        "added_bos": adds_bos(tokenizer, special),
        "disagreeing": disagreeing,
        "values": list(VALUES),
        "read_back": [read_back(tokenizer, CALL.format(value)) for value in VALUES],
        "verl": version_of("verl"),
        "transformers": version_of("transformers"),
        "tokenizer_class": text_of(settings.get("tokenizer_class")),
        "byte_level": is_byte_level(directory),
        "needed": {text: tokenizer.token_to_id(text) for text in spec.get("needed") or ()},
        "newline": encode(tokenizer, "\n"),
        "renders": {},
        "split": [],
    }
    thought = "<think>\n" + REASON + "\n</think>\n\n"
    if template:
        renders = Renders(tokenizer, template, special, spec.get("kwargs") or {})
        renders.render([user()])
        if renders.texts and renders.texts[0].rstrip().endswith("<think>"):
            thought = thought[len("<think>\n") :]  # the prompt has opened the block
        answer["renders"] = {name: renders.render(**talk) for name, talk in conversations(thought).items()}
        answer["split"] = split_markers(tokenizer, renders.texts)
    answer["reply"] = encode(tokenizer, CALL.format(VALUES[0]))
    answer["reasoned_reply"] = encode(tokenizer, thought + CALL.format(VALUES[0]))
    ids = {token for each in answer["renders"].values() for token in each["ids"]}
    ids |= {*answer["reply"], *answer["reasoned_reply"], *answer["stops"]}
    answer["pieces"] = {str(token): tokenizer.id_to_token(token) or "" for token in sorted(ids)}
    return answer


class Renders:
    """One compiled template, and the texts that it gave."""

    def __init__(self, tokenizer, template, special, kwargs):
        self._tokenizer = tokenizer
        self._given = {"documents": None, **{name + "_token": text for name, text in special.items()}, **kwargs}
        self._errors, self._compiled = compile_template(template)
        self.texts = []

    def render(self, messages, *, generation=True, tools=None):
        """The tokens, those after the placeholder reply (None without one), and why there are none."""
        try:
            text = self._compiled.render(
                messages=messages,
                tools=tools,
                add_generation_prompt=generation,
                **self._given,
            )
        except (self._errors, TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
            return {"ids": [], "after": None, "error": f"{type(error).__name__}: {str(error)[:300]}"}
        if len(text) > TEXT_LIMIT:
            raise NoAnswerError(f"the chat template renders two messages to {len(text)} characters")
        self.texts.append(text)
        _, found, rest = text.partition(MARK)
        after = encode(self._tokenizer, rest) if found else None
        return {"ids": encode(self._tokenizer, text), "after": after, "error": ""}


def compile_template(template):
    """transformers' environment: sandboxed, with its functions. Returns the base class of jinja2's errors too."""
    try:
        jinja2 = importlib.import_module("jinja2")
        sandbox = importlib.import_module("jinja2.sandbox")
        extensions = importlib.import_module("jinja2.ext")
    except ImportError:
        raise NoAnswerError("the package jinja2 is not installed", "missing") from None

    def parse_generation(_, parser):
        """The block that marks what the model writes; its text is rendered as it is."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    def raise_exception(message):
        raise jinja2.TemplateError(message)

    def tojson(value, **options):
        return json.dumps(value, **{"ensure_ascii": False, **options})

    parts = {"tags": {"generation"}, "parse": parse_generation}
    generation = type("Generation", (extensions.Extension,), parts)
    environment = sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[generation, extensions.loopcontrols]
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = dt.datetime.now().astimezone().strftime
    try:
        return jinja2.TemplateError, environment.from_string(template)
    except (jinja2.TemplateError, RecursionError) as error:
        raise NoAnswerError(f"the chat template does not compile: {str(error)[:200]}") from None


def encode(tokenizer, text):
    return list(tokenizer.encode(text, add_special_tokens=False).ids)


def read_back(tokenizer, text):
    return tokenizer.decode(encode(tokenizer, text), skip_special_tokens=True)


def load_tokenizer(directory, settings):
    """The tokenizer with the tokens that tokenizer_config.json adds, and those on whose id both files disagree."""
    path = os.path.join(directory, "tokenizer.json")
    if not os.path.isfile(path):
        raise NoAnswerError(f"{path} does not exist; tokenizers of other formats are not examined", "other")
    if os.path.getsize(path) > FILE_LIMIT:
        raise NoAnswerError(f"{path} is larger than {FILE_LIMIT >> 20} MiB")
    try:
        tokenizers = importlib.import_module("tokenizers")
    except ImportError:
        raise NoAnswerError("the package tokenizers is not installed", "missing") from None
    try:
        tokenizer = tokenizers.Tokenizer.from_file(path)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 -- tokenizers raises a bare Exception
        raise NoAnswerError(f"{path} cannot be loaded: {str(error)[:200]}") from None
    disagreeing = []
    for number, text, is_special in declared_tokens(settings):
        found = tokenizer.token_to_id(text)
        if found is None:
            tokenizer.add_tokens([tokenizers.AddedToken(text, special=is_special)])
        elif found != number:
            disagreeing.append([text, number, found])
    return tokenizer, disagreeing[:20]


def declared_tokens(settings):
    """Id, text and kind of the tokens in `added_tokens_decoder`, by id."""
    declared = settings.get("added_tokens_decoder")
    found = []
    for number, token in declared.items() if isinstance(declared, dict) else ():
        if str(number).isdigit() and text_of(token):
            found.append((int(number), text_of(token), isinstance(token, dict) and bool(token.get("special"))))
    return sorted(found)


def special_tokens(tokenizer, directory, settings):
    """The text of each named token. One that the vocabulary lacks is added at its end, as transformers does."""
    older = read_json(os.path.join(directory, "special_tokens_map.json"))
    found = {}
    for name in ("bos", "eos", "pad", "unk"):
        text = text_of(settings.get(name + "_token", older.get(name + "_token")))
        if text:
            found[name] = text
            if tokenizer.token_to_id(text) is None:
                tokenizer.add_special_tokens([text])
    return found


def text_of(token):
    """A token is a text, or a table with its content."""
    if isinstance(token, dict):
        token = token.get("content")
    return token if isinstance(token, str) else ""


def find_template(given, directory, settings):
    """The text of the template and its origin; two empty texts if there is none."""
    if given:
        return given, "the configuration"
    text = read_text(os.path.join(directory, "chat_template.jinja"))
    if text:
        return text, "chat_template.jinja"
    found = read_json(os.path.join(directory, "chat_template.json")).get("chat_template")
    if isinstance(found, str) and found:
        return found, "chat_template.json"
    found = settings.get("chat_template")
    if isinstance(found, list):  # several templates with names
        named = {item.get("name"): item.get("template") for item in found if isinstance(item, dict)}
        found = named.get("default")
    return (found, "tokenizer_config.json") if isinstance(found, str) and found else ("", "")


def stop_ids(directory):
    """The ids at which vLLM stops beside the tokenizer's own."""
    path = os.path.join(directory, "generation_config.json")
    config = read_json(path) if os.path.exists(path) else read_json(os.path.join(directory, "config.json"))
    found = config.get("eos_token_id")
    found = found if isinstance(found, list) else [found]
    return [token for token in found if isinstance(token, int) and not isinstance(token, bool)]


def embeddings(directory):
    """The rows of the model's embedding; None if config.json does not say."""
    config = read_json(os.path.join(directory, "config.json"))
    text = config.get("text_config")
    size = (text if isinstance(text, dict) else config).get("vocab_size")
    return size if isinstance(size, int) else None


def adds_bos(tokenizer, special):
    """Whether the tokenizer puts its first token before a plain text."""
    bos = tokenizer.token_to_id(special.get("bos", ""))
    return bos is not None and list(tokenizer.encode("x").ids)[:1] == [bos]


def is_byte_level(directory):
    """Whether tokenizer.json splits text into bytes before anything else, as GPT-2 does, and not by SentencePiece."""
    text = read_text(os.path.join(directory, "tokenizer.json"))
    key = re.search(r'"pre_tokenizer"\s*:\s*', text)
    if key is None:
        return False
    found, _ = json.JSONDecoder().raw_decode(text, key.end())  # the file has megabytes, this part a few lines
    return '"ByteLevel"' in json.dumps(found)


def split_markers(tokenizer, texts):
    """Markers of the template, such as <|im_end|>, that are several tokens, with these tokens."""
    markers = sorted({marker for text in texts for marker in MARKER.findall(text)})
    return [
        [marker, [tokenizer.id_to_token(token) or "" for token in ids]]
        for marker in markers
        for ids in [encode(tokenizer, marker)]
        if len(ids) > 1
    ][:20]


def version_of(package):
    try:
        return importlib.import_module("importlib.metadata").version(package)
    except ImportError:
        return ""


def read_text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(FILE_LIMIT)
    except OSError:
        return ""


def read_json(path):
    """The object in a file; an empty one if there is none."""
    try:
        found = json.loads(read_text(path) or "{}")
    except (ValueError, RecursionError) as error:
        raise NoAnswerError(f"{path} is not JSON: {str(error)[:200]}") from None
    return found if isinstance(found, dict) else {}


main()
