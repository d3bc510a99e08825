"""Scores a text with a model, for a process that imports no torch. Run by path: MODEL_DIRECTORY MOST_TOKENS DEVICE TEXT

Prints {"ids": [...], "logprobs": [...]}: each token, and the log-probability of each but the first.
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def main(directory: str, most_tokens: int, device: str, text: str) -> int:
    tokenizer = AutoTokenizer.from_pretrained(directory, local_files_only=True)
    ids = tokenizer.encode(text, add_special_tokens=False)[:most_tokens]
    model = (
        AutoModelForCausalLM.from_pretrained(directory, dtype=torch.bfloat16, local_files_only=True).to(device).eval()
    )
    row = torch.tensor([ids], device=device)
    with torch.inference_mode():
        scores = torch.log_softmax(model(input_ids=row).logits[0, :-1].float(), dim=-1)
    found = scores.gather(1, row[0, 1:, None])[:, 0].tolist()
    print(json.dumps({"ids": ids, "logprobs": found}))  # noqa: T201 -- the answer to the parent
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:5]))
