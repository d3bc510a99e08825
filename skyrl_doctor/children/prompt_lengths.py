"""Measures prompts of a dataset in tokens, in a sample that is spread evenly over the file. It needs little memory."""

import os
import sys

if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
    del sys.path[0]

import importlib
import json

PER_MESSAGE = 5  # about the number of tokens that a chat template adds to each message
GROUPS = 16
OVERSAMPLE = 4  # rows that are decoded for each one that is used: reading deeper into a row group is slow
READ_BYTES = 1 << 20
WHOLE_BYTES = 1 << 18  # a smaller file is read line by line from its start
LINE_LIMIT = 4 << 20


class NoLengthsError(Exception):
    """There are no lengths; the text is the reason."""


def main():
    spec = json.loads(sys.argv[1])
    try:
        answer = lengths(spec)
    except NoLengthsError as reason:
        answer = {"why": str(reason)}
    sys.stdout.write(json.dumps(answer) + "\n")


def lengths(spec):
    tokenizer = load_tokenizer(spec["tokenizer"])
    prompts, rows = sample(spec["file"], spec["key"], spec["sample"])
    found = sorted(measured(tokenizer, prompts))
    if not found:
        raise NoLengthsError(f"{spec['file']} has no prompt under {spec['key']!r}")
    return {
        "file": spec["file"],
        "count": len(found),
        "rows": rows,
        "p50": percentile(found, 0.50),
        "p95": percentile(found, 0.95),
        "longest": found[-1],
    }


def percentile(found, share):
    return found[min(len(found) - 1, int(share * len(found)))]


def load_tokenizer(path):
    try:
        return importlib.import_module("tokenizers").Tokenizer.from_file(path)
    except ImportError:
        raise NoLengthsError("the package tokenizers is not installed") from None
    except Exception as error:  # noqa: BLE001 -- tokenizers raises a bare Exception
        raise NoLengthsError(f"{path} cannot be loaded: {str(error)[:200]}") from None


def sample(path, key, count):
    if path.endswith(".parquet"):
        return from_parquet(path, key, count)
    if path.endswith((".jsonl", ".json")):
        return from_lines(path, key, count)
    raise NoLengthsError(f"{path} is neither parquet nor JSON lines")


def from_parquet(path, key, count):
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise NoLengthsError(f"pyarrow is not installed, so {path} cannot be read") from None
    try:
        file = parquet.ParquetFile(path, buffer_size=READ_BYTES, pre_buffer=False)
        if key not in file.schema_arrow.names:
            raise NoLengthsError(f"{path} has no column {key!r}")
        chosen = range(0, file.num_row_groups, max(1, file.num_row_groups // GROUPS))
        each = max(1, count // max(1, len(chosen)))
        found = [prompt for group in chosen for prompt in from_group(file, group, key, each)]
    except (OSError, ValueError, KeyError, NotImplementedError) as error:  # base classes of pyarrow's errors
        raise NoLengthsError(f"{path} cannot be read: {str(error)[:200]}") from None
    return found, file.metadata.num_rows


def from_group(file, group, key, each):
    """Yields about `each` values from the start of a row group at even distances, one batch in memory at a time."""
    rows = min(file.metadata.row_group(group).num_rows, OVERSAMPLE * each)
    stride = max(1, -(-rows // each))
    at = 0
    for batch in file.iter_batches(batch_size=min(32, rows), row_groups=[group], columns=[key], use_threads=False):
        column = batch.column(0)
        for index in range(-at % stride, min(len(column), rows - at), stride):
            yield column[index].as_py()
        at += len(column)
        if at >= rows:
            return


def from_lines(path, key, count):
    """Lines at even distances, and the number of rows, estimated from their size."""
    try:
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            lines = [line for line in spread(file, size, count) if line.strip()]
        found = [json.loads(line)[key] for line in lines]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NoLengthsError(f"{path} cannot be read: {type(error).__name__}: {str(error)[:200]}") from None
    read = sum(map(len, lines))
    return found, max(len(found), round(size * len(found) / read)) if read else 0


def spread(file, size, count):
    for part in range(count):
        start = size * part // count
        if size > WHOLE_BYTES and start > file.tell():
            file.seek(start)
            file.readline(LINE_LIMIT)
        yield file.readline(LINE_LIMIT)


def measured(tokenizer, prompts):
    """The tokens of each prompt, which is a string or a list of messages."""
    texts = [message_texts(prompt) for prompt in prompts]
    encoded = iter(tokenizer.encode_batch([text for each in texts for text in each], add_special_tokens=False))
    return [sum(len(next(encoded).ids) + PER_MESSAGE for _ in each) for each in texts]


def message_texts(prompt):
    if isinstance(prompt, str):
        return [prompt]
    if isinstance(prompt, list):
        return [str(item.get("content", "")) if isinstance(item, dict) else str(item) for item in prompt]
    raise NoLengthsError(f"a prompt has type {type(prompt).__name__}; expected a string or a list of messages")


main()
