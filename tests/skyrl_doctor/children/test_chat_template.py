"""The program that renders conversations, run as the doctor runs it, with a tokenizer of bytes."""

import json
from pathlib import Path

import chat_models
from chat_models import CHATML, LLAMA3, QWEN25, asked, write_model
from skyrl_train.contracts.agent import follow_up


def answer(directory: Path, **spec: object) -> dict[str, object]:
    found: dict[str, object] = json.loads(asked({"model": str(directory), "tokenizer": str(directory), **spec}))
    return found


def why(directory: Path, **spec: object) -> object:
    return answer(directory, **spec).get("why")


def test_why_there_is_no_answer(tmp_path: Path) -> None:
    made = write_model(tmp_path / "m", QWEN25)
    assert (
        why(made, template="{% if %}")
        == "the chat template does not compile: Expected an expression, got 'end of statement block'"
    )
    assert why(made, template="{{ 'x' * 200000 }}") == "the chat template renders two messages to 200000 characters"
    (made / "generation_config.json").write_text("{")
    assert str(why(made)).startswith(f"{made}/generation_config.json is not JSON: ")
    (made / "tokenizer.json").write_text("{")
    assert str(why(made)).startswith(f"{made}/tokenizer.json cannot be loaded: ")
    (made / "tokenizer.json").unlink()
    assert why(made) == f"{made}/tokenizer.json does not exist; tokenizers of other formats are not examined"


def test_without_the_package(tmp_path: Path) -> None:
    made = write_model(tmp_path / "m", QWEN25)
    none = tmp_path / "none"
    none.mkdir()
    spec = {"model": str(made), "tokenizer": str(made)}
    assert json.loads(asked(spec, fakes=none)) == {
        "why": "the package tokenizers is not installed",
        "kind": "missing",
    }


def test_memory_and_code_of_a_template_are_bounded(tmp_path: Path) -> None:
    made = write_model(tmp_path / "m", QWEN25)
    assert (
        why(made, template="{{ 'x' * (messages | length * 5000000000) }}")
        == "the chat template or the tokenizer needs more than 4 GiB of memory"
    )
    open_file = "{{ ''.__class__.__mro__[1].__subclasses__() }}"
    renders = answer(made, template=open_file)["renders"]
    assert isinstance(renders, dict)
    assert renders["prompt"]["error"].startswith("SecurityError: access to attribute '__class__'")


def test_where_the_template_is(tmp_path: Path) -> None:
    made = write_model(tmp_path / "m", QWEN25)
    settings = json.loads((made / "tokenizer_config.json").read_text())
    named = [{"name": "tool_use", "template": "x"}, {"name": "default", "template": CHATML}]
    (made / "tokenizer_config.json").write_text(json.dumps({**settings, "chat_template": named}))
    assert answer(made)["source"] == "tokenizer_config.json"
    (made / "chat_template.json").write_text(json.dumps({"chat_template": CHATML}))
    assert answer(made)["source"] == "chat_template.json"
    (made / "chat_template.jinja").write_text(CHATML)
    assert answer(made)["source"] == "chat_template.jinja"


def test_blocks_that_transformers_knows(tmp_path: Path) -> None:
    made = write_model(tmp_path / "m", QWEN25)
    marked = "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% break %}{% endfor %}"
    found = answer(made, template=marked)
    pieces, renders = found["pieces"], found["renders"]
    assert isinstance(pieces, dict)
    assert isinstance(renders, dict)
    assert "".join(pieces[str(token)] for token in renders["user_prompt"]["ids"]) == "MendĠtheĠcode."


def test_bos_before_a_plain_text(tmp_path: Path) -> None:
    assert answer(write_model(tmp_path / "a", LLAMA3))["added_bos"] is True
    assert answer(write_model(tmp_path / "b", QWEN25))["added_bos"] is False


def test_its_placeholder_is_that_of_the_loop() -> None:
    assert f'MARK = "{follow_up.MARK}"' in chat_models.CHILD.read_text(encoding="utf-8")
