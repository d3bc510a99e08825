"""Redaction of made-up secrets in the shapes of real tools, and texts that must stay readable."""

import pytest

import provider_secrets
import secret_shapes as shapes
from skyrl_doctor.machine.redact import Redactor
from skyrl_doctor.machine.secret_names import is_secret_name

SHAPES = shapes.SHAPES + provider_secrets.SHAPES


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_no_part_of_a_secret_survives(shape: shapes.Shape) -> None:
    redacted = Redactor()(shape.text)
    assert [secret for secret in shape.secrets if secret in redacted] == []


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_no_part_of_a_secret_survives_in_binary_data(shape: shapes.Shape) -> None:
    data = shape.text.encode()
    redacted = Redactor().in_place(b"\0\xff\n" + data + b"\n\0")
    assert len(redacted) == len(data) + 5
    assert [secret for secret in shape.secrets if secret.encode() in redacted] == []


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_redacted_text_stays_as_it_is(shape: shapes.Shape) -> None:
    """Texts pass a redactor more than once, and tokens must remain comparable."""
    redact = Redactor()
    assert redact(redact(shape.text)) == redact(shape.text)


@pytest.mark.parametrize("text", shapes.HARMLESS + provider_secrets.HARMLESS)
def test_harmless_texts_stay_readable(text: str) -> None:
    assert Redactor()(text) == text
    assert Redactor().in_place(text.encode()) == text.encode()


@pytest.mark.parametrize("name", shapes.SECRET_NAMES)
def test_names_of_secrets_by_their_parts(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", shapes.PLAIN_NAMES)
def test_names_that_tell_something_about_a_secret_or_nothing(name: str) -> None:
    assert not is_secret_name(name)


def test_one_line_of_a_private_key_is_hidden() -> None:
    """Logs are quoted line by line, so the line that begins the key may be missing."""
    assert Redactor()(shapes.BODY[:64]).startswith("<redacted:")


def test_the_corpus_keeps_its_size() -> None:
    assert len(shapes.SHAPES) >= 150
    assert len(shapes.HARMLESS) >= 100
    assert len({shape.text for shape in SHAPES}) == len(SHAPES)
