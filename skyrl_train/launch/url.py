"""The runtime's address as one job tells it to the other: one URL, and nothing that was printed into it. Pure."""


def one_url(text: str) -> str | None:  # FIX(SLM004)
    """The URL of a file or a variable; None where it holds anything else. A shell function that logs to its standard
    output writes its log lines into whatever takes its answer."""
    lines = text.splitlines()
    if len(lines) != 1 or len(lines[0].split()) != 1 or not lines[0].startswith(("http://", "https://")):
        return None
    return lines[0].strip()
