"""A tokenizer of words, with the calls that children/prompt_lengths.py makes."""


class Encoded:
    def __init__(self, ids: list[int]) -> None:
        self.ids = ids


class Tokenizer:
    @classmethod
    def from_file(cls, path: str) -> "Tokenizer":
        if path.endswith("broken.json"):
            raise Exception("expected value at line 1")
        return cls()

    def encode_batch(self, texts: list[str], add_special_tokens: bool = True) -> list[Encoded]:  # noqa: ARG002 -- its name
        return [Encoded(list(range(len(text.split())))) for text in texts]
