"""Configuration classes are read as dotted keys without running their source."""

from skyrl_doctor.plan.schemas.classes import ConfigClasses

SOURCES = {
    "pack.shared": """
class Base(BaseModel):
    model_config = ConfigDict(extra="forbid")

class Named(Base):
    name: str = "x"
    kind: Literal["a", "b"] | None = None
""",
    "pack.run": '''
from pack.shared import Named as Model
import outside

Choice: TypeAlias = Annotated[One | Two, Field(discriminator="type")]

class One(BaseConfig):
    type: Literal["one"] = "one"
    size: Annotated[int, Field(ge=1)] = 1

class Two(BaseConfig):
    type: Literal["two"] = "two"
    rate: float = 0.1

class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    port: int = 1

class Old(BaseConfig):
    new_name: "Model | None" = None

    @model_validator(mode="before")
    def translate(cls, data):
        """Takes the word docstring."""
        data["new_name"] = data.pop("old_name", None)
        data.pop("new_name")

class Run(BaseConfig):
    model: Model = Model()
    choice: Choice = One()
    parts: list[One] = []
    table: dict[str, Two] = {}
    free: dict[str, Any] = {}
    theirs: outside.Thing | None = None
    open: Open = Open()
    old: Old = Old()
    renamed: int = Field(0, validation_alias=AliasChoices("renamed", "before"))
    again: "Run | None" = None
    _private: int = 0
''',
}
CLASSES = ConfigClasses(SOURCES.get)


def test_every_key_has_its_type() -> None:
    assert CLASSES.keys("pack.run", "Run") == {
        "model": "{}",
        "model.name": "str",
        "model.kind": "'a'|'b'|none",
        "choice": "{}",
        "choice.type": "'one'|'two'",
        "choice.size": "int>=1",
        "choice.rate": "float",
        "parts": "[]",
        "parts[].type": "'one'",
        "parts[].size": "int>=1",
        "table": "{}",
        "table.*.type": "'two'",
        "table.*.rate": "float",
        "free": "any",
        "theirs": "any|none",
        "open": "{}",
        "open.port": "int",
        "open.*": "any",
        "old": "{}",
        "old.new_name": "none|{}",
        "old.new_name.name": "str",
        "old.new_name.kind": "'a'|'b'|none",
        "old.new_name.*": "any",
        "old.old_name": "any",
        "renamed": "int",
        "before": "int",
        "again": "none|{}",
        "again.*": "any",
    }


def test_a_class_of_another_program_is_a_reference() -> None:
    classes = ConfigClasses(SOURCES.get, references={("pack.shared", "Named"): "model"})
    assert {key: kind for key, kind in classes.keys("pack.run", "Run").items() if key.startswith("model")} == {
        "model": "@model|{}"
    }


def test_what_cannot_be_read_has_no_keys() -> None:
    broken = ConfigClasses({"a": "class X(:", "b": "class X(Far):\n    y: int\n"}.get)
    assert broken.keys("a", "X") == broken.keys("missing", "X") == {}
    assert broken.keys("b", "X") == {"y": "int", "*": "any"}


def test_other_references_do_not_read_the_sources_again() -> None:
    read: list[str] = []

    def source(module: str) -> str | None:
        read.append(module)
        return SOURCES.get(module)

    classes = ConfigClasses(source)
    whole = classes.keys("pack.run", "Run")
    first = list(read)
    parts = classes.with_references({("pack.shared", "Named"): "model"}).keys("pack.run", "Run")
    assert (read, parts == whole) == (first, False)
    assert parts == ConfigClasses(SOURCES.get, references={("pack.shared", "Named"): "model"}).keys("pack.run", "Run")
