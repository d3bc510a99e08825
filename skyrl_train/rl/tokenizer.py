"""The tokenizer of a model directory, as verl loads it."""

import os
import sys

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.extras import install
from skyrl_train.rl.engine import Tokenizer


def load_tokenizer(path: str) -> Tokenizer:
    """UsageError if there is none that can be used. It runs no code of the directory."""
    if not os.path.isdir(path):
        raise UsageError(f"{path} is not a directory on this machine; pass --tokenizer with the model's directory")
    try:
        from transformers import AutoTokenizer
    except ImportError:
        raise UsageError(
            f"transformers is not installed for {sys.executable}; run this in the training environment, or `{install('train')}`"
        ) from None
    try:
        found: Tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # noqa: BLE001 -- it raises whatever the files of the directory lead to
        raise UsageError(f"the tokenizer in {path} cannot be loaded: {' '.join(str(error).split())[:300]}") from None
    if not getattr(found, "chat_template", None):
        raise UsageError(f"the tokenizer in {path} has no chat template; expected one of a chat model")
    return found
