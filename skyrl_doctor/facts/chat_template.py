"""What the model's chat template makes of a few fixed conversations, in tokens."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of, unknown_if_malformed
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.interpreter import INTERPRETER_KEY, TrainingPython
from skyrl_doctor.facts.model_files import TOKENIZERS, ModelFiles, files_of
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.typed import Fields

LIMIT_S = 10.0
TOKENIZER_KEY = "model.tokenizer"
VERL_TEMPLATE = "actor_rollout_ref.model.custom_chat_template"
KWARGS = ("data.apply_chat_template_kwargs.", "generator.chat_template_kwargs.")
"""Where verl and SkyRL have the variables of the template."""
NEEDED = ("<|im_end|>", "[e~[", "<|observation|>", "<|user|>")
"""Tokens that verl looks up by name for some types of models."""


@record
class Render:
    """The tokens of one conversation, those after a placeholder reply, and why there are none."""

    ids: tuple[int, ...] = ()
    after: tuple[int, ...] | None = None
    error: str = ""


@record
class Difference:
    """The first token at which two sequences differ. An empty text stands for the end of a sequence."""

    index: int
    expected: str
    built: str


@record(kw_only=True)
class ChatTemplate:
    """`source` is the file of the template, empty if there is none. The other fields are those of the child's answer."""

    tokenizer: str
    source: str
    renders: Mapping[str, Render] = field(default_factory=dict)
    pieces: Mapping[int, str] = field(default_factory=dict)
    """The text of each token in the renders, as the vocabulary has it."""
    special: Mapping[str, tuple[str, int | None]] = field(default_factory=dict)
    """bos, eos, pad and unk: text and id."""
    stops: frozenset[int] = frozenset()
    """Tokens of generation_config.json at which vLLM stops, beside the tokenizer's eos."""
    embeddings: int | None = None
    added_bos: bool = False
    """Whether the tokenizer puts its bos token before a plain text."""
    disagreeing: tuple[tuple[str, int, int], ...] = ()
    """Tokens with their id in tokenizer_config.json and in tokenizer.json."""
    split: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Markers of the template that are several tokens."""
    values: tuple[str, ...] = ()
    read_back: tuple[str, ...] = ()
    """Our calls with these values, encoded and decoded."""
    reply: tuple[int, ...] = ()
    reasoned_reply: tuple[int, ...] = ()
    needed: Mapping[str, int | None] = field(default_factory=dict)
    newline: tuple[int, ...] = ()
    verl: str = ""
    transformers: str = ""
    """Their versions in the training interpreter; empty if not installed."""
    tokenizer_class: str = ""
    byte_level: bool = False
    """Whether tokenizer.json splits text into bytes, and not by SentencePiece."""

    def text(self, ids: Sequence[int]) -> str:
        """The tokens of the vocabulary, joined. Two sequences with one text differ only in where it is cut."""
        return "".join(self.pieces.get(token, "") for token in ids)

    def id_of(self, name: str) -> int | None:
        return self.special.get(name, ("", None))[1]

    @property
    def ends(self) -> frozenset[int]:
        """All tokens at which generation stops."""
        eos = self.id_of("eos")
        return self.stops if eos is None else self.stops | {eos}

    def difference(self, expected: Sequence[int], built: Sequence[int]) -> Difference | None:
        """None if both have the same text."""
        if self.text(expected) == self.text(built):
            return None
        both = zip(expected, built, strict=False)
        index = next((at for at, (one, other) in enumerate(both) if one != other), min(len(expected), len(built)))
        return Difference(index, self._token(expected, index), self._token(built, index))

    def _token(self, ids: Sequence[int], index: int) -> str:
        return f"{ids[index]} {self.pieces.get(ids[index], '')!r}" if index < len(ids) else ""


@record
class NoRenders:
    """Why the child gives no renders: a package is missing, the tokenizer is of another format, or a file is broken."""

    why: str
    kind: str


@unknown_if_malformed()
def parse_chat_template(text: str, tokenizer: str) -> ChatTemplate | NoRenders:
    """Parses the output of children/chat_template.py."""
    answer = answer_of(text, f"chat template of {tokenizer}")
    if "why" in answer:
        return NoRenders(answer.text("why"), answer.choice("kind", ("missing", "other", "broken")))
    return ChatTemplate(
        tokenizer=tokenizer,
        source=answer.text("source"),
        renders={name: _render(answer.inner("renders").inner(name)) for name in answer.inner("renders")},
        pieces={int(token): str(piece) for token, piece in answer.named_texts("pieces").items()},
        special=dict(_special(answer.inner("special"))),
        stops=frozenset(answer.integers("stops")),
        embeddings=_integer_or_none(answer, "embeddings"),
        added_bos=answer.flag("added_bos"),
        disagreeing=tuple(
            (str(text), int(str(one)), int(str(other))) for text, one, other in _rows(answer, "disagreeing", 3)
        ),
        split=tuple((str(marker), tuple(map(str, _list(parts)))) for marker, parts in _rows(answer, "split", 2)),
        values=answer.texts("values"),
        read_back=answer.texts("read_back"),
        reply=answer.integers("reply"),
        reasoned_reply=answer.integers("reasoned_reply"),
        needed={name: _integer_or_none(answer.inner("needed"), name) for name in answer.inner("needed")},
        newline=answer.integers("newline"),
        verl=answer.text("verl"),
        transformers=answer.text("transformers"),
        tokenizer_class=answer.text("tokenizer_class"),
        byte_level=answer.flag("byte_level"),
    )


def _render(found: Fields) -> Render:
    after = found.value("after")
    return Render(found.integers("ids"), None if after is None else found.integers("after"), found.text("error"))


def _special(found: Fields) -> Iterator[tuple[str, tuple[str, int | None]]]:
    for name in found:
        text, number = found.values(name)
        yield name, (str(text), number if isinstance(number, int) else None)


def _rows(found: Fields, name: str, width: int) -> Iterator[Sequence[object]]:
    for row in found.values(name):
        if not isinstance(row, list) or len(row) != width:
            raise found.error(name, f"expected lists of {width}")
        yield row


def _list(found: object) -> Sequence[object]:
    return found if isinstance(found, list) else ()


def _integer_or_none(found: Fields, name: str) -> int | None:
    return None if found.value(name) is None else found.integer(name)


@probe(limit_s=LIMIT_S + 2)
def chat_template(
    machine: Machine, plan: Plan, environ: Environ, model: ModelFiles, python: TrainingPython
) -> ChatTemplate:
    """Renders the conversations in the training interpreter, with the tokenizer's files on this machine."""
    if model.directory is None or model.config is None:
        raise NotApplicable(f"{model.name} has no config.json on this machine, so its chat template is unknown")
    tokenizer = _tokenizer(machine, plan, environ, model)
    if python.problem:
        raise CouldNotLook(f"{python.label}: {python.problem}")
    own = plan.own.get(VERL_TEMPLATE)
    if own is not None and own.unknown:
        raise CouldNotLook(f"{own.assignment}: {own.unknown}")
    spec = {
        "model": model.directory,
        "tokenizer": tokenizer,
        "template": own.value if own is not None else None,
        "kwargs": dict(_kwargs(plan)),
        "needed": NEEDED,
    }
    done = machine.ask("chat_template", json.dumps(spec, sort_keys=True), python=python.path, limit_s=LIMIT_S)
    if not done.ok:
        raise CouldNotLook(done.why)
    found = parse_chat_template(done.out, tokenizer)
    if isinstance(found, ChatTemplate):
        return found
    if found.kind == "missing" and not python.source.startswith(INTERPRETER_KEY):
        raise NotApplicable(f"{found.why} for {python.path}")  # it may not be the interpreter that trains
    raise (NotApplicable if found.kind == "other" else CouldNotLook)(found.why)


def _tokenizer(machine: Machine, plan: Plan, environ: Environ, model: ModelFiles) -> str:
    """The directory of the tokenizer."""
    name = plan.text(TOKENIZER_KEY)
    found = model if name is None else files_of(machine, name, environ)
    if found.directory is None:
        raise NotApplicable(f"the tokenizer {found.name} is not on this machine")
    if not found.has_tokenizer:
        raise NotApplicable(f"{found.directory} has no tokenizer; expected one of {', '.join(TOKENIZERS)}")
    return found.directory


def _kwargs(plan: Plan) -> Iterator[tuple[str, Any]]:
    for key, value in plan.own.items():
        prefix = next((prefix for prefix in KWARGS if key.startswith(prefix)), None)
        if prefix is not None:
            if value.unknown:
                raise CouldNotLook(f"{value.assignment}: {value.unknown}")
            yield key.removeprefix(prefix), value.value
