"""Redaction: secrets go, everything else stays."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.machine.redact import Redactor, secret_spans
from skyrl_doctor.machine.secret_names import is_secret_key, is_secret_name

TOKEN = re.compile(r"<redacted:[0-9a-f]{8}>")


@pytest.mark.parametrize(
    "name",
    ["WANDB_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "SESSION_API_KEY", "OH_SESSION_API_KEYS_0", "GITHUB_PAT",
     "hf_token", "SLACK_WEBHOOK_URL", "AWS_SESSION_TOKEN", "GOOGLE_CREDENTIALS", "OPENAI_API_KEY", "SENTRY_DSN",
     "PGPASSWORD", "MYSQL_PWD", "SSHPASS", "MYSECRET", "WandbApiKey", "REDIS_AUTH", "OTEL_EXPORTER_OTLP_HEADERS", "AZURE_CONNECTION_STRING"],
)  # fmt: skip
def test_names_of_secrets(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "TOKENIZERS_PARALLELISM",
        "MAX_TOKENS",
        "KEYBOARD",
        "MONKEY",
        "HOME",
        "SLURM_JOB_ID",
        "CUDA_VISIBLE_DEVICES",
        "PWD",
        "OLDPWD",
        "COMPASS",
        "SSH_AUTH_SOCK",
        "XAUTHORITY",
        "HF_TOKEN_PATH",
    ],
)
def test_names_of_no_secrets(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("prompt_key", False),
        ("reward_fn_key", False),
        ("api_key", True),
        ("WANDB_API_KEY", True),
        ("hf_token", True),
        ("password", True),
    ],
)
def test_a_key_of_a_configuration_is_mostly_a_column(name: str, secret: bool) -> None:
    assert is_secret_key(name) is secret


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("token hf_abcdefghijklmnopqrstuv is used", "hf_abcdefghijklmnopqrstuv"),
        ("using sk-proj-abcdefghijklmnop1234", "sk-proj-abcdefghijklmnop1234"),
        ("AKIAABCDEFGHIJKLMNOP", "AKIAABCDEFGHIJKLMNOP"),
        ("http://user:hunter22@proxy:3128", "hunter22"),
        ("Authorization: Bearer abc.def-ghi", "abc.def-ghi"),
        ("machine api.wandb.ai login user password 0123456789abcdef", "0123456789abcdef"),
        ("password\n  0123456789abcdef", "0123456789abcdef"),
        ("api_key='s3cr3tvalue'", "s3cr3tvalue"),
        ("X-API-Key: abcdefgh", "abcdefgh"),
        ("ghp_abcdefghijklmnopqrstuvwx", "ghp_abcdefghijklmnopqrstuvwx"),
        ('{"token": "abcdefgh"}', "abcdefgh"),
        ("serve\0--api-key\0abcdefgh\0--port\0" + "8000", "abcdefgh"),
        ("run --hf-token abcdefgh", "abcdefgh"),
        ("http://s3cr3ttoken@proxy:3128", "s3cr3ttoken"),
        ("https://hooks.slack.com/services/T00/B00/abcdef", "T00/B00/abcdef"),
        ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("AccountName=x;AccountKey=abcdef+/==;Suffix=y", "abcdef+/=="),
        ("https://s3/x?X-Amz-Signature=0123abcd", "0123abcd"),
        ("PGPASSWORD=abcdefgh psql", "abcdefgh"),
    ],
)
def test_texts_that_look_like_secrets(text: str, secret: str) -> None:
    redacted = Redactor()(text)
    assert secret not in redacted
    assert TOKEN.search(redacted)


@pytest.mark.parametrize(
    "text",
    ["max_tokens = 4000", "max_tokens=131072", "--max-tokens 131072", "--tokenizer qwen2.5",  "pad_token: <|endoftext|>", "https://host:8000/health", "MIG-aaaaaaaa-0000-0000-0000-000000000001",
     "60 samples do not divide over 8 GPUs", "/home/user/.cache/key.pem", "password is asked for", "ssh://git@github.com/x", "basic understanding of"],
)  # fmt: skip
def test_texts_that_are_no_secrets(text: str) -> None:
    assert Redactor()(text) == text


def test_the_same_secret_gives_the_same_token_and_another_run_another() -> None:
    one = Redactor(["hunter2-long"])
    assert one("a hunter2-long b") == "a " + one("hunter2-long") + " b"
    assert one("hunter2-long") != Redactor(["hunter2-long"])("hunter2-long")


@pytest.mark.parametrize(
    "word",
    ["TO_BE_FILLED", "changeme", "<your-api-key>", "YOUR_KEY_HERE", "your_wandb_key", "[replace-me]", "placeholder"],
)
def test_a_word_that_stands_for_a_secret_to_come_stays(word: str) -> None:
    """A script has the same word in other settings: their findings would lose it."""
    assert Redactor([word])(f"trainer.nnodes = {word}") == f"trainer.nnodes = {word}"
    assert word not in Redactor([f"{word}-7f3a9"])(f"trainer.nnodes = {word}-7f3a9")


def test_a_secret_that_holds_another_goes_whole() -> None:
    assert TOKEN.fullmatch(Redactor(["abcdef", "abcdefghij"])("abcdefghij"))


SECRETS = st.text(min_size=6).filter(lambda text: not text.isdigit() and text not in "<redacted:0123456789abcdef>")


@given(secret=SECRETS, around=st.text("ab \n=:"))
def test_a_known_secret_never_survives(secret: str, around: str) -> None:
    assert secret not in Redactor([secret])(around + secret + around)


@given(st.text())
def test_no_text_crashes_it(text: str) -> None:
    Redactor()(text)


def test_binary_secrets_are_overwritten_where_they_stand() -> None:
    """A page of a database: every place in it is named by its distance from the start."""
    redact = Redactor(["s3cr3t-\u00e9-value"])
    page = b"\0\x07\xff" + "s3cr3t-\u00e9-value".encode() + b'\0"API_KEY=abcdef123456","PATH=/bin"\x80'
    assert redact.in_place(page) == b"\0\x07\xff" + b"x" * 15 + b'\0"API_KEY=xxxxxxxxxxxx","PATH=/bin"\x80'


def test_a_secret_on_a_command_line_is_overwritten() -> None:
    """/proc/PID/cmdline: the words stand apart by NUL bytes."""
    assert Redactor().in_place(b"serve\0--api-key\0abcdefgh\0--port\x008000\0") == (
        b"serve\0--api-key\0xxxxxxxx\0--port\x008000\0"
    )


@given(st.binary())
def test_redacting_bytes_keeps_their_number(data: bytes) -> None:
    assert len(Redactor(["secret-value"]).in_place(data)) == len(data)


@pytest.mark.parametrize("words", ["token|", "max=", "password|"])
def test_names_side_by_side_cost_little(words: str) -> None:
    """Each name has all others after it as its value. The bound of one CPU second leaves room for a busy machine."""
    text = words * (120_000 // len(words))
    began = time.process_time()
    list(secret_spans(text))
    assert time.process_time() - began < 1


def test_a_long_value_goes_whole() -> None:
    value = "aB3-!" * 700
    assert TOKEN.fullmatch(Redactor()(f"api_key={value}").removeprefix("api_key="))
