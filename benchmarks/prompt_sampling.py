"""How long a dataset of 100,000 rows takes to sample, and how much memory.

    python -m benchmarks.prompt_sampling

Needs pyarrow and tokenizers. The limits are 3 s and 300 MiB.
"""

import itertools
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CHILD = Path(__file__).parent.parent / "skyrl_doctor" / "children" / "prompt_lengths.py"
ROWS, DISTINCT, GROUP = 100_000, 2_000, 10_000
LIMIT_S, LIMIT_MIB = 3.0, 300.0
WORDS = ("def", "return", "the", "fix", "bug", "test", "index", "value", "error", "assert")


def prompt(draw: random.Random) -> list[dict[str, str]]:
    text = " ".join(draw.choice(WORDS) for _ in range(draw.randint(200, 2500)))
    return [{"role": "system", "content": "You are an agent."}, {"role": "user", "content": text}]


def make(directory: Path) -> dict[str, Any]:
    """A parquet file and a tokenizer; what the child is asked."""
    import pyarrow as pa
    from pyarrow import parquet
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    draw = random.Random(1)
    prompts = [prompt(draw) for _ in range(DISTINCT)]
    table = pa.table({"prompt": list(itertools.islice(itertools.cycle(prompts), ROWS))})
    parquet.write_table(table, directory / "train.parquet", row_group_size=GROUP)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
    texts = (message["content"] for messages in prompts[:50] for message in messages)
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=600, show_progress=False))
    tokenizer.save(str(directory / "tokenizer.json"))
    return {
        "file": str(directory / "train.parquet"),
        "tokenizer": str(directory / "tokenizer.json"),
        "key": "prompt",
        "sample": 500,
    }


def main() -> int:
    if sys.argv[1:2] == ["--ask"]:  # a process of its own, so that its memory is its own
        started = time.perf_counter()
        done = subprocess.run([sys.executable, str(CHILD), sys.argv[2]], capture_output=True, text=True, check=True)
        took_s = time.perf_counter() - started
        peak_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(json.dumps({"seconds": round(took_s, 2), "mib": round(peak_mib), **json.loads(done.stdout)}))
        return 0 if took_s < LIMIT_S and peak_mib < LIMIT_MIB else 1
    with tempfile.TemporaryDirectory() as directory:
        spec = json.dumps(make(Path(directory)))
        command = [sys.executable, "-m", "benchmarks.prompt_sampling", "--ask", spec]
        return max(subprocess.run(command, check=False).returncode for _ in range(3))


if __name__ == "__main__":
    sys.exit(main())
