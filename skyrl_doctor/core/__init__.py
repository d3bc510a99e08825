"""The engine: what a check is, how facts are gathered and judged. It knows no check and no machine by name."""
