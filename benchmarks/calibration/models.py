"""Model directories without weights: config.json and a tokenizer made on the spot; verl gets random weights instead."""

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

CHAT = "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
PATTERN = 1 << 20
MARKS = 3
"""Tokens of ChatML, after the others."""


def tokenizer_files(folder: Path, size: int = 0) -> None:
    """A byte-level BPE tokenizer with the 256 bytes and ChatML's marks: enough for every program that asks for one.
    With a size it has words up to that many tokens, which no text becomes, for ids that random weights come up with."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = sorted(pre_tokenizers.ByteLevel.alphabet())
    words += [f"w{number}" for number in range(len(words), size - MARKS)]
    bpe = Tokenizer(models.BPE(vocab={word: index for index, word in enumerate(words)}, merges=[]))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>"],
    )
    wrapped.chat_template = CHAT
    wrapped.save_pretrained(folder)


def write(folder: Path, config: Mapping[str, Any], *, every_token: bool = False) -> Path:
    """The model's directory, made once. `every_token`: the tokenizer has a text for each id of the vocabulary.

    Several processes may ask for it at the same time: each makes its own and renames it, and the first one counts.
    """
    if not (folder / "config.json").exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
        tokenizer_files(made, config["vocab_size"] if every_token else 0)
        (made / "config.json").write_text(json.dumps(dict(config), indent=2) + "\n")
        try:
            made.rename(folder)
        except OSError:  # another process was first
            shutil.rmtree(made)
    return folder


def fill(model: Any) -> None:
    """Small random numbers in every weight, ones in the norms: a pattern repeated, since filling is not what is measured."""
    import torch

    pattern = torch.randn(PATTERN) * 0.02
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            flat = parameter.data.view(-1)
            if "norm" in name:
                flat.fill_(1.0)
                continue
            whole = flat.numel() // PATTERN * PATTERN
            flat[:whole].view(-1, PATTERN).copy_(pattern)
            flat[whole:].copy_(pattern[: flat.numel() - whole])


def from_shape(cls: Any, *, config: Any, dtype: Any) -> Any:
    """What from_pretrained would give: the model on the CPU in that dtype."""
    import torch
    from transformers.initialization import no_init_weights

    def leave(_self: Any) -> None:
        """Weights are filled below; torch's own first filling would cost minutes for a large model."""

    skipped = [torch.nn.Linear, torch.nn.Embedding]
    with ExitStack() as stack:
        stack.enter_context(no_init_weights())
        for kind in skipped:
            stack.enter_context(patch.object(kind, "reset_parameters", leave))
        model = cls.from_config(config, dtype=dtype)
    model.tie_weights()
    fill(model)
    return model


@contextmanager
def random_weights() -> Iterator[None]:
    """While this is open, transformers' from_pretrained gives random weights of the configured shape."""
    from transformers import AutoModelForCausalLM, AutoModelForTokenClassification

    def loader(cls: Any) -> Any:
        def load(*_args: Any, config: Any, torch_dtype: Any = None, dtype: Any = None, **_kwargs: Any) -> Any:
            return from_shape(cls, config=config, dtype=torch_dtype or dtype)

        return load

    with ExitStack() as stack:
        for cls in (AutoModelForCausalLM, AutoModelForTokenClassification):
            stack.enter_context(patch.object(cls, "from_pretrained", loader(cls)))
        yield


@contextmanager
def own_forward(architecture: str) -> Iterator[None]:
    """Puts the model class's forward back afterwards: verl's fused kernels replace it for the whole process."""
    import transformers

    cls = getattr(transformers, architecture)
    forward = cls.forward
    try:
        yield
    finally:
        cls.forward = forward
