"""Words that an example has where a path of the user's own belongs: `/YOUR_MODELPATH`, `/path/to/data`, `TO_BE_FILLED`."""

import re
from collections.abc import Iterator, Mapping

from skyrl_doctor.plan.model import Problem, Value

PATHS = ("model.path", "data.train_files", "data.val_files", "trainer.checkpoint_dir")
_PLACEHOLDER = re.compile(
    r"(?:^|/)(?:<[^<>/]{1,60}>|YOUR[_-]?[A-Z0-9_-]{0,60}|your[_-][a-z0-9_-]{1,60}|path/to"
    r"|(?i:TO_BE_(?:FILLED|SET|ADDED)|(?:CHANGE|REPLACE|FILL)_?(?:ME|THIS|IN)))(?:/|\.[a-z]{1,10}$|$)"
)


def placeholders(values: Mapping[str, Value]) -> Iterator[Problem]:
    """A problem for each path that the user wrote and that is still the placeholder of an example."""
    for key in PATHS:
        value = values.get(key)
        if value is None or not value.written or value.unknown or value.location is None:
            continue
        words = value.value if isinstance(value.value, list | tuple) else [value.value]
        found = next((word for word in words if isinstance(word, str) and is_placeholder(word)), None)
        if found is not None:
            yield Problem(
                message=f"{value.name} = {found} is a placeholder; expected a path of your own",
                location=value.location,
                fatal=False,
                remedy=f"replace the placeholder of {value.name}",
            )


def is_placeholder(path: str) -> bool:
    return _PLACEHOLDER.search(path) is not None
