"""The part of the package tokenizers that children/chat_template.py uses, for byte-level vocabularies without merges.

tests/lanes/stack/test_chat_templates.py holds it against the real one.
"""

import json
import re


def alphabet() -> dict[int, str]:
    """GPT-2's letter of each byte."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {**{byte: chr(byte) for byte in printable}, **{byte: chr(256 + at) for at, byte in enumerate(others)}}


LETTERS = alphabet()
BYTES = {letter: byte for byte, letter in LETTERS.items()}


class AddedToken:
    def __init__(self, content: str, special: bool = False) -> None:
        self.content, self.special = content, special


class Encoded:
    def __init__(self, ids: list[int]) -> None:
        self.ids = ids


class Tokenizer:
    def __init__(self, file: dict) -> None:  # type: ignore[type-arg]  # JSON
        self._ids: dict[str, int] = dict(file["model"]["vocab"])
        self._added = {token["content"]: token["special"] for token in file["added_tokens"]}
        self._ids.update({token["content"]: token["id"] for token in file["added_tokens"]})
        self._before = [
            part["SpecialToken"]["id"]
            for part in (file["post_processor"] or {"single": []})["single"]
            if "SpecialToken" in part
        ]

    @classmethod
    def from_file(cls, path: str) -> "Tokenizer":
        try:
            with open(path, encoding="utf-8") as file:
                return cls(json.load(file))
        except ValueError as error:
            raise Exception(str(error)) from None

    def token_to_id(self, token: str) -> int | None:
        return self._ids.get(token)

    def id_to_token(self, number: int) -> str | None:
        return next((token for token, it in self._ids.items() if it == number), None)

    def add_tokens(self, tokens: list[AddedToken]) -> None:
        for token in tokens:
            self._add(token.content, special=token.special)

    def add_special_tokens(self, tokens: list[str]) -> None:
        for token in tokens:
            self._add(token, special=True)

    def _add(self, text: str, *, special: bool) -> None:
        self._ids.setdefault(text, 1 + max(self._ids.values()))
        self._added[text] = special

    def encode(self, text: str, add_special_tokens: bool = True) -> Encoded:
        pattern = "|".join(re.escape(token) for token in sorted(self._added, key=len, reverse=True))
        parts = re.split(f"({pattern})", text) if pattern else [text]
        found = [self._ids[token] for token in self._before] if add_special_tokens else []
        for part in parts:
            found += [self._ids[part]] if part in self._added else [self._ids[LETTERS[byte]] for byte in part.encode()]
        return Encoded(found)

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        tokens = [self.id_to_token(number) or "" for number in ids]
        kept = [token for token in tokens if not (skip_special_tokens and self._added.get(token))]
        return b"".join(
            token.encode() if token in self._added else bytes(BYTES[letter] for letter in token) for token in kept
        ).decode("utf-8", "replace")
