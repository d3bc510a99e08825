"""One line of the runtime's log."""

import json
from collections.abc import Mapping


def log_line(event: str, data: Mapping[str, object]) -> str:
    return f"{event} {' '.join(f'{name}={_value(value)}' for name, value in data.items() if value not in (None, ''))}"


def _value(value: object) -> str:
    """The value on one line, whatever a client or a container wrote."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if text.isascii() and text.isprintable() and " " not in text and '"' not in text else json.dumps(text)
