"""Secrets beside names that only look like Latin letters, or whose letters are written as escapes."""

import pytest

from secret_shapes import made
from skyrl_doctor.machine.redact import Redactor

SECRET = made("lookalike", 20)
HIDING = {
    "full width": "\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44={}",
    "a Cyrillic a": "p\u0430ssword={}",
    "a Cyrillic o": "t\u043eken: {}",
    "a Greek capital alpha": "\u0391PI_KEY={}",
    "bold letters": "\U0001d42d\U0001d428\U0001d424\U0001d41e\U0001d427: {}",
    "a space of no width": "pass\u200bword={}",
    "a soft hyphen": "api\u00ad_key={}",
    "an accent of its own": "pa\u0301ssword={}",
    "a wide equals sign": "password\uff1d{}",
    "a wide colon and space": "token\uff1a\u3000{}",
    "an entity": "password&#61;{}",
    "a hexadecimal entity": "password&#x3d;{}",
    "an escape of JSON": '{{"pass\\u0077ord": "{}"}}',
    "a wide underscore in a prefix": "hf\uff3f{}abcdefghijklmn",
    "an invisible letter in the secret": "token=\u2060{}",
}
HARMLESS = (
    "p\u0430ss@1 = 0.41",
    "\u043f\u0435\u0440\u043f\u043b\u0435\u043a\u0441\u0438\u044f token_count=17",
    "pad_token='<pad>' eos\uff1d2",
    "key\uff1a value pairs are listed",
    "\uff50\uff41\uff53\uff53ed=12 failed=0",
    "100&#37; of the tokens",
    "\u03b1=0.9 \u03b2=0.99 \u03c4\u00a0=\u00a01",
    "loss \u2192 0.3 \u2502 step 7",
    "{\"text\": \"a\\u0020b\"}",
)  # fmt: skip


@pytest.mark.parametrize("name", HIDING)
def test_a_name_is_read_as_people_read_it(name: str) -> None:
    text = HIDING[name].format(SECRET)
    assert SECRET not in Redactor()(text)


@pytest.mark.parametrize("name", HIDING)
def test_a_name_is_read_so_in_binary_data(name: str) -> None:
    data = b"\0\xff" + HIDING[name].format(SECRET).encode() + b"\n\0"
    found = Redactor().in_place(data)
    assert (len(found), SECRET.encode() in found) == (len(data), False)


@pytest.mark.parametrize("text", HARMLESS)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert Redactor()(text) == text
    assert Redactor().in_place(text.encode()) == text.encode()


def test_a_redacted_text_stays_as_it_is() -> None:
    redact = Redactor()
    for text in HIDING.values():
        once = redact(text.format(SECRET))
        assert redact(once) == once
