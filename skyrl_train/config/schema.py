"""The JSON Schema of RunConfig, for editors: `python -m skyrl_train.config.schema` prints it."""

import json
import sys
from typing import Any

from skyrl_train.config.run import RunConfig

TITLE = "skyrl-train run configuration"


def schema() -> dict[str, Any]:
    """The schema (draft 2020-12). The doctor's [waivers] is allowed in addition to the tables of RunConfig."""
    made = RunConfig.model_json_schema()
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    made["title"] = TITLE
    made["properties"]["waivers"] = {
        "description": "Findings that the doctor ignores, each with an owner, a reason and an end date."
    }
    return made


def text() -> str:
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
