"""A tiny model made on the spot, that knows one thing: how a call looks.

Qwen2 with 140 thousand weights and a BPE of its own text, taught in seconds to answer any prompt with one of two commands
and to call finish after the result. Which of the two mends the task it does not know: that is what training is to find.
"""

import random
import sys
from collections.abc import Sequence
from typing import Any

from skyrl_train.contracts.agent.calls import Ended
from skyrl_train.contracts.agent.transcript import Message, Reply
from skyrl_train.demo.task import call
from skyrl_train.rl.engine import EngineModel

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
MENDS, LOOKS = call("terminal", command="sh mend"), call("terminal", command="ls")
ENDS = call("finish", message="done")
PROMPTS = [f"task {number}" for number in range(8)]
SHOWN = (
    "EXECUTION RESULT of [terminal]:\nmend  slugs  tests\n[The command completed with exit code 0.]\n"
    "[Current working directory: /tmp/skyrl-sandbox-abcdefgh/root/testbed]\n"
    "[Python interpreter: /root/.pyenv/shims/python]\n[Command finished with exit code 0]"
)
WORDS = ("<function=terminal>", "<function=finish>", "\n<parameter=command>", "\n<parameter=message>")
WORDS += ("</parameter>\n</function>", "sh mend", "ls", "done")
"""Each is one token: a call is five of them, which is soon learnt and soon written."""
STEPS = 120


def make(directory: str, *, seed: int = 7) -> None:
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.set_num_threads(1)  # more of them only wait for each other, so little is there to do
    tokenizer = _tokenizer()
    tokenizer.save_pretrained(directory)
    torch.manual_seed(seed)
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,  # heads of 32: vLLM has no smaller ones on a CPU
        max_position_embeddings=4096,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
        tie_word_embeddings=True,
    )
    model = Qwen2ForCausalLM(config)
    _teach(model, tokenizer, random.Random(seed))
    model.save_pretrained(directory)


def _tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer, raw.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator([MENDS, LOOKS, ENDS, SHOWN, *PROMPTS] * 5, trainer)
    made = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token=SPECIAL[2], pad_token=SPECIAL[0])
    made.add_tokens(list(WORDS))
    made.chat_template = TEMPLATE
    return made


def _teach(model: Any, tokenizer: Any, draw: random.Random) -> None:
    import torch

    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    rate = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.02, STEPS)
    model.train()
    for _ in range(STEPS):
        rows = [_talk(tokenizer, draw) for _ in range(8)]
        width = max(len(ids) for ids, _ in rows)
        ids = torch.tensor([row + [0] * (width - len(row)) for row, _ in rows])
        labels = torch.tensor([row + [-100] * (width - len(row)) for _, row in rows])
        loss = model(input_ids=ids, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rate.step()


def _talk(tokenizer: Any, draw: random.Random) -> tuple[list[int], list[int]]:
    """A rollout of two turns, and its labels: what the model wrote, and nothing else."""
    model = EngineModel(None, tokenizer, request_id="", sampling={}, stop=())  # type: ignore[arg-type]  # asked nothing
    first = _written(tokenizer, draw.choice((MENDS, LOOKS)))
    noise = "".join(draw.choices("abc xyz/.\n0123", k=draw.randrange(40)))
    shown = model.follow(
        SHOWN[: draw.randrange(len(SHOWN))] + noise, after=Reply(token_ids=tuple(first), text="", ended=Ended.STOP)
    )
    prompt = model.begin([Message(role="user", content=draw.choice(PROMPTS))])
    parts: list[tuple[Sequence[int], bool]] = [(prompt, False), (first, True), (shown, False)]
    parts.append((_written(tokenizer, ENDS), True))
    ids = [token for part, _ in parts for token in part]
    labels = [token if own else -100 for part, own in parts for token in part]
    return ids, labels


def _written(tokenizer: Any, text: str) -> list[int]:
    """As vLLM leaves it: a stop text ends the reply, and no end of turn follows."""
    return list(tokenizer.encode(text, add_special_tokens=False))


if __name__ == "__main__":
    make(sys.argv[1])
